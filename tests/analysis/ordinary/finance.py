"""Prices, taxes, positions: decimals and fractions included."""

from __future__ import annotations

import enum
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Final, NamedTuple

from .records import Count, Number, Order, Text, Trade

OPERATORS = """turnover with_tax Vwap Position is_block_trade commission Candles shipping split_payment Momentum
    compound Drawdown Ledger discounts odd_lots price_as_fraction Crossing converted amortised risk_class"""

TAX: Final = Decimal("0.19")
CENT: Final = Decimal("0.01")
RATES: Mapping[str, float] = MappingProxyType({"ACME": 1.0, "BETA": 0.92, "CORN": 151.2})
TIERS = ((0.0, 9.0), (100.0, 4.5), (250.0, 0.0))


def turnover(trade: Trade) -> Number:
    return Number(trade.symbol, trade.price * trade.size)


def with_tax(order: Order) -> Text:
    net = Decimal(str(order.total))
    gross = (net * (1 + TAX)).quantize(CENT, rounding=ROUND_HALF_UP)
    return Text(order.customer, f"{gross:,.2f}")


class Vwap:
    def __init__(self) -> None:
        self.value = self.volume = 0.0

    def process(self, trade: Trade) -> Iterator[Number]:
        self.value += trade.price * trade.size
        self.volume += trade.size
        yield Number(trade.symbol, self.value / self.volume)


class Position:
    def __init__(self, limit: int = 3_000) -> None:
        self.limit = limit
        self.size = 0

    def process(self, trade: Trade) -> Iterator[Text]:
        before, self.size = self.size, self.size + trade.size
        if before <= self.limit < self.size:
            yield Text(trade.symbol, f"limit of {self.limit:_} passed at {trade.price}")


is_block_trade = lambda trade: trade.size >= 1_000 and trade.price * trade.size > 5_000


def commission(trade: Trade) -> Number:
    fee = 0.0
    rest = trade.price * trade.size
    for width, rate in ((1_000.0, 0.01), (9_000.0, 0.005), (float("inf"), 0.001)):
        part = min(rest, width)
        fee += part * rate
        rest -= part
        if rest <= 0:
            break
    return Number(trade.symbol, round(fee, 2))


class Candle(NamedTuple):
    symbol: str
    start: float
    open: float
    high: float
    low: float
    close: float

    def grown(self, price: float) -> Candle:
        return self._replace(high=max(self.high, price), low=min(self.low, price), close=price)

    @classmethod
    def starting(cls, trade: Trade, start: float) -> Candle:
        return cls(trade.symbol, start, *[trade.price] * 4)


class Candles:
    SECONDS = 30.0

    def __init__(self) -> None:
        self.candle: Candle | None = None

    def process(self, trade: Trade) -> Iterator[Candle]:
        start = trade.ts // self.SECONDS * self.SECONDS
        if self.candle is None or self.candle.start != start:
            if self.candle is not None:
                yield self.candle
            self.candle = Candle.starting(trade, start)
        else:
            self.candle = self.candle.grown(trade.price)

    def finish(self) -> Iterator[Candle]:
        if self.candle is not None:
            yield self.candle


def shipping(order: Order) -> Number:
    fee = next(fee for least, fee in reversed(TIERS) if order.total >= least)
    return Number(order.customer, fee)


def split_payment(order: Order) -> Iterator[Text]:
    cents = round(order.total * 100)
    share, rest = divmod(cents, 3)
    for part in range(3):
        yield Text(order.customer, f"{(share + (part < rest)) / 100:.2f}")


class Momentum:
    def __init__(self, span: int = 3) -> None:
        self.prices: deque[float] = deque(maxlen=span)

    def process(self, trade: Trade) -> Iterator[Number]:
        if len(self.prices) == self.prices.maxlen:
            yield Number(trade.symbol, trade.price / self.prices[0] - 1)
        self.prices.append(trade.price)


def compound(order: Order) -> Number:
    balance = order.total
    for _ in range(12):
        balance *= 1 + 0.03 / 12
    return Number(order.customer, balance)


class Drawdown:
    def __init__(self) -> None:
        self.peak = 0.0
        self.worst = 0.0

    def process(self, trade: Trade) -> Iterator[Number]:
        self.peak = max(self.peak, trade.price)
        if (fall := 1 - trade.price / self.peak) > self.worst:
            self.worst = fall
            yield Number(trade.symbol, fall)


@dataclass
class Account:
    balance: Decimal = Decimal(0)
    entries: list[tuple[int, Decimal]] = field(default_factory=list)

    def book(self, number: int, amount: Decimal) -> None:
        self.balance += amount
        self.entries.append((number, amount))


class Ledger:
    def __init__(self) -> None:
        self.accounts: defaultdict[str, Account] = defaultdict(Account)

    def process(self, order: Order) -> Iterator[Text]:
        amount = Decimal(str(order.total)).quantize(CENT)
        for item in order.items:
            self.accounts[item].book(order.id, amount / len(order.items))
        yield Text(order.customer, str(sum((a.balance for a in self.accounts.values()), Decimal(0)).quantize(CENT)))


@dataclass(frozen=True)
class Discount:
    code: str
    percent: int
    least: float = 0.0

    def applies_to(self, order: Order) -> bool:
        return order.total >= self.least


DISCOUNTS = [Discount("BULK", 10, 200.0), Discount("NEW", 5), Discount("VIP", 15, 350.0)]


def discounts(order: Order) -> Text:
    best = max((d for d in DISCOUNTS if d.applies_to(order)), key=lambda d: d.percent)
    return Text(order.customer, replace(best, code=best.code.lower()).code)


def odd_lots(trade: Trade) -> Count:
    return Count(trade.symbol, trade.size % 100)


def price_as_fraction(trade: Trade) -> Text:
    return Text(trade.symbol, str(Fraction(trade.price).limit_denominator(64)))


class Signal(enum.Enum):
    BUY = "buy"
    SELL = "sell"
    HOLD = "hold"

    @property
    def is_action(self) -> bool:
        return self is not Signal.HOLD


class Crossing:
    def __init__(self) -> None:
        self.fast = self.slow = 0.0
        self.last = Signal.HOLD

    def decide(self) -> Signal:
        if self.fast > self.slow:
            return Signal.BUY
        return Signal.SELL if self.fast < self.slow else Signal.HOLD

    def process(self, trade: Trade) -> Iterator[Text]:
        self.fast += 0.5 * (trade.price - self.fast)
        self.slow += 0.1 * (trade.price - self.slow)
        signal = self.decide()
        if signal.is_action and signal is not self.last:
            yield Text(trade.symbol, signal.value)
        self.last = signal


def converted(trade: Trade) -> Trade:
    return trade._replace(price=round(trade.price / RATES.get(trade.symbol, 1.0), 4))


def amortised(order: Order) -> Iterator[Number]:
    rest, rate, payment = order.total, 0.01, order.total / 10
    month = 0
    while rest > 0 and (month := month + 1) <= 12:
        rest = rest * (1 + rate) - payment
        yield Number(f"{order.customer}/{month}", max(rest, 0.0))


class Risk(enum.IntEnum):
    LOW = 1
    MIDDLE = 2
    HIGH = 3

    @classmethod
    def of(cls, value: float) -> Risk:
        return cls(1 + (value > 1_000) + (value > 20_000))


def risk_class(trade: Trade) -> Count:
    return Count(Risk.of(trade.price * trade.size).name.title(), int(Risk.of(trade.price)))
