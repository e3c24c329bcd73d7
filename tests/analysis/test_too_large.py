"""Where the analysis gives up, the reason names what led too far, and what to do."""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab
from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.properties import Reason
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    a: float
    b: float


ITEM = schema_of(Item)


class Vector:
    """As people write them: every operator leads to others."""

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self.x, self.y, self.z = x, y, z

    def __add__(self, other: Any) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Any) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, other: Any) -> Vector:
        if isinstance(other, Vector):
            return Vector(self.x * other.x, self.y * other.y, self.z * other.z)
        return Vector(self.x * other, self.y * other, self.z * other)

    def __rmul__(self, other: Any) -> Vector:
        return self * other

    def __truediv__(self, other: Any) -> Vector:
        return Vector(self.x / other, self.y / other, self.z / other)

    def __neg__(self) -> Vector:
        return self * -1

    def __matmul__(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def __abs__(self) -> float:
        return math.sqrt(self @ self)

    def __bool__(self) -> bool:
        return abs(self) > 0

    def __getitem__(self, at: int) -> Any:
        return (self.x, self.y, self.z)[at]

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))

    def unit(self) -> Vector:
        return self / abs(self)


def turn(item: Item) -> Item:
    v, w = Vector(item.a, item.b, 1.0), Vector(item.b, item.a, 2.0)
    u = (v + w) * 2.0 - v.unit() * (v @ w)
    t = 3.0 * u + (-w) / 2.0 + v * w
    if t:
        t = t.unit()
    for c in t:
        u = u * c + t
    return Item(u[0] + abs(t), (u * t)[1])


class Turning:
    def process(self, item: Item) -> Item:
        return turn(item)


def reason_of(operator: Any) -> Reason:
    if isinstance(operator, type):
        [reason] = analyze_operator(operator, inputs={"process": ITEM}, output=ITEM).shared
    else:
        [reason] = analyze_function(operator, input=ITEM, output=ITEM, emits="one").shared
    return reason


def line_of(thing: Any) -> int:
    return inspect.getsourcelines(thing)[1]


def test_the_class_whose_methods_lead_too_far_is_named() -> None:
    for operator in (turn, Turning):
        reason = reason_of(operator)
        assert reason.text == (
            "what it does is not known: it is too large to be followed, most of all the methods of `Vector`"
        )
        assert reason.location is not None
        assert (reason.location.file, reason.location.line) == (__file__, line_of(Vector))
        assert reason.hint == 'make that smaller, or say what the operator is: @ab.declare(…, because="…")'


@ab.declare(state="stateless", because="it computes with numbers alone")
def declared(item: Item) -> Item:
    return turn(item)


def test_the_hint_helps() -> None:
    assert not analyze_function(declared, input=ITEM, output=ITEM, emits="one").shared


def added(folder: Path) -> Any:
    """A function of one expression that is nested too deeply."""
    path = folder / "a_long_sum.py"
    path.write_text(f"def added(n):\n    return {' + '.join(['n'] * 900)}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module.added


def test_a_function_that_leads_too_far_is_named(tmp_path: Path) -> None:
    long_sum = added(tmp_path)

    def summed(item: Item) -> Item:
        return Item(long_sum(item.a), item.b)

    reason = reason_of(summed)
    assert reason.text == "what it does is not known: it is too large to be followed, most of all `added`"
    assert str(reason.location).endswith("a_long_sum.py:1")


KINDS = tuple(type(f"Kind{number}", (), {})() for number in range(600))


def reads_a_table(item: Item) -> Item:
    return Item(float(len([kind for kind in KINDS if kind])), item.b)


def test_a_table_of_too_many_different_things_is_named() -> None:
    reason = reason_of(reads_a_table)
    assert "the global `KINDS`" in reason.text, reason.text
