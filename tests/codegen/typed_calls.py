"""Tuples of calls, and their types, for tests of inference."""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple

from anabranch.codegen.functions import UserFunction, user_function
from anabranch.codegen.inference import Member, Typed, type_function
from anabranch.codegen.types import Type, type_of_schema
from anabranch.graph.schema import schema_of


class Point(NamedTuple):
    x: float
    y: float

    def distance(self, other: Point) -> float:
        return math.sqrt((self.x - other.x) ** 2 + (self.y - other.y) ** 2)

    @property
    def length(self) -> float:
        return math.sqrt(self.x * self.x + self.y * self.y)


class Call(NamedTuple):
    phone: int
    area: str
    at: Point
    ts: float
    is_paid: bool = False
    price: float | None = None
    code: int | None = None


class Travel(NamedTuple):
    phone: int
    speed: float
    ts: float = 0.0


CALL = type_of_schema(schema_of(Call))
POINT = type_of_schema(schema_of(Point))
TRAVEL = type_of_schema(schema_of(Travel))


def speed(a: Any, b: Any, factor: float = 3.6) -> Any:
    step = b.ts - a.ts
    return a.at.distance(b.at) / step * factor


def typed(fn: Any, *kinds: Type) -> Typed:
    function = user_function(fn)
    assert isinstance(function, UserFunction), function
    return type_function(function, kinds or (CALL,))


def result(fn: Any, *kinds: Type) -> Type:
    """The type of what a function gives that is completely typed."""
    found = typed(fn, *kinds)
    assert found.problems == ()
    return found.result


def reasons(fn: Any, *kinds: Type) -> list[str]:
    return [problem.reason for problem in typed(fn, *kinds).problems]


def shown(arguments: tuple[ast.expr | Member, ...]) -> list[str]:
    return [f"{ast.unparse(a.value)}:{a.name}" if isinstance(a, Member) else ast.unparse(a) for a in arguments]
