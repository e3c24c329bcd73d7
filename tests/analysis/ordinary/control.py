"""match, walrus, exceptions, context managers, loops with else."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from decimal import Decimal, localcontext
from typing import Any

from .records import Click, Count, Flag, Line, Number, Order, Packet, Reading, Text, Trade

OPERATORS = """command first_number collatz prime_size settled_total written_text event_of nested_match safe_ratio
    stacked_contexts timed_block Protocol deepest binary_search converged bracket_kind sign_of split_words
    retry_until closing_text precise_ratio unpacked star_match"""


def command(line: Line) -> Text:
    match line.text.split():
        case []:
            return Text(line.source, "nothing")
        case [word]:
            return Text(line.source, word)
        case [first, *_, last] if first != last:
            return Text(line.source, f"{first}…{last}")
        case _:
            return Text(line.source, "same")


def first_number(line: Line) -> Count | None:
    if (found := re.search(r"\d+", line.text)) and (number := int(found[0])) > 10:
        return Count(line.source, number)
    return None


def collatz(trade: Trade) -> Count:
    n, steps = trade.size, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return Count(trade.symbol, steps)


def prime_size(trade: Trade) -> bool:
    size = trade.size + 1
    for divisor in range(2, int(size**0.5) + 1):
        if size % divisor == 0:
            break
    else:
        return size > 1
    return False


def settled_total(order: Order) -> Number:
    total = order.total
    try:
        share = total / len(order.items)
    except ZeroDivisionError:
        share = 0.0
    finally:
        total -= 1
    return Number(order.customer, share + total)


def written_text(order: Order) -> Text:
    with io.StringIO() as out:
        for item in order.items:
            out.write(f"- {item}\n")
        return Text(order.customer, out.getvalue())


def event_of(line: Line) -> Text:
    try:
        event: Any = json.loads(line.text)
    except ValueError:
        event = None
    match event:
        case {"user": str(user), "event": "buy", "amount": float() | int() as amount}:
            return Text(user, f"bought for {amount}")
        case {"user": user, **rest}:
            return Text(str(user), str(len(rest)))
        case int(number):
            return Text(line.source, f"number {number}")
        case None:
            return Text(line.source, "no event")
        case _:
            return Text(line.source, type(event).__name__)


def nested_match(reading: Reading) -> Text:
    match (reading.ok, reading.celsius):
        case (True, c) if 15 <= c <= 25:
            name = "mild"
        case (True, c):
            name = "hot" if c > 25 else "cold"
        case (False, _):
            name = "unknown"
    return Text(reading.sensor, name)


def safe_ratio(trade: Trade) -> Number:
    with suppress(ZeroDivisionError):
        return Number(trade.symbol, trade.price / (trade.size - 10))
    return Number(trade.symbol, 0.0)


@contextmanager
def section(rows: list[str], name: str) -> Iterator[list[str]]:
    rows.append(f"<{name}>")
    try:
        yield rows
    finally:
        rows.append(f"</{name}>")


def stacked_contexts(order: Order) -> Text:
    rows: list[str] = []
    with section(rows, "order"), section(rows, "items") as inner:
        inner.extend(order.items)
    return Text(order.customer, "".join(rows))


class Indent:
    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> Indent:
        self.depth += 1
        return self

    def __exit__(self, *problem: object) -> None:
        self.depth -= 1

    def line(self, text: str) -> str:
        return "  " * self.depth + text


def timed_block(order: Order) -> Text:
    indent = Indent()
    lines = [indent.line(order.customer)]
    with indent:
        lines += [indent.line(item) for item in order.items]
    return Text(order.customer, "\n".join(lines))


class Protocol:
    """A small parser that remembers where it is."""

    def __init__(self) -> None:
        self.state = "start"

    def process(self, line: Line) -> Iterator[Text]:
        match self.state, line.text[:1]:
            case "start", "{":
                self.state = "body"
            case "body", text if text.isdigit():
                self.state = "start"
                yield Text(line.source, "done")
            case state, _:
                yield Text(line.source, state)


def _depth(value: Any) -> int:
    match value:
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case list() | tuple():
            return 1 + max(map(_depth, value), default=0)
        case _:
            return 0


def deepest(click: Click) -> Count:
    return Count(click.user, _depth({"tags": click.tags, "at": (click.ts, [click.user])}))


LIMITS = (5.0, 10.0, 20.0, 50.0, 80.0)


def binary_search(trade: Trade) -> Count:
    low, high = 0, len(LIMITS)
    while low < high:
        middle = (low + high) // 2
        if LIMITS[middle] < trade.price:
            low = middle + 1
        else:
            high = middle
    return Count(trade.symbol, low)


def converged(trade: Trade) -> Number:
    guess = trade.price or 1.0
    for _ in range(50):
        better = (guess + trade.price / guess) / 2
        if abs(better - guess) < 1e-12:
            return Number(trade.symbol, better)
        guess = better
    return Number(trade.symbol, guess)


def bracket_kind(line: Line) -> Flag:
    stack: list[str] = []
    for sign in line.text:
        if sign in "([{":
            stack.append(sign)
        elif sign in ")]}" and (not stack or "([{".index(stack.pop()) != ")]}".index(sign)):
            return Flag(line.source, False)
    return Flag(line.source, not stack)


def sign_of(reading: Reading) -> Count:
    return Count(reading.sensor, (reading.celsius > 0) - (reading.celsius < 0))


def split_words(line: Line) -> Iterator[Text]:
    for word in line.text.split():
        if not word.isalpha():
            continue
        yield Text(line.source, word)
        if len(word) > 8:
            return


class Retry(Exception):
    pass


def _attempt(value: float, n: int) -> float:
    if value * n < 60:
        raise Retry(n)
    return value * n


def retry_until(trade: Trade) -> Number:
    n = 1
    while True:
        try:
            return Number(trade.symbol, _attempt(trade.price, n))
        except Retry:
            n += 1


def closing_text(line: Line) -> Count:
    with contextlib.closing(io.StringIO(line.text)) as text, nullcontext(2) as factor:
        return Count(line.source, factor * sum(1 for _ in text))


def precise_ratio(order: Order) -> Text:
    with localcontext() as context:
        context.prec = 30
        return Text(order.customer, str(Decimal(order.id) / Decimal(7)))


def unpacked(packet: Packet) -> Count:
    first, second, *rest = packet.payload
    (last,) = rest[-1:]
    return Count(packet.device, first << 16 | second << 8 | last)


def star_match(click: Click) -> Count:
    match click.tags:
        case ["sale", *others] | [*others, "sale"]:
            return Count(click.user, len(others))
        case _:
            return Count(click.user, -1)
