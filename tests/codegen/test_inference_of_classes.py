"""Types of what the instances of an operator class keep, found over all its methods."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import anabranch as ab
from anabranch.codegen.inference import Inlined, TypedClass, type_class
from anabranch.codegen.types import FLOAT, INT, Type
from tests.codegen.typed_calls import CALL, TRAVEL, Call, Travel, shown, speed


def typed_class(factory: Any, **methods: tuple[Type, ...]) -> TypedClass:
    found = type_class(factory, methods or {"process": (CALL,)})
    assert isinstance(found, TypedClass), found
    return found


class Speed:
    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        if self.last is not None:
            yield Travel(call.phone, speed(self.last, call), call.ts)
        self.last = call


def test_the_class_of_the_design_is_completely_typed() -> None:
    found = typed_class(Speed)
    assert found.problems == ()
    assert found.initial == {"last": None}
    assert found.fields == {"last": CALL.or_none()}
    method = found.methods["process"]
    assert method.is_generator
    assert method.function.parameters == ("self", "call")
    assert method.function.free_parameters == ("call",)


def test_fields_are_typed_by_all_methods_together() -> None:
    class Sum:
        step = 2

        def __init__(self, weight: float) -> None:
            self.weight = weight
            self.total = 0
            self.count = 0
            self.highest: float | None = None

        def calls(self, c: Call) -> None:
            self.add(c.ts)
            self.count += self.step

        def travels(self, t: Travel) -> Iterator[Travel]:
            yield Travel(self.count, self.mean())

        def add(self, x: float) -> None:
            self.total += x * self.weight  # type: ignore[assignment]
            if self.highest is None or x > self.highest:
                self.highest = x

        def mean(self) -> float:
            return self.total / max(self.count, 1)

        def finish(self) -> Iterator[Travel]:
            yield Travel(self.count, self.mean())

    found = typed_class(functools.partial(Sum, weight=0.5), calls=(CALL,), travels=(TRAVEL,), finish=())
    assert found.problems == ()
    optional = Type("float", optional=True)
    assert found.fields == {"weight": FLOAT, "total": FLOAT, "count": INT, "highest": optional}
    assert found.initial == {"weight": 0.5, "total": 0, "count": 0, "highest": None}
    assert found.constants == {"step": 2}
    assert list(found.methods) == ["calls", "travels", "finish"]
    add = next(each for each in found.methods["calls"].calls.values() if isinstance(each, Inlined))
    assert shown(add.arguments) == ["c.ts"]
    assert add.typed.function.is_method
    assert dict(add.typed.parameters) == {"self": Type("instance"), "x": FLOAT}


def test_a_class_attribute_that_instances_assign_is_a_field() -> None:
    class Count:
        seen = 0

        def process(self, c: Call) -> Iterator[Travel]:
            self.seen += 1
            yield Travel(self.seen, 0.0)

    found = typed_class(Count)
    assert (found.problems, found.fields, found.initial, found.constants) == ((), {"seen": INT}, {"seen": 0}, {})


def test_private_fields_have_their_real_names() -> None:
    class Hidden:
        def __init__(self) -> None:
            self.__n = 0

        def process(self, c: Call) -> None:
            self.__n += c.phone

    found = typed_class(Hidden)
    assert (found.problems, found.fields) == ((), {"_Hidden__n": INT})


class KeepsList:
    def __init__(self) -> None:
        self.seen: list[Call] = []

    def process(self, c: Call) -> None:
        self.seen.append(c)


class KeepsBoth:
    def __init__(self) -> None:
        self.x: float = 1.5

    def process(self, c: Call) -> None:
        self.x = c.phone


class SetsLate:
    def process(self, c: Call) -> None:
        self.x = c.ts


class HandsOn:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> None:
        increase(self)


def increase(counter: HandsOn) -> None:
    counter.n += 1


@pytest.mark.parametrize(
    ("cls", "reason", "code"),
    [
        (KeepsList, "keeps a list in `self.seen`", "self.seen: list[Call] = []"),
        (KeepsBoth, "keeps a float or an int in `self.x`", "self.x = c.phone"),
        (SetsLate, "keeps `self.x`, which `__init__` does not set", "self.x = c.ts"),
        (HandsOn, "hands on `self`", "increase(self)"),
    ],
)
def test_what_is_kept_otherwise_is_a_problem_with_its_place(cls: type, reason: str, code: str) -> None:
    first = typed_class(cls).problems[0]
    assert (first.reason, first.location and first.location.code) == (reason, code)


made: list[object] = []


class Registered:
    def __init__(self) -> None:
        made.append(self)
        self.n = 0

    def process(self, c: Call) -> None:
        self.n += 1


def test_no_instance_is_made_of_a_class_that_touches_what_others_see() -> None:
    found = typed_class(Registered)
    assert made == []
    assert found.initial == {}
    assert found.problems[0].reason.startswith("does not keep to itself: `__init__`")
    assert found.methods["process"].types  # what does not depend on the instance is typed


@ab.declare(state="partitioned", because="the registry is only for debugging")
class Declared(Registered):
    pass


def test_a_declaration_is_no_reason_to_make_an_instance() -> None:
    assert typed_class(Declared).problems != ()
    assert made == []


def test_a_class_that_defines_how_attributes_are_read_is_refused() -> None:
    class Strange:
        def __getattr__(self, name: str) -> int:
            return 0

        def process(self, c: Call) -> None: ...

    assert str(type_class(Strange, {"process": (CALL,)})).startswith("defines `__getattr__`")
