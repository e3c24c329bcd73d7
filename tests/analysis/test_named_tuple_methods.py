"""Methods that every NamedTuple has are known, unless the user wrote their own in their place."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import analyze_function
from anabranch.graph.schema import schema_of

CALLS: list[int] = []


class Plain(NamedTuple):
    n: int
    k: int


class Replacing(Plain):
    def _replace(self, **changes: Any) -> Replacing:  # type: ignore[override]  # that is the trap
        CALLS.append(1)
        return Replacing(len(CALLS), 0)


class Making(Plain):
    @classmethod
    def _make(cls, values: Any) -> Making:  # type: ignore[override]
        CALLS.append(1)
        return cls(len(CALLS), 0)


class Counting(NamedTuple):
    n: int
    k: int

    def count(self, value: Any) -> int:
        CALLS.append(1)
        return len(CALLS)


def replaced(t: Any) -> Any:
    return t._replace(n=1)


def made(t: Any) -> Any:
    return type(t)._make([1, 2])


def made_by_name(t: Any) -> Any:
    return Making._make([1, 2])


def counted(t: Any) -> Any:
    return Counting(t.count(1), 2)


@pytest.mark.parametrize(("fn", "kind"), [(replaced, Replacing), (made_by_name, Making), (counted, Counting)])
def test_a_method_the_user_wrote_in_its_place_is_followed(fn: Any, kind: type) -> None:
    schema = schema_of(kind)
    findings = analyze_function(fn, input=schema, output=schema, emits="one")
    assert findings.shared
    assert findings.forwards == ()


def test_the_method_that_every_named_tuple_has_is_known() -> None:
    schema = schema_of(Plain)
    findings = analyze_function(replaced, input=schema, output=schema, emits="one")
    assert not findings.shared
    assert findings.forwards == (("k", "k"),)


def test_a_type_whose_tuples_were_copied_is_still_known() -> None:
    """Copying notes the slots of a class in the class itself."""

    class Copied(NamedTuple):
        n: int
        k: int

    copy.copy(Copied(1, 2))
    assert "__slotnames__" in vars(Copied)
    schema = schema_of(Copied)
    findings = analyze_function(lambda t: Copied(t.n + 1, t.k), input=schema, output=schema, emits="one")
    assert not findings.shared
