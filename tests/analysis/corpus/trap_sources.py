"""The text one reads is not the code that runs: several lambdas on a line, missing or misleading sources, wrappers."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .registry import entry
from .tuples import Amount, Count, LogLine, Numbered, Reading, Trade

SEEN: list[str] = []
ON_ONE_LINE: list[str] = []
IN_A_CALL: list[str] = []
NESTED: list[str] = []
MADE: list[str] = []
DISGUISED: list[str] = []
WRAPPED: list[str] = []
LINES: list[LogLine] = []
LAST: deque[LogLine] = deque(maxlen=2)
FIRST_VERSION: list[str] = []
SWAPPED: list[str] = []
NUMBERS = itertools.count()
CALLS = itertools.count()

entry("quiet_of_two", kind="map", input=Trade, output=Count, forwards={"key": "symbol", "n": "size"}, trap=True, why="the pure one of two lambdas on a line")(lambda t: Count(t.symbol, t.size)), entry("loud_of_two", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, why="the other one")(lambda t: Count(t.symbol, ON_ONE_LINE.append(t.symbol) or len(ON_ONE_LINE)))  # noqa: E501  # fmt: skip

in_a_call = entry("in_a_call", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"},
                  trap=True, why="one of several lambdas in a call, picked at run time")(
    max(
        (lambda t: Count(t.symbol, 0)), (lambda t: Count(t.symbol, IN_A_CALL.append(t.symbol) or len(IN_A_CALL))),
        key=lambda function: len(function.__code__.co_names),
    )
)  # fmt: skip

nested = entry("nested", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
               why="the inner one of nested lambdas")(
    (lambda: lambda t: Count(t.symbol, NESTED.append(t.symbol) or len(NESTED)))()
)  # fmt: skip


def _made(source: str, name: str, file: str = "<made>", line: int = 1, **names: Any) -> Callable[..., Any]:
    """A function whose source is nowhere, or somewhere else."""
    namespace = {"Count": Count, **names}
    exec(compile("\n" * (line - 1) + source, file, "exec"), namespace)
    return namespace[name]


without_source = entry("without_source", kind="map", input=Trade, output=Count, state="stateful",
                       forwards={"key": "symbol"}, trap=True, why="no source at all, and state")(
    _made("def made(t):\n    MADE.append(t.symbol)\n    return Count(t.symbol, len(MADE))\n", "made", MADE=MADE)
)  # fmt: skip


def innocent(t: Trade) -> Count:
    size = t.size
    return Count(t.symbol, size)


disguised = entry("disguised", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"},
                  trap=True, why="file, line and name are those of a pure function")(
    _made(
        "def innocent(t):\n    DISGUISED.append(t.symbol)\n    return Count(t.symbol, len(DISGUISED))\n", "innocent",
        innocent.__code__.co_filename, innocent.__code__.co_firstlineno, DISGUISED=DISGUISED,
    )
)  # fmt: skip


def unwrapped(t: Trade) -> Count:
    WRAPPED.append(t.symbol)
    return Count(t.symbol, len(WRAPPED))


unwrapped.__wrapped__ = innocent
entry("unwrapped", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
      why="__wrapped__ points to a pure function")(unwrapped)  # fmt: skip


@entry("first_version", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="defined twice under one name; this one was registered")  # fmt: skip
def twice_defined(t: Trade) -> Count:
    FIRST_VERSION.append(t.symbol)
    return Count(t.symbol, len(FIRST_VERSION))


def twice_defined(t: Trade) -> Count:  # noqa: F811
    return Count(t.symbol, 0)


def looks_pure(t: Trade) -> Count:
    return Count(t.symbol, t.size)


def _is_not(t: Trade) -> Count:
    SWAPPED.append(t.symbol)
    return Count(t.symbol, len(SWAPPED))


looks_pure.__code__ = _is_not.__code__
entry("code_swapped", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
      why="its code was replaced")(looks_pure)  # fmt: skip


@entry("cached_itself", kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"},
       trap=True, why="the operator itself is a cache over a counter")  # fmt: skip
@functools.lru_cache(maxsize=4)
def cached_itself(t: Trade) -> Numbered:
    return Numbered(t.size, next(NUMBERS))


class Shy:
    """An own attribute __call__ is never called; the class's is."""

    def __init__(self) -> None:
        self.n = 0
        self.__call__ = innocent

    def __call__(self, t: Trade) -> Count:
        self.n += 1
        return Count(t.symbol, self.n)


