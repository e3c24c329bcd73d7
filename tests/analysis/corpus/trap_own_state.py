"""Operators without a key whose state is their own, and well hidden: one instance, so one sequence."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

from .registry import entry
from .tuples import Amount, Count, Numbered, Trade


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="self under another name")  # fmt: skip
class ThisIsSelf:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        this = self
        this.n += 1
        yield Count(t.symbol, this.n)


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="setattr on self")  # fmt: skip
class BySetattr:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        setattr(self, "n", self.n + 1)  # noqa: B010
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="self.__dict__")  # fmt: skip
class ByOwnDict:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        self.__dict__["n"] += 1
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="object.__setattr__")  # fmt: skip
class ByObject:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        object.__setattr__(self, "n", self.n + 1)
        yield Count(t.symbol, self.n)


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="a list of one as a cell")  # fmt: skip
class ByCell:
    def __init__(self) -> None:
        self.cell = [0]

    def process(self, t: Trade) -> Iterator[Count]:
        self.cell[0] += 1
        yield Count(t.symbol, self.cell[0])


class Tally:
    def __init__(self) -> None:
        self.n = 0

    def up(self) -> int:
        self.n += 1
        return self.n


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="an own object that counts when asked")  # fmt: skip
class ByOwnObject:
    def __init__(self) -> None:
        self.tally = Tally()

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.tally.up())


def _advance(operator: Any) -> int:
    operator.n += 1
    return operator.n


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="a helper is handed self and writes it")  # fmt: skip
class ByHelper:
    n = 0

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, _advance(self))


@entry(kind="process", input=Trade, output=Amount, state="stateful", selectivity="1:1", forwards={"symbol": "symbol"},
       trap=True, why="self is the target of a loop")  # fmt: skip
class ByLoopTarget:
    last = 0.0

    def process(self, t: Trade) -> Iterator[Amount]:
        before = self.last
        for self.last in (t.price, t.price * 2):
            pass
        yield Amount(t.symbol, before)


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="next() of an own counter")  # fmt: skip
class ByOwnCounter:
    def __init__(self) -> None:
        self.numbers = itertools.count()

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, next(self.numbers))


@entry(kind="process", input=Trade, output=Amount, state="stateful", selectivity="1:1", forwards={"symbol": "symbol"},
       trap=True, why="an own generator that is sent to")  # fmt: skip
class ByOwnGenerator:
    def __init__(self) -> None:
        self.sums = self._sums()
        next(self.sums)

    def _sums(self) -> Generator[float, float, None]:
        total = 0.0
        while True:
            total += yield total

    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, self.sums.send(t.price))


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="a closure made in __init__ keeps the count")  # fmt: skip
class ByOwnClosure:
    def __init__(self) -> None:
        n = 0

        def count() -> int:
            nonlocal n
            n += 1
            return n

        self.count = count

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, self.count())


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="the bound method of an own list")  # fmt: skip
class ByOwnMethod:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.add = self.seen.append

    def process(self, t: Trade) -> Iterator[Count]:
        self.add(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="a property setter behind an assignment that looks like a constant")  # fmt: skip
class ByOwnSetter:
    def __init__(self) -> None:
        self.ticks: list[bool] = []

    @property
    def tick(self) -> bool:
        return bool(self.ticks)

    @tick.setter
    def tick(self, value: bool) -> None:
        self.ticks.append(value)

    def process(self, t: Trade) -> Iterator[Count]:
        self.tick = True
        yield Count(t.symbol, len(self.ticks))


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="a default argument of a method is evaluated once")  # fmt: skip
class ByMethodDefault:
    def process(self, t: Trade, seen: list[str] = []) -> Iterator[Count]:
        seen += [t.symbol]
        yield Count(t.symbol, len(seen))


@entry(kind="process", input=Trade, output=Count, state="stateful", selectivity="1:1", forwards={"key": "symbol"},
       trap=True, why="an attribute is deleted and made again")  # fmt: skip
class ByDeletion:
    def process(self, t: Trade) -> Iterator[Count]:
        if hasattr(self, "mark"):
            del self.mark
            yield Count(t.symbol, 1)
        else:
            vars(self).setdefault("mark", True)
            yield Count(t.symbol, 0)


@entry(kind="process", input=Trade, output=Numbered, state="stateful", selectivity="1:1", forwards={"n": "size"},
       trap=True, why="a method is replaced on the instance")  # fmt: skip
class ByReplacedMethod:
    def number(self) -> int:
        self.number = lambda: 1
        return 0

    def process(self, t: Trade) -> Iterator[Numbered]:
        yield Numbered(self.number(), t.size)


@entry(kind="process", input=Trade, output=Numbered, state="stateful", selectivity="1:1", forwards={"n": "size"},
       trap=True, why="only punctuation writes, process reads")  # fmt: skip
class ByPunctuation:
    def __init__(self) -> None:
        self.epoch = 0

    def process(self, t: Trade) -> Iterator[Numbered]:
        yield Numbered(self.epoch, t.size)

    def punctuation(self) -> None:
        self.epoch += 1


class Windowed:
    """A callable that keeps a window under a local name."""

    def __init__(self) -> None:
        self.window: list[float] = []

    def __call__(self, t: Trade) -> Amount:
        window = self.window
        window.append(t.price)
        del window[:-3]
        return Amount(t.symbol, sum(window))


windowed = entry("windowed", kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
                 trap=True, why="a callable object with a hidden window")(Windowed())  # fmt: skip
