"""Operators without a key: configured only, or openly stateful."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .registry import entry
from .tuples import Alert, Amount, Count, LogLine, Numbered, Reading, Trade, Word

TOTALS: dict[str, float] = {}


@entry(kind="process", input=Reading, output=Alert, selectivity="1:[0,1]", forwards={"sensor": "sensor", "ts": "ts"},
       why="__init__ stores constants, nothing else writes")  # fmt: skip
class OverLimit:
    def __init__(self, limit: float = 45.0, text: str = "hot") -> None:
        self.limit = limit
        self.text = text

    def process(self, r: Reading) -> Iterator[Alert]:
        if r.celsius > self.limit:
            yield Alert(r.sensor, self.text, r.ts)


@entry(kind="process", input=LogLine, output=Word, selectivity="1:[0,inf)", why="a pattern compiled once")
class Extract:
    def __init__(self) -> None:
        self.pattern = re.compile(r"[a-z]{4,}")
        self.skip = frozenset({"took"})

    def process(self, line: LogLine) -> Iterator[Word]:
        for match in self.pattern.finditer(line.text):
            if match.group() not in self.skip:
                yield Word(match.group(), match.start())


@entry(kind="process", input=Trade, output=Amount, selectivity="1:1", forwards={"symbol": "symbol"},
       why="no __init__, helper methods, a class constant")  # fmt: skip
class Commission:
    RATE = 0.002

    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, self._commission(t.price * t.size))

    def _commission(self, volume: float) -> float:
        return max(1.0, volume * self.RATE)


@entry(kind="process", input=Reading, output=Alert, selectivity="1:1", forwards={"sensor": "sensor", "ts": "ts"},
       why="a table built in __init__ by a helper method, then only read")  # fmt: skip
class Grades:
    def __init__(self) -> None:
        self.steps: list[tuple[float, str]] = []
        self._fill()

    def _fill(self) -> None:
        for limit, name in ((0.0, "frost"), (25.0, "mild"), (45.0, "warm")):
            self.steps.append((limit, name))

    def process(self, r: Reading) -> Iterator[Alert]:
        for limit, name in self.steps:  # noqa: B007
            if r.celsius < limit:
                break
        else:
            name = "hot"
        yield Alert(r.sensor, name, r.ts)


@entry(kind="process", input=Trade, output=Numbered, state="stateful", selectivity="1:1", forwards={"n": "size"},
       why="a running number over all tuples")  # fmt: skip
class RunningNumber:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Trade) -> Iterator[Numbered]:
        self.n += 1
        yield Numbered(self.n, t.size)


@entry(kind="process", input=Trade, output=Amount, state="stateful", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="a running total over all keys")  # fmt: skip
class RunningTotal:
    def __init__(self) -> None:
        self.totals: dict[str, float] = {}

    def process(self, t: Trade) -> Iterator[Amount]:
        self.totals[t.symbol] = self.totals.get(t.symbol, 0.0) + t.price
        yield Amount(t.symbol, self.totals[t.symbol])


@entry(kind="process", input=LogLine, output=Count, state="stateful", selectivity="1:[0,1]", at_end=True,
       why="counts everything and reports at the end")  # fmt: skip
class LineCount:
    def __init__(self) -> None:
        self.n = 0

    def process(self, line: LogLine) -> None:
        self.n += 1

    def finish(self) -> Iterator[Count]:
        yield Count("lines", self.n)


@entry(kind="process", input=Reading, output=Alert, state="stateful", selectivity="1:[0,1]", at_end=True,
       why="emits at the end, though it keeps nothing: one end for the stream")  # fmt: skip
class EndMark:
    def process(self, r: Reading) -> Iterator[Alert]:
        if not r.ok:
            yield Alert(r.sensor, "broken", r.ts)

    def finish(self) -> Iterator[Alert]:
        yield Alert("", "end of data", 0.0)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
       why="openly writes a dict of the module")  # fmt: skip
def add_to_totals(t: Trade) -> Amount:
    TOTALS[t.symbol] = TOTALS.get(t.symbol, 0.0) + t.price
    return Amount(t.symbol, TOTALS[t.symbol])


@entry(kind="for_each", input=LogLine, state="stateful", why="prints")
def show(line: LogLine) -> None:
    print(line.number, line.text)