shy = entry("shy", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
            why="the instance pretends to have another __call__")(Shy())  # fmt: skip


class Desk:
    trades: list[str] = []

    def note(self, t: Trade) -> Count:
        return Count(t.symbol, 0)

    @classmethod
    def record(cls, t: Trade) -> Count:
        cls.trades.append(t.symbol)
        return Count(t.symbol, len(cls.trades))


def _noting(t: Trade) -> Count:
    return Count(t.symbol, next(CALLS))


desk = Desk()
desk.note = _noting

shadowed_method = entry("shadowed_method", kind="map", input=Trade, output=Count, state="stateful",
                        forwards={"key": "symbol"}, trap=True,
                        why="an attribute of the instance hides the method of the class")(desk.note)  # fmt: skip
bound_class_method = entry("bound_class_method", kind="map", input=Trade, output=Count, state="stateful",
                           forwards={"key": "symbol"}, trap=True,
                           why="a class method that writes the class")(Desk.record)  # fmt: skip
appends = entry("appends", kind="for_each", input=LogLine, state="stateful", trap=True, shows=False,
                why="the bound append of a list, without source")(LINES.append)  # fmt: skip
keeps_last = entry("keeps_last", kind="for_each", input=LogLine, state="stateful", trap=True, shows=False,
                   why="the bound append of a deque")(LAST.append)  # fmt: skip
partly_bound = entry("partly_bound", kind="for_each", input=LogLine, state="stateful", trap=True, shows=False,
                     why="a partial of a builtin that writes")(functools.partial(list.append, LINES))  # fmt: skip


class Flagged(Reading):
    """Its flag goes up and down."""

    asked = 0

    @property
    def flag(self) -> bool:
        Flagged.asked += 1
        return Flagged.asked % 2 == 0


by_attrgetter = entry("by_attrgetter", kind="filter", input=Flagged, state="stateful", trap=True,
                      why="attrgetter of a property that counts")(operator.attrgetter("flag"))  # fmt: skip


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="process was replaced after the class was made")  # fmt: skip
class Repaired:
    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, t.size)


def _counted(self: Any, t: Trade) -> Iterator[Count]:
    yield Count(t.symbol, next(REPAIRS))


REPAIRS = itertools.count()
Repaired.process = _counted


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="__init__ puts another process in front of the class's")  # fmt: skip
class Overridden:
    def __init__(self) -> None:
        self.n = 0
        self.process = self._counted

    def _counted(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        yield Count(t.symbol, self.n)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, t.size)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the same, and what it puts there is shared")  # fmt: skip
class OverriddenShared:
    def __init__(self) -> None:
        self.process = SHARED_PROCESS

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, t.size)


class Caller:
    def __init__(self) -> None:
        self.n = 0

    def __call__(self, t: Trade) -> Iterator[Count]:
        self.n += 1
        yield Count(t.symbol, self.n)


SHARED_PROCESS = Caller()


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="process is a callable object of the class, one for all")  # fmt: skip
class ObjectAsProcess:
    process = Caller()


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="process is a property that counts")  # fmt: skip
class PropertyAsProcess:
    asked = 0

    @property
    def process(self) -> Callable[[Trade], list[Count]]:
        PropertyAsProcess.asked += 1
        asked = PropertyAsProcess.asked
        return lambda t: [Count(t.symbol, asked)]


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="a static process over a list of the module")  # fmt: skip
class StaticProcess:
    @staticmethod
    def process(t: Trade) -> Iterator[Count]:
        SEEN.append(t.symbol)
        yield Count(t.symbol, len(SEEN))


class Quiet:
    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, 0)


class Loud(Quiet):
    total = 0

    def process(self, t: Trade) -> Iterator[Count]:
        Loud.total += 1
        yield Count(t.symbol, Loud.total)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True,
       why="of two bases, the order of resolution picks the loud one")  # fmt: skip
class Resolved(Loud, Quiet):
    pass


def _plain(value: float) -> float:
    return value * 2


def _counting(function: Callable[[float], float]) -> Callable[[float], float]:
    calls = itertools.count()
    return lambda value: function(value) + next(calls)


_plain = _counting(_plain)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the helper was replaced after it was defined")  # fmt: skip
def helper_replaced(t: Trade) -> Amount:
    return Amount(t.symbol, _plain(t.price))
