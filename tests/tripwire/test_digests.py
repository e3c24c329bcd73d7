"""A digest is the same in every process for what is the same, sees every change, and runs no code of the user's."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import functools
import json
import math
import os
import random
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.run import as_program
from anabranch.tripwire.left_out import OF_CLASSES
from anabranch.tripwire.reached import Look, Memory, reached
from anabranch.tripwire.values import Identities, Reader
from anabranch.tripwire.watch import Tripwire, difference
from tests.tripwire import traps
from tests.tripwire.traps import Reading


def digest(value: Any, identities: Identities | None = None) -> tuple[bytes, bytes]:
    reader = Reader(identities or Identities())
    return reader.token(value), b"".join(reader.local)


def cyclic() -> list[Any]:
    one: list[Any] = [1]
    one.append({"itself": one})
    return one


class Flag(enum.Flag):
    A = 1
    B = 2


class Point:
    def __init__(self) -> None:
        self.x, self.y = 1.5, "y"


VALUES: list[Any] = [
    *(0, -1, 1 << 80, True, None, ..., 0.0, -0.0, math.nan, math.inf, 2j, "", "é\ud800", b"\0", range(3), slice(1, 2)),
    *([], [1, 2], [1, "a", None], [[1], [2]], (), (1,), {1: 2}, {"b": 1, "a": 2}, {"a": [1]}, cyclic()),
    *(
        {1, 2, 3},
        {"x", "y", "z"},
        frozenset({"x", ("a", 1)}),
        collections.Counter("abca"),
        collections.deque([1, 2], 5),
    ),
    *(collections.OrderedDict(a=1, b=2), collections.defaultdict(list, {"a": [1]}), collections.ChainMap({"a": 1})),
    *(datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), decimal.Decimal("1.50")),
    *(re.compile("a+", re.I), np.arange(5), np.float64(1.5), np.array(["a", None], object), np.zeros(0)),
    *(math.sqrt, len, str.upper, [].append, functools.partial(pow, 2), traps.root, traps.Model().update, Reading, int),
    *(Flag.A, Flag.A | Flag.B, Point(), traps.Model(), traps.Slotted(), traps.numbering, list[int], int | None, json),
]


def test_it_is_the_same_in_other_processes() -> None:
    """Whatever the seed of `hash` is, and wherever objects are."""
    code = "from tests.tripwire.test_digests import *; print([digest(each)[0].hex() for each in VALUES])"
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]


def test_different_values_have_different_digests() -> None:
    digests = [digest(each) for each in VALUES]
    equal = [(one, other) for one in range(len(VALUES)) for other in range(one) if digests[one] == digests[other]]
    assert [(VALUES[one], VALUES[other]) for one, other in equal] == []


@pytest.mark.parametrize("value", VALUES, ids=lambda each: type(each).__name__)
def test_looking_changes_nothing(value: Any) -> None:
    identities = Identities()
    assert digest(value, identities) == digest(value, identities)


def test_iterators_are_read_without_being_consumed() -> None:
    from itertools import count, cycle

    for make in (
        lambda: count(3),
        lambda: cycle("abc"),
        lambda: iter([1, 2, 3]),
        lambda: iter(range(9)),
        lambda: zip("ab", "c", strict=False),
    ):
        iterator, other, identities = make(), make(), Identities()  # type: ignore[no-untyped-call]
        before = digest(iterator, identities)
        assert digest(iterator, identities) == before
        assert next(iterator) == next(other)
        assert digest(iterator, identities) != before


def test_the_state_behind_a_function_of_a_library_counts() -> None:
    identities = Identities()
    before = digest(random.random, identities)
    random.random()
    assert digest(random.random, identities) != before


def test_what_cannot_be_read_counts_by_identity() -> None:
    identities = Identities()
    one, other = object.__new__(type("Opaque", (), {"__slots__": ()})), open(os.devnull)  # noqa: SIM115
    with other, open(os.devnull) as another:
        assert digest(other, identities) == digest(other, identities)
        assert digest(other, identities) != digest(another, identities)
        assert digest(other)[0] == digest(another)[0], "elsewhere they need not be the same"
    assert digest(one, identities) == digest(one, identities)


class Touchy:
    """Objects that notice whatever is done with them."""

    touched: list[str] = []

    def __init__(self) -> None:
        object.__setattr__(self, "x", 1)

    def __getattribute__(self, name: str) -> Any:
        Touchy.touched.append(name)
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        Touchy.touched.append("==")
        return True

    def __hash__(self) -> int:
        Touchy.touched.append("hash")
        return 1

    def __repr__(self) -> str:
        Touchy.touched.append("repr")
        return ""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        Touchy.touched.append("class")
        return int


class TouchyDict(dict[Any, Any]):
    def __iter__(self) -> Any:
        Touchy.touched.append("iter")
        return iter(())

    def items(self) -> Any:
        Touchy.touched.append("items")
        return ()

    def __len__(self) -> int:
        Touchy.touched.append("len")
        return 0


def test_no_code_of_the_users_is_run() -> None:
    touchy, held = Touchy(), TouchyDict({1: 2})
    shared = {"one": touchy, "some": [touchy], "dict": held}
    Touchy.touched.clear()
    before = digest(shared)
    dict.__setitem__(held, 3, 4)
    assert digest(shared) != before
    assert Touchy.touched == []


def test_a_class_that_is_a_property_is_seen_to_count() -> None:
    fn = traps.by_class_property
    before = look_at(fn)
    fn(Reading(1, 2))
    change = difference(before.entries, look_at(fn).entries)
    assert change is not None
    assert change.what == "the global `pretender` of `tests.tripwire.traps`"


def look_at(fn: Any, memory: Memory | None = None) -> Look:
    graph = as_program(ab.from_items(Reading, [Reading(1, 2)]).map(fn, out=Reading).collect("out")).graph
    return reached(graph.operators, memory or Memory())


def test_what_a_library_fills_at_its_first_use_is_left_out() -> None:
    import copy
    from abc import ABC, abstractmethod
    from functools import cache, cached_property, singledispatch

    class Shape(ABC):
        @abstractmethod
        def area(self) -> float: ...

    class Square(Shape):
        def __init__(self) -> None:
            self.side = 2.0

        def area(self) -> float:
            return self.side**2

        @cached_property
        def diagonal(self) -> float:
            return self.side * math.sqrt(2)

    @cache
    def slow(n: int) -> int:
        return n * n

    @singledispatch
    def kind(value: object) -> int:
        return 0

    @kind.register
    def _(value: int) -> int:
        return 1

    square = Square()

    def use(r: Reading) -> Reading:
        combined = Flag.A | Flag.B
        copied = copy.copy(square)
        is_shape = isinstance(r.value, Shape) or re.match("[a-z]{3}", str(r.value)) is not None
        return r._replace(
            value=slow(r.value) + kind(r.value) + combined.value + int(square.diagonal + copied.side) + is_shape
        )

    memory = Memory()
    before = look_at(use, memory)
    use(Reading(1, 2))
    use(Reading(2, 3))
    assert difference(before.entries, look_at(use, memory).entries, locally=True) is None
    assert "__slotnames__" in OF_CLASSES
    assert "_abc_impl" in OF_CLASSES


rates = {"EUR": 1.0, "USD": 1.1}
unused = [1]


def converts(r: Reading) -> Reading:
    return r._replace(value=int(r.value * rates["USD"]))


def test_only_names_that_code_uses_are_looked_at() -> None:
    found = [entry.name for entry in look_at(converts).entries]
    assert "rates" in found
    assert "unused" not in found


def test_instances_for_keys_are_not_looked_at() -> None:
    """They are the operator's own, and change with every tuple."""

    class Counts:
        def __init__(self) -> None:
            self.count = 0

        def process(self, r: Reading) -> Reading:
            self.count += 1
            return r._replace(value=self.count)

    stream = ab.from_items(Reading, [Reading(1, 2)]).process(Counts, key="key", out=Reading)
    graph = as_program(stream.collect("out")).graph
    memory = Memory()
    before = reached(graph.operators, memory)
    Counts().process(Reading(1, 2))
    assert difference(before.entries, reached(graph.operators, memory).entries, locally=True) is None


