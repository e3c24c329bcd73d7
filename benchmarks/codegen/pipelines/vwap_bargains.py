"""Bargains: quotes below the volume-weighted average price of their symbol (paper 000, Fig. 12, "Finance").

Trades and quotes are two streams, drawn in order of their time; symbols are strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import bytewax.operators as op
import numba
import numpy as np
import pyarrow as pa
from bytewax.dataflow import Dataflow

import anabranch as ab
from anabranch.codegen.chunks import Batch
from benchmarks.codegen.bytewax_flows import run_flow, source
from benchmarks.codegen.contest import Output, Pipeline
from benchmarks.codegen.inputs import Data, chosen, columns_of, skewed
from benchmarks.codegen.kernels import (
    EMPTY,
    FIRST_CAPACITY,
    Columns,
    batch_of,
    home,
    numbers,
    packed_text,
    shift_of,
    texts,
)

SYMBOLS = 3000
QUOTES_PER_TRADE = 3
EVENTS_PER_SECOND = 1000.0
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DISCOUNT = 0.99
TRADES, QUOTES = 0, 1  # the turns


class Trade(NamedTuple):
    symbol: str
    price: float
    volume: int
    ts: float


class Quote(NamedTuple):
    symbol: str
    ask: float
    size: int
    ts: float


class Bargain(NamedTuple):
    symbol: str
    ts: float
    ask: float
    vwap: float
    saving: float


class Bargains:
    def __init__(self) -> None:
        self.paid = 0.0
        self.volume = 0

    def trades(self, trade: Trade) -> None:
        self.paid += trade.price * trade.volume
        self.volume += trade.volume

    def quotes(self, quote: Quote) -> Iterator[Bargain]:
        if self.volume > 0:
            vwap = self.paid / self.volume
            if quote.ask < vwap * DISCOUNT:
                yield Bargain(quote.symbol, quote.ts, quote.ask, vwap, (vwap - quote.ask) * quote.size)


def program(trades: list[Trade], quotes: list[Quote]) -> Any:
    return ab.connect(
        Bargains,
        trades=ab.from_items(Trade, trades, order_by="ts"),
        quotes=ab.from_items(Quote, quotes, order_by="ts"),
        key="symbol",
    ).collect("out")


def data(count: int) -> Data:
    random = np.random.default_rng(3)
    names = _names()
    worth = 5 * np.exp(4 * random.random(SYMBOLS))
    symbol = skewed(random, count, SYMBOLS)
    price = np.round(worth[symbol] * (1 + 0.02 * (random.random(count) - 0.5)), 2)
    size = 100 * random.integers(1, 80, count)
    ts = (np.arange(count) + random.random(count)) / EVENTS_PER_SECOND
    turns = (random.random(count) * (1 + QUOTES_PER_TRADE) >= 1).astype(np.uint16)
    is_trade = turns == TRADES
    trades = columns_of(
        Trade, symbol=chosen(names, symbol[is_trade]), price=price[is_trade], volume=size[is_trade], ts=ts[is_trade]
    )
    quotes = columns_of(
        Quote, symbol=chosen(names, symbol[~is_trade]), ask=price[~is_trade], size=size[~is_trade], ts=ts[~is_trade]
    )
    return Data((Trade, Quote), (trades, quotes), turns)


def _names() -> list[str]:
    """Symbols of one to five letters, none twice."""
    names = []
    for number in range(1, SYMBOLS + 1):
        code, name = number * 3967 % 26**5, ""
        while code:
            code, letter = divmod(code, 26)
            name += LETTERS[letter]
        names.append(name)
    assert len(set(names)) == SYMBOLS
    return names


def python_loop(events: list[Trade | Quote]) -> list[Bargain]:
    found = []
    prices: dict[str, list[Any]] = {}
    price_of = prices.get
    for event in events:
        symbol, price, size, ts = event
        known = price_of(symbol)
        if type(event) is Trade:
            if known is None:
                prices[symbol] = [price * size, size]
            else:
                known[0] += price * size
                known[1] += size
        elif known is not None:
            vwap = known[0] / known[1]
            if price < vwap * DISCOUNT:
                found.append(Bargain(symbol, ts, price, vwap, (vwap - price) * size))
    return found


# ------------------------------------------------------------------------------------------------ numba

ENTRY = np.dtype([("length", np.int64), ("low", np.uint64), ("high", np.uint64), ("paid", "f8"), ("volume", "i8")])


def kernel(batches: list[Batch]) -> Output:
    table, used = np.zeros(FIRST_CAPACITY, ENTRY), 0
    out = Columns("i8", "f8")
    found: Output = []
    for batch in batches:
        trades, quotes = (each.batch for each in batch.chunks if each is not None)
        assert batch.turns is not None
        traded = *texts(trades, "symbol"), numbers(trades, "price"), numbers(trades, "volume")
        quoted = *texts(quotes, "symbol"), numbers(quotes, "ask")
        turns = batch.turns[: len(trades) + len(quotes)]  # without the ends
        table, used, count = _find(table, used, turns, *traded, *quoted, *out.room_for(len(quotes)))
        assert count >= 0, "a symbol of more than 16 bytes"
        at, vwap = out.first(count)
        ask, size, ts = (numbers(quotes, name)[at] for name in ("ask", "size", "ts"))
        symbol = quotes.column("symbol").take(pa.array(at))
        found.append(batch_of(Bargain, (symbol, ts, ask, vwap, (vwap - ask) * size)))
    return found


@numba.njit(nogil=True)
def _find(table, used, turns, trade_at, trade_text, prices, volumes, quote_at, quote_text, asks, out_at, out_vwap):
    shift, count = shift_of(table), 0
    trade = quote = 0
    for turn in turns:
        if turn == TRADES:
            slot, low, high, length = _slot(table, shift, trade_text, trade_at[trade], trade_at[trade + 1])
            if slot < 0:
                return table, used, -1
            entry = table[slot]
            is_new = entry.volume == 0
            entry.paid += prices[trade] * volumes[trade]
            entry.volume += volumes[trade]
            trade += 1
            if is_new:
                entry.length, entry.low, entry.high = length, low, high
                used += 1
                if EMPTY * used > len(table):
                    table = _grown(table)
                    shift = shift_of(table)
        else:
            slot, _, _, _ = _slot(table, shift, quote_text, quote_at[quote], quote_at[quote + 1])
            if slot < 0:
                return table, used, -1
            entry = table[slot]
            if entry.volume:
                vwap = entry.paid / entry.volume
                if asks[quote] < vwap * DISCOUNT:
                    out_at[count], out_vwap[count] = quote, vwap
                    count += 1
            quote += 1
    return table, used, count


@numba.njit(inline="always")
def _slot(table, shift, text, start, stop):
    """Where a symbol is or belongs; -1 for one that is too long."""
    length = np.int64(stop - start)
    low, high = packed_text(text, start, length)
    slot = home(low ^ (high << np.uint64(1)), shift)
    while table[slot].volume and (table[slot].low != low or table[slot].high != high or table[slot].length != length):
        slot = (slot + 1) & (len(table) - 1)
    return (slot if length <= 16 else -1), low, high, length


@numba.njit(nogil=True)
def _grown(table):
    larger = np.zeros(2 * len(table), table.dtype)
    shift = shift_of(larger)
    for entry in table:
        if entry.volume:
            slot = home(entry.low ^ (entry.high << np.uint64(1)), shift)
            while larger[slot].volume:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = entry
    return larger


# ------------------------------------------------------------------------------------------------ Bytewax


def bytewax(batches: list[list[Trade | Quote]]) -> list[Bargain]:
    flow = Dataflow("vwap_bargains")
    events = op.input("events", flow, source(batches))
    by_symbol = op.key_on("symbol", events, lambda event: event.symbol)
    bargains = op.stateful_flat_map("bargains", by_symbol, _bargains)
    return run_flow(flow, op.key_rm("bargain", bargains))


def _bargains(
    known: tuple[float, int] | None, event: Trade | Quote
) -> tuple[tuple[float, int] | None, tuple[Bargain, ...]]:
    if type(event) is Trade:
        paid, volume = known or (0.0, 0)
        return (paid + event.price * event.volume, volume + event.volume), ()
    if known is not None:
        vwap = known[0] / known[1]
        if event.ask < vwap * DISCOUNT:
            return known, (Bargain(event.symbol, event.ts, event.ask, vwap, (vwap - event.ask) * event.size),)
    return known, ()


VWAP_BARGAINS = Pipeline("VWAP bargains", program, data, python_loop, kernel, bytewax, has_string_keys=True)
