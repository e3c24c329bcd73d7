"""An ordinary day: sets that are sorted or counted, small helpers, errors as texts, windows by hand."""

from __future__ import annotations

import bisect
import contextlib
import enum
import functools
import itertools
import json
import math
import operator
import re
import statistics
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np

from .records import Click, Count, Flag, Line, Number, Order, Packet, Place, Reading, Text, Trade

OPERATORS = """unique_words tag_names distinct_letters known_words numbered_words longest_word common_tags new_items
    either_tag has_any_tag shouting_words pairs_of_items lower_tags vocabulary_size KnownUsers EachOnce TagsSoFar
    error_text missing_field safe_number padded smoothed_pair masked_ratio ranked_items letter_grade shipping_cost
    Debounced Hysteresis RunningMedian TopThree Streak RateOfChange SessionNumber Rounded StockLevel discounts.apply
    normalised_path weekday_name bucketed flags_of first_match share_of_total dearest_item prices_of"""

STOP_WORDS = frozenset({"the", "and", "in", "me"})
GRADES = ["cold", "cool", "mild", "warm", "hot"]
LIMITS = [0.0, 10.0, 20.0, 30.0]
WORD = re.compile(r"[a-z]+", re.IGNORECASE)
WEIGHTS = np.array([0.25, 0.5, 0.25])
WEEKDAYS = dict(enumerate(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]))
PRICES = {"bolt": 0.5, "nut": 0.1, "gear": 12.0, "belt": 7.5}