def test_much_is_looked_at_as_a_whole_only_now_and_then() -> None:
    """An outline has to do in between: what is added is seen at once, the middle of it when there was time enough."""
    table = {n: str(n) for n in range(300_000)}

    def looks_up(r: Reading) -> Reading:
        return r._replace(value=len(table[r.value]))

    memory = Memory()
    before = look_at(looks_up, memory)
    assert len(memory.costly) == 1
    table[-1] = ""
    assert difference(before.entries, look_at(looks_up, memory).entries, locally=True) is not None
    del table[-1]
    memory.costly.clear()
    look_at(looks_up, memory)
    table[150_000] = "another"
    assert difference(before.entries, look_at(looks_up, memory).entries, locally=True) is None, "not yet"
    memory.costly.clear()  # as after a hundred times the time that it takes
    assert difference(before.entries, look_at(looks_up, memory).entries, locally=True) is not None


def test_a_tripwire_is_sent_with_what_the_driver_saw_alone() -> None:
    import pickle

    operators = as_program(ab.from_items(Reading, []).map(converts, out=Reading).collect("out")).graph.operators
    tripwire = Tripwire.of({"place": operators})
    sent = pickle.loads(pickle.dumps(tripwire))
    assert sent.begin("place", lambda: operators) is None
    assert sent.end("place", lambda: operators) is None
    rates["USD"] = 1.2
    try:
        change = sent.end("place", lambda: operators)
        assert change is not None
        assert change.when == "end"
        late = pickle.loads(pickle.dumps(tripwire)).begin("place", lambda: operators)
        assert late is not None
        assert late.when == "begin"
    finally:
        rates["USD"] = 1.1


def test_globals_are_read_from_code_as_dis_reads_them() -> None:
    import dis
    import inspect

    from anabranch.tripwire.code_names import codes_in, names_of

    found = 0
    for module in (traps, json, json.decoder, functools, inspect, dis, collections, subprocess):
        for function in [each for each in vars(module).values() if inspect.isfunction(each)]:
            shown = [
                each.argval
                for code in codes_in(function.__code__)
                for each in dis.get_instructions(code)
                if each.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
            ]
            assert names_of(function.__code__).globals == tuple(dict.fromkeys(shown))
            found += len(shown)
    assert found > 500
