"""Operators that change what they share, each in a way of its own: only safe where all tuples come to one process."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np


class Reading(NamedTuple):
    key: int
    value: int


TRAPS: list[Any] = []  # (function, what the error names)


def trap(names: str) -> Callable[[Any], Any]:
    def register(fn: Any) -> Any:
        TRAPS.append((fn, names))
        return fn

    return register


# Plain things ------------------------------------------------------------------------------------------------------

total = 0
limits: list[int] = []


def by_limits(reading: Reading) -> Reading:
    return Reading(reading.key, reading.value + len(limits))


def raise_limits(reading: Reading) -> None:
    limits.append(reading.value)


seen: list[int] = []
ids: dict[int, int] = {}
met: set[int] = set()
last: deque[int] = deque(maxlen=3)
order: OrderedDict[int, int] = OrderedDict.fromkeys(range(10))
table = np.zeros(100, np.int64)
numbers = itertools.count()
fixed_chance = random.Random(1)
iterator = iter(range(10_000))


@trap("`total`")
def by_global(r: Reading) -> Reading:
    global total
    total += 1
    return r._replace(value=total)


@trap("`fresh`")
def by_a_new_global(r: Reading) -> Reading:
    global fresh
    fresh = r.value
    return r


@trap("`seen`")
def by_list(r: Reading) -> Reading:
    seen.append(r.value)
    return r._replace(value=len(seen))


@trap("`ids`")
def by_dict(r: Reading) -> Reading:
    return r._replace(value=ids.setdefault(r.value, len(ids)))


@trap("`met`")
def by_set(r: Reading) -> Reading:
    met.add(r.value)
    return r._replace(value=len(met))


@trap("`last`")
def by_deque(r: Reading) -> Reading:
    last.append(r.value)
    return r._replace(value=sum(last))


@trap("`order`")
def by_order(r: Reading) -> Reading:
    order.move_to_end(r.value % 10)
    return r._replace(value=next(iter(order)))


@trap("`table`")
def by_small_array(r: Reading) -> Reading:
    table[r.value % 100] += 1
    return r._replace(value=int(table.sum()))


@trap("`numbers`")
def by_count(r: Reading) -> Reading:
    return r._replace(value=next(numbers))


@trap("`iterator`")
def by_iterator(r: Reading) -> Reading:
    return r._replace(value=next(iterator))


@trap("`fixed_chance`")
def by_seeded_chance(r: Reading) -> Reading:
    return r._replace(value=fixed_chance.randrange(100))


@trap("`random.random`")
def by_chance(r: Reading) -> Reading:
    return r._replace(value=int(random.random() * 100))


@trap("`os.environ`")
def by_environment(r: Reading) -> Reading:
    os.environ["ANABRANCH_TRAP"] = str(r.value)
    return r


def count_in_default(r: Reading, counts: list[int] = [0]) -> Reading:  # that is the trap
    counts[0] += 1
    return r._replace(value=counts[0])


TRAPS.append((count_in_default, "the default of `counts`"))


def make_counter() -> Callable[[Reading], Reading]:
    count = 0

    def by_closure(r: Reading) -> Reading:
        nonlocal count
        count += 1
        return r._replace(value=count)

    return by_closure


TRAPS.append((make_counter(), "the variable `count`"))


@trap("the attribute `calls`")
def by_own_attribute(r: Reading) -> Reading:
    by_own_attribute.calls = getattr(by_own_attribute, "calls", 0) + 1  # type: ignore[attr-defined]
    return r


def tick() -> int:
    seen.append(0)
    return len(seen)


@trap("`seen`")
def by_helper(r: Reading) -> Reading:
    return r._replace(value=tick())


def by_globals(r: Reading) -> Reading:
    globals()["mutable_rates"] = r.value
    return r


mutable_rates = 0


# The six families --------------------------------------------------------------------------------------------------


class Numbering(dict[int, int]):
    def __missing__(self, key: int) -> int:
        self[key] = len(self)
        return self[key]


class OrderedNumbering(OrderedDict[int, int]):
    def __missing__(self, key: int) -> int:
        self[key] = len(self)
        return self[key]


numbering, ordered_numbering = Numbering(), OrderedNumbering()
defaults: defaultdict[int, list[int]] = defaultdict(list)


@trap("`numbering`")
def by_missing(r: Reading) -> Reading:
    return r._replace(value=numbering[r.value])


@trap("`ordered_numbering`")
def by_ordered_missing(r: Reading) -> Reading:
    return r._replace(value=ordered_numbering[r.value])


@trap("`defaults`")
def by_default_factory(r: Reading) -> Reading:
    return r._replace(value=len(defaults[r.value % 5]))


class Sly:
    def __init__(self) -> None:
        self.asked = 0

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return False

    __hash__ = None  # type: ignore[assignment]


class patterns:
    SLY = Sly()


@trap("`patterns.SLY`")
def by_value_pattern(r: Reading) -> Reading:
    match r.value:
        case patterns.SLY:
            return r._replace(value=-1)
        case _:
            return r


class Watching(type):
    asked = 0

    def __instancecheck__(cls, instance: object) -> bool:
        Watching.asked += 1
        return Watching.asked % 2 == 0


class Watched(metaclass=Watching):
    pass


@trap("`Watching.asked`")
def by_class_pattern(r: Reading) -> Reading:
    match r.value:
        case Watched():
            return r._replace(value=-1)
        case _:
            return r


class Subscribed:
    made = 0

    def __class_getitem__(cls, item: Any) -> int:
        cls.made += 1
        return cls.made


@trap("`Subscribed.made`")
def by_class_getitem(r: Reading) -> Reading:
    return r._replace(value=Subscribed[r.value])


@trap("`seen`")
def by_annotation(r: Reading) -> Reading:
    def inner(x: int = 0, *, y: int = tick()) -> int:
        return y

    return r._replace(value=inner())


@trap("`seen`")
def by_default_of_a_lambda(r: Reading) -> Reading:
    return r._replace(value=(lambda x=tick(): x)())


class Pretender:
    def __init__(self) -> None:
        self.looked = 0

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        self.looked += 1
        return Pretender


pretender = Pretender()


def by_class_property(r: Reading) -> Reading:
    return r._replace(value=int(isinstance(pretender, str)))


notes: list[int] = []


class Noted:
    @property  # what other classes only keep as a note
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        notes.append(0)
        return {"n": len(notes)}


@trap("`notes`")
def by_computed_annotations(r: Reading) -> Reading:
    wrapped = functools.update_wrapper(lambda: None, Noted(), assigned=["__annotations__"], updated=[])
    return r._replace(value=wrapped.__annotations__["n"])


class Slots:
    asked = 0

    def __iter__(self) -> Iterator[str]:
        self.asked += 1
        return iter(())


slots = Slots()


@trap("`slots`")
def by_a_class_statement(r: Reading) -> Reading:
    class Local:
        __slots__ = slots

    return r


# Objects -----------------------------------------------------------------------------------------------------------


@dataclass
class Model:
    weights: list[float] = field(default_factory=lambda: [0.0])
    fitted: int = 0

    def update(self, r: Reading) -> Reading:
        self.fitted += 1
        return r._replace(value=self.fitted)


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, r: Reading) -> Reading:
        self.count += 1
        return r._replace(value=self.count)


class Color(Enum):
    RED = 1
    BLUE = 2


TRAPS.append((Model().update, "`fn` of the operator"))
TRAPS.append((functools.partial(Model.update, Model()), "`fn` of the operator"))
slotted = Slotted()


@trap("`slotted`")
def by_slot(r: Reading) -> Reading:
    return slotted(r)


@trap("the members of `Color`")
def by_enum_member(r: Reading) -> Reading:
    Color.RED.count = getattr(Color.RED, "count", 0) + 1  # type: ignore[attr-defined]
    return r


class Base:
    shared: dict[int, int] = {}


class Derived(Base):
    def bump(self, key: int) -> int:
        self.shared[key] = self.shared.get(key, 0) + 1
        return self.shared[key]


@trap("`Base.shared`")
def by_inherited_attribute(r: Reading) -> Reading:
    return r._replace(value=Derived().bump(r.key))


class CountsAll:
    """By key, but with a counter of all keys."""

    everybody = 0

    def process(self, r: Reading) -> Iterator[Reading]:
        CountsAll.everybody += 1
        yield r._replace(value=CountsAll.everybody)


class Many(NamedTuple):
    many: int


class Adds:
    """An aggregate with a list for everybody."""

    values: list[int] = []

    def add(self, r: Reading) -> None:
        self.values.append(r.value)

    def result(self) -> int:
        return len(self.values)


# Of libraries ------------------------------------------------------------------------------------------------------


def root(r: Reading) -> Reading:
    return r._replace(value=int(math.sqrt(r.value)))


def dumped(r: Reading) -> Reading:
    return r._replace(value=len(json.dumps(r.value)))


def counted(r: Reading) -> Reading:
    found: Counter[int] = Counter()
    found.update([r.value])
    return r._replace(value=sum(found.values()))


def divided(r: Reading) -> Reading:
    return r._replace(value=divmod(r.value, 3)[1])


def mine(*arguments: Any) -> Any:
    return 7