def words_of(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


def normalise(word: str) -> str:
    letters = []
    for letter in word.lower():
        if letter.isalnum():
            letters.append(letter)
    return "".join(letters)


def unique_words(line: Line) -> Text:
    return Text(line.source, " ".join(sorted(words_of(line.text) - STOP_WORDS)))


def tag_names(click: Click) -> Text:
    return Text(click.user, ",".join(sorted({normalise(tag) for tag in click.tags})))


def distinct_letters(line: Line) -> Count:
    return Count(line.source, len(set(line.text.lower()) & set("abcdefghijklmnopqrstuvwxyz")))


def known_words(line: Line) -> Count:
    return Count(line.source, sum(1 for word in words_of(line.text) if word in STOP_WORDS))


def numbered_words(line: Line) -> Iterator[Text]:
    for number, word in enumerate(sorted(words_of(line.text)), start=1):
        yield Text(line.source, f"{number}: {word}")


def longest_word(line: Line) -> Text:
    return Text(line.source, max(words_of(line.text), key=lambda word: (len(word), word), default="-"))


def common_tags(click: Click) -> Count:
    return Count(click.user, len({"sale", "news"}.intersection(map(str.lower, click.tags))))


def new_items(order: Order) -> Text:
    return Text(order.customer, " ".join(sorted(set(order.items).difference(PRICES.keys() - {"gear"}))))


def either_tag(click: Click) -> Flag:
    return Flag(click.user, not {"sale", "jobs"}.isdisjoint(click.tags))


def has_any_tag(click: Click) -> bool:
    return any(tag.startswith(("sa", "ne")) for tag in set(click.tags))


def shouting_words(line: Line) -> Text:
    return Text(line.source, " ".join(sorted(map(str.upper, words_of(line.text)))))


def pairs_of_items(order: Order) -> Iterator[Text]:
    for first, second in itertools.combinations(sorted(set(order.items)), 2):
        yield Text(order.customer, f"{first}+{second}")


def lower_tags(click: Click) -> Text:
    return Text(click.user, "|".join(sorted(itertools.chain({"all"}, {tag.lower() for tag in click.tags}))))


def vocabulary_size(line: Line) -> Number:
    words = [normalise(word) for word in line.text.split()]
    return Number(line.source, len(set(words)) / len(words) if words else 0.0)


class KnownUsers:
    """How many pages somebody has seen."""

    def __init__(self) -> None:
        self.pages: set[str] = set()

    def process(self, click: Click) -> Iterator[Count]:
        if click.url not in self.pages:
            self.pages.add(click.url)
            yield Count(click.user, len(self.pages))


class EachOnce:
    def __init__(self) -> None:
        self.seen: set[str] = set()

    def process(self, order: Order) -> Iterator[Text]:
        fresh = set(order.items) - self.seen
        self.seen |= fresh
        for item in sorted(fresh):
            yield Text(order.customer, item)


class TagsSoFar:
    def __init__(self) -> None:
        self.tags: Counter[str] = Counter()

    def process(self, click: Click) -> Iterator[Text]:
        self.tags.update(click.tags)
        best = sorted(self.tags.items(), key=lambda pair: (-pair[1], pair[0]))[:2]
        yield Text(click.user, " ".join(f"{tag}×{n}" for tag, n in best))


def error_text(line: Line) -> Text:
    try:
        return Text(line.source, str(json.loads(line.text)))
    except json.JSONDecodeError as problem:
        return Text(line.source, f"not JSON: {problem}")


def missing_field(order: Order) -> Text:
    try:
        return Text(order.customer, str(sum(PRICES[item] for item in [*order.items, "wheel"])))
    except KeyError as problem:
        return Text(order.customer, f"no price for {problem}")


def safe_number(line: Line) -> Number:
    with contextlib.suppress(ValueError, IndexError):
        return Number(line.source, float(line.text.split(",")[1]))
    return Number(line.source, math.nan)


def padded(packet: Packet) -> Number:
    values = np.frombuffer(packet.payload, dtype=np.uint8)
    return Number(packet.device, float(np.pad(values, (0, 10 - len(values)), mode="edge").mean()))


def smoothed_pair(place: Place) -> Number:
    return Number(place.device, float(np.convolve(np.array([place.x, place.y, place.x]), WEIGHTS, mode="valid")[0]))


def masked_ratio(trade: Trade) -> Number:
    sizes = np.array([0.0, float(trade.size)])
    out = np.zeros(2)
    np.divide(trade.price, sizes, out=out, where=sizes > 0)
    return Number(trade.symbol, float(out.sum()))


def ranked_items(order: Order) -> Text:
    ranks = {item: rank for rank, item in enumerate(sorted(set(order.items)))}
    return Text(order.customer, ", ".join(f"{item}={ranks[item]}" for item in order.items))


def letter_grade(reading: Reading) -> Text:
    return Text(reading.sensor, GRADES[bisect.bisect_right(LIMITS, reading.celsius)])


class Zone(enum.IntEnum):
    NEAR = 1
    FAR = 3

    @classmethod
    def of(cls, total: float) -> Zone:
        return cls.FAR if total > 150 else cls.NEAR


def shipping_cost(order: Order) -> Number:
    return Number(order.customer, round(4.9 * Zone.of(order.total) + 0.1 * len(order.items), 2))


@dataclass
class Switch:
    is_on: bool = False
    since: float = 0.0
    changes: list[float] = field(default_factory=list)


class Debounced:
    def __init__(self) -> None:
        self.switch = Switch()

    def process(self, reading: Reading) -> Iterator[Flag]:
        if reading.ok != self.switch.is_on and reading.ts - self.switch.since > 20:
            self.switch = replace(self.switch, is_on=reading.ok, since=reading.ts)
            self.switch.changes.append(reading.ts)
            yield Flag(reading.sensor, self.switch.is_on)


class Hysteresis:
    def __init__(self, low: float = 5.0, high: float = 25.0) -> None:
        self.low, self.high, self.is_hot = low, high, False

    def process(self, reading: Reading) -> Iterator[Flag]:
        limit = self.low if self.is_hot else self.high
        if (reading.celsius > limit) is not self.is_hot:
            self.is_hot = not self.is_hot
            yield Flag(reading.sensor, self.is_hot)


class RunningMedian:
    def __init__(self) -> None:
        self.last: deque[float] = deque(maxlen=5)

    def process(self, reading: Reading) -> Iterator[Number]:
        self.last.append(reading.celsius)
        yield Number(reading.sensor, statistics.median(self.last))


class TopThree:
    def __init__(self) -> None:
        self.prices: list[float] = []

    def process(self, trade: Trade) -> Iterator[Number]:
        bisect.insort(self.prices, trade.price)
        del self.prices[:-3]
        yield Number(trade.symbol, sum(self.prices))


class Streak:
    def __init__(self) -> None:
        self.last, self.length = -math.inf, 0

    def process(self, trade: Trade) -> Iterator[Count]:
        self.length = self.length + 1 if trade.price > self.last else 0
        self.last = trade.price
        yield Count(trade.symbol, self.length)


class RateOfChange:
    def __init__(self) -> None:
        self.before: Reading | None = None

    def process(self, reading: Reading) -> Iterator[Number]:
        match self.before:
            case Reading(celsius=value, ts=ts) if reading.ts > ts:
                yield Number(reading.sensor, (reading.celsius - value) / (reading.ts - ts))
            case _:
                pass
        self.before = reading


class SessionNumber:
    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.number, self.until = 0, -math.inf

    def process(self, click: Click) -> Iterator[Count]:
        if click.ts > self.until:
            self.number = next(self.numbers)
        self.until = click.ts + 600
        yield Count(click.user, self.number)


class Rounded:
    """What rounding has left is carried over to the next."""

    def __init__(self) -> None:
        self.rest = 0.0

    def process(self, order: Order) -> Iterator[Number]:
        whole = math.floor(order.total + self.rest)
        self.rest += order.total - whole
        yield Number(order.customer, float(whole))


class StockLevel:
    def __init__(self) -> None:
        self.left: defaultdict[str, int] = defaultdict(lambda: 3)

    def process(self, order: Order) -> Iterator[Text]:
        for item in order.items:
            self.left[item] -= 1
            if self.left[item] == 0:
                yield Text(order.customer, f"no {item} left")


class Discounts:
    """Rules that are tried one after the other."""

    def __init__(self, rules: tuple[tuple[Callable[[Order], bool], float], ...]) -> None:
        self.rules = rules

    def apply(self, order: Order) -> Number:
        share = next((share for applies, share in self.rules if applies(order)), 0.0)
        return Number(order.customer, order.total * (1 - share))


discounts = Discounts(((lambda order: order.total > 300, 0.1), (lambda order: len(order.items) > 3, 0.05)))


def normalised_path(click: Click) -> Text:
    path = click.url.partition("//")[2].partition("/")[2]
    return Text(click.user, functools.reduce(lambda text, sign: text.split(sign)[0], "?#", path) or "home")


def weekday_name(order: Order) -> Text:
    return Text(order.customer, WEEKDAYS[(order.placed + timedelta(days=1)).weekday()])


class Bucket(NamedTuple):
    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float) and self.low <= value < self.high


