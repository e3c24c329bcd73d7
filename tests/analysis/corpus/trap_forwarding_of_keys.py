"""Operators that keep a tuple or a key and emit it later, or too early."""

from __future__ import annotations

from collections.abc import Iterator

from .registry import entry
from .tuples import Call, Click, Contact, Reading, Travel, Visit


@entry(kind="process", input=Call, output=Contact, keyed=("area",), state="partitioned", selectivity="1:[0,1]",
       forwards={"area": "area"}, trap=True, breaks={"phone": "phone"},
       why="the last tuple's number, when the key is the area")  # fmt: skip
class LastOfArea:
    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, c: Call) -> Iterator[Contact]:
        if self.last is not None:
            yield Contact(self.last.phone, c.area)
        self.last = c


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="partitioned", selectivity="1:1",
       forwards={}, trap=True, breaks={"phone": "phone"}, at_end=True,
       why="process forwards the key, finish does not")  # fmt: skip
class ForgetsAtTheEnd:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> Iterator[Travel]:
        self.n += 1
        yield Travel(c.phone, float(self.n), c.ts)

    def finish(self) -> Iterator[Travel]:
        yield Travel(0, float(self.n), 0.0)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="partitioned", selectivity="1:1",
       forwards={}, trap=True, breaks={"phone": "phone"}, at_punctuation=True,
       why="process forwards the key, punctuation does not")  # fmt: skip
class ForgetsAtPunctuation:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> Iterator[Travel]:
        self.n += 1
        yield Travel(c.phone, float(self.n), c.ts)

    def punctuation(self) -> Iterator[Travel]:
        yield Travel(-1, float(self.n), 0.0)


@entry(kind="process", input=Call, output=Contact, keyed=("phone",), state="partitioned", selectivity="1:1",
       forwards={"phone": "phone"}, trap=True, breaks={"area": "area"},
       why="the kept area is the one of the tuple before")  # fmt: skip
class LagsBehind:
    def __init__(self) -> None:
        self.area = "-"

    def process(self, c: Call) -> Iterator[Contact]:
        area = self.area
        self.area = c.area
        yield Contact(c.phone, area)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:1",
       forwards={"end": "ts"}, trap=True, breaks={"user": "user"},
       why="the kept key is emitted before it is first set")  # fmt: skip
class KeyTooEarly:
    def __init__(self) -> None:
        self.user = 0

    def process(self, c: Click) -> Iterator[Visit]:
        yield Visit(self.user, 0.0, c.ts, 1)
        self.user = c.user


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:1",
       forwards={"end": "ts"}, trap=True, breaks={"user": "user"},
       why="the kept key is changed by a helper method")  # fmt: skip
class KeyChanged:
    def __init__(self) -> None:
        self.user = 0

    def _pseudonym(self) -> None:
        self.user = self.user * 31 % 7

    def process(self, c: Click) -> Iterator[Visit]:
        self.user = c.user
        self._pseudonym()
        yield Visit(self.user, 0.0, c.ts, 1)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:1",
       forwards={"end": "ts"}, trap=True, breaks={"user": "user"},
       why="the kept tuple has had its key replaced")  # fmt: skip
class KeyReplaced:
    def __init__(self) -> None:
        self.last: Click | None = None

    def process(self, c: Click) -> Iterator[Visit]:
        self.last = c._replace(user=c.user + 100)
        yield Visit(self.last.user, 0.0, c.ts, 1)


@entry(kind="process", input=Reading, keyed=("sensor",), state="partitioned", selectivity="1:[0,1]",
       forwards={"sensor": "sensor"}, trap=True, breaks={"celsius": "celsius", "ts": "ts"},
       why="the tuple that is emitted is the one before")  # fmt: skip
class Delay:
    def __init__(self) -> None:
        self.held: Reading | None = None

    def process(self, r: Reading) -> Iterator[Reading]:
        r, self.held = self.held, r
        if r is not None:
            yield r


@entry(kind="process", input=Reading, selectivity="1:1", state="stateful", trap=True,
       breaks={"sensor": "sensor", "ts": "ts"},
       why="unkeyed: the largest so far, under the parameter's name")  # fmt: skip
class HottestSoFar:
    def __init__(self) -> None:
        self.hottest: Reading | None = None

    def process(self, r: Reading) -> Iterator[Reading]:
        if self.hottest is not None and self.hottest.celsius > r.celsius:
            r = self.hottest
        self.hottest = r
        yield r
