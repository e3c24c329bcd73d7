"""What each call in user code is: a builtin, a tuple being made, another function of the user's."""

from __future__ import annotations

import ast
import functools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from anabranch.codegen.inference import Builtin, Construct, Inlined, Typed
from anabranch.codegen.types import FLOAT, INT, Type
from tests.codegen.typed_calls import CALL, POINT, Call, Point, Travel, reasons, result, shown, speed, typed

LIMIT = 300


@dataclass(frozen=True)
class Settings:
    limit: float = 2.5


SETTINGS = Settings()


def only_call(found: Typed) -> Any:
    (called,) = found.calls.values()
    return called


def test_a_builtin_has_its_dotted_name() -> None:
    from math import sqrt as root

    assert only_call(typed(lambda c: root(c.ts))) == Builtin("math.sqrt")
    assert only_call(typed(lambda c: abs(c.ts))) == Builtin("abs")


@pytest.mark.parametrize(
    ("fn", "arguments", "kinds"),
    [
        (lambda c: Travel(c.phone, 1.0, c.ts), ["c.phone", "1.0", "c.ts"], [INT, FLOAT, FLOAT]),
        (lambda c: Travel(ts=c.ts, speed=2.0, phone=3), ["3", "2.0", "c.ts"], [Type("int", constant=3), FLOAT, FLOAT]),
        (lambda c: Travel(c.phone, c.ts), ["c.phone", "c.ts", "0.0"], [INT, FLOAT, FLOAT]),
        (lambda c: Travel(c.phone, *c.at), ["c.phone", "c.at:x", "c.at:y"], [INT, FLOAT, FLOAT]),
        (lambda c: c.at._replace(y=c.phone), ["c.at:x", "c.phone"], [FLOAT, INT]),
    ],
)
def test_a_tuple_being_made_has_an_entry_for_each_attribute(fn: Any, arguments: list[str], kinds: list[Type]) -> None:
    found = typed(fn)
    made = only_call(found)
    assert isinstance(made, Construct)
    assert found.problems == ()
    assert shown(made.arguments) == arguments
    assert [kind for _, kind in found.result.members] == kinds
    assert found.result.named is made.cls
    assert all(node in found.types for node in made.arguments if isinstance(node, ast.expr))


def test_a_tuple_with_a_constructor_of_its_own_is_a_problem() -> None:
    class Checked(Point):
        def __new__(cls, x: float, y: float) -> Checked:
            return super().__new__(cls, abs(x), abs(y))

    assert reasons(lambda c: Checked(1.0, 2.0)) == ["makes a `Checked`, which has a constructor of its own"]


def scaled(x: float, factor: float = 2.0, *rest: float) -> float:
    return x * factor


def forever(c: Call) -> float:
    return forever(c)


def emitting(c: Call) -> Iterator[Call]:
    yield c


def uses_json(c: Call) -> Any:
    return json.loads("1")


tenfold = functools.partial(speed, factor=10.0)


def test_functions_of_the_user_are_typed_for_their_arguments() -> None:
    found = typed(lambda c: speed(b=c, a=c))
    called = only_call(found)
    assert isinstance(called, Inlined)
    assert (found.problems, found.result) == ((), FLOAT)
    assert shown(called.arguments) == ["c", "c", "3.6"]
    assert found.types[called.arguments[2]] == FLOAT
    assert dict(called.typed.parameters) == {"a": CALL, "b": CALL, "factor": FLOAT}
    inner = [each for each in called.typed.calls.values() if isinstance(each, Inlined)]
    assert [shown(each.arguments) for each in inner] == [["a.at", "b.at"]]
    assert dict(inner[0].typed.parameters) == {"self": POINT, "other": POINT}


def test_a_partial_is_called_with_the_rest_of_its_arguments() -> None:
    found = typed(lambda c: tenfold(c, c))
    called = only_call(found)
    assert (found.problems, found.result, shown(called.arguments)) == ((), FLOAT, ["c", "c"])
    assert called.typed.function.constants["factor"] == 10.0


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda c: forever(c), "calls `forever`, which calls itself"),
        (lambda c: scaled(c.ts), "calls `scaled`, which takes any number of arguments"),
        (lambda c: speed(c), "calls `speed` with other arguments than it takes"),
        (lambda c: emitting(c), "hands on what `emitting` emits"),
        (lambda c: uses_json(c), "calls json.loads"),
    ],
)
def test_a_call_that_cannot_be_followed_is_a_problem(fn: Any, expected: str) -> None:
    assert expected in reasons(fn)


def test_a_default_is_typed_where_the_caller_leaves_it_out() -> None:
    found = typed(lambda c, limit=LIMIT: c.ts > limit)
    assert found.problems == ()
    assert found.function.parameters == ("c",)
    assert found.function.constants["limit"] == LIMIT
    assert reasons(lambda c, d: c.ts) == ["takes 2 arguments, not 1"]


def test_dotted_names_of_constants_carry_their_values() -> None:
    found = typed(lambda c: c.ts * math.pi + SETTINGS.limit)
    values = {ast.unparse(node): value for node, value in found.constants.items()}
    assert (values["math.pi"], values["SETTINGS.limit"]) == (math.pi, 2.5)


class Mode:
    strict = 1
    loose = 2

    def __init__(self) -> None:
        self.level = 1


MODE = Mode()


def relax() -> None:
    Mode.strict = 0
    MODE.level = 0


def test_attributes_that_may_be_another_thing_later_are_problems() -> None:
    assert result(lambda c: Mode.loose) == Type("int", constant=2)
    (of_class,) = reasons(lambda c: Mode.strict)
    assert of_class.startswith("reads `Mode.strict`, a class attribute that all instances share, which is assigned by")
    (of_instance,) = reasons(lambda c: MODE.level)
    assert of_instance.startswith("reads the attribute `level` of a `Mode` that all calls share, which is assigned by")


def test_an_existing_object_is_read_but_never_written() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor
            self.times = 0

        def __call__(self, c: Call) -> float:
            return self.by(c.ts)

        def by(self, x: float) -> float:
            return x * self.factor

        def counted(self, c: Call) -> float:
            self.times += 1
            return c.ts

    scale = Scale(3.0)
    assert result(scale) == FLOAT
    assert "changes `self`" in reasons(scale.counted)


def test_a_function_is_typed_once_for_the_same_types() -> None:
    assert typed(speed, CALL, CALL, FLOAT) is typed(speed, CALL, CALL, FLOAT)