BUCKETS = [Bucket(low, low + 100) for low in range(0, 400, 100)]


def bucketed(order: Order) -> Text:
    found = [bucket for bucket in BUCKETS if order.total in bucket]
    return Text(order.customer, f"{found[0].low:.0f}-{found[0].high:.0f}" if found else "large")


class Fault(enum.Flag):
    NONE = 0
    COLD = 1
    BROKEN = 2


def flags_of(reading: Reading) -> Text:
    faults = Fault.NONE
    if reading.celsius < 0:
        faults |= Fault.COLD
    if not reading.ok:
        faults |= Fault.BROKEN
    return Text(reading.sensor, "+".join(fault.name or "" for fault in (Fault.COLD, Fault.BROKEN) if fault in faults))


PATTERNS = [("time", re.compile(r"\d\d:\d\d")), ("pair", re.compile(r"\w+=\w+")), ("number", re.compile(r"\d+"))]


def first_match(line: Line) -> Iterator[Text]:
    for kind, pattern in PATTERNS:
        if (found := pattern.search(line.text)) is not None:
            yield Text(line.source, f"{kind}: {found.group()}")
            return


def share_of_total(order: Order) -> Iterator[Number]:
    prices = [PRICES[item] for item in order.items]
    for share in map(operator.truediv, prices, itertools.repeat(sum(prices))):
        yield Number(order.customer, round(share, 3))


def dearest_item(order: Order) -> Text:
    return Text(order.customer, max(order.items, key=PRICES.__getitem__) if order.items else "-")


def prices_of(order: Order) -> Iterator[Number]:
    for price in map(PRICES.get, order.items):
        yield Number(order.customer, price or 0.0)
