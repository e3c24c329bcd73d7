"""User functions are taken as written only where every name in them is definitely the same all the time."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import math
from typing import Any, NamedTuple

import pytest

from anabranch.codegen.functions import Refusal, UserFunction, user_function


class Call(NamedTuple):
    phone: int
    ts: float


LIMIT = 3
AREAS = {"425", "206"}
counter = 0
switch = 1


def helper(x: float) -> float:
    return x * LIMIT


def count() -> int:
    global counter
    counter += 1
    return counter


def flip() -> None:
    global switch
    switch = 2


def taken(fn: Any) -> UserFunction:
    found = user_function(fn)
    assert isinstance(found, UserFunction), found
    return found


def refused(fn: Any) -> Refusal:
    found = user_function(fn)
    assert isinstance(found, Refusal)
    return found


# What is taken -----------------------------------------------------------------------------------------------------


def test_a_lambda_is_its_expression_with_its_free_names() -> None:
    found = taken(lambda c: math.sqrt(c.ts) > LIMIT)
    assert isinstance(found.node, ast.Lambda)
    assert ast.unparse(found.node.body) == "math.sqrt(c.ts) > LIMIT"
    assert found.parameters == ("c",)
    assert dict(found.constants) == {"math": math, "LIMIT": 3}
    assert found.file == __file__


def test_of_two_lambdas_on_a_line_each_is_its_own() -> None:
    one, other = (lambda c: c.ts > 1), (lambda c: c.ts > 2)
    assert [ast.unparse(taken(fn).node.body) for fn in (one, other)] == ["c.ts > 1", "c.ts > 2"]  # type: ignore[arg-type]


def test_variables_of_an_enclosing_function_and_builtins_are_constants() -> None:
    limit = 7.5
    found = taken(lambda c: abs(c.ts) > limit)
    assert dict(found.constants) == {"abs": abs, "limit": 7.5}


def test_names_in_functions_inside_and_comprehensions_are_found_where_they_are_free() -> None:
    def inside(c: Call) -> Any:
        scale: NotEvaluated = 2  # type: ignore[name-defined]  # noqa: F821  # annotations of locals are not evaluated
        inner = lambda x: x * scale * LIMIT
        return [inner(helper(y)) for y in range(c.phone)], {z: z * LIMIT for z in AREAS}

    assert sorted(taken(inside).constants) == ["AREAS", "LIMIT", "helper", "range"]


def test_a_bound_method_and_a_callable_object_carry_their_instance() -> None:
    class Above:
        def __init__(self, limit: float) -> None:
            self.limit = limit

        def __call__(self, c: Call) -> bool:
            return c.ts > self.limit

        def check(self, c: Call) -> bool:
            return c.ts > self.limit

    above = Above(3.0)
    for fn in (above, above.check):
        found = taken(fn)
        assert found.bound is above
        assert found.parameters == ("self", "c")
        assert found.free_parameters == ("c",)


def test_arguments_of_a_partial_are_constants() -> None:
    def scaled(c: Call, factor: float, *, offset: float = 0.0) -> float:
        return c.ts * factor + offset

    found = taken(functools.partial(scaled, factor=2.0))
    assert found.parameters == ("c",)
    assert dict(found.constants) == {"factor": 2.0, "offset": 0.0}
    assert dict(taken(functools.partial(scaled, factor=2.0, offset=1.0)).constants) == {"factor": 2.0, "offset": 1.0}
    first = taken(functools.partial(scaled, Call(1, 2.0)))
    assert (first.parameters, first.constants["c"]) == (("factor",), Call(1, 2.0))


def test_parameters_that_a_caller_leaves_to_their_defaults_are_constants() -> None:
    found = taken(lambda c, limit=LIMIT: c.ts > limit)
    assert found.parameters == ("c", "limit")
    assert dict(found.defaults) == {"limit": 3}
    called = found.called_with(1)
    assert (called.parameters, dict(called.constants)) == (("c",), {"limit": 3})
    assert found.called_with(2) is found


def test_private_names_have_their_real_name() -> None:
    class Hidden:
        __limit = 4

        def process(self, c: Call) -> bool:
            return c.ts > self.__limit

    assert taken(Hidden().process).mangled("__limit") == "_Hidden__limit"
    assert taken(lambda c: c).mangled("__limit") == "__limit"


def test_a_function_is_read_once() -> None:
    assert user_function(helper) is user_function(helper)


# What is refused ---------------------------------------------------------------------------------------------------


def reads_counter(c: Call) -> float:
    return c.ts + counter


def reads_switch(c: Call) -> float:
    return c.ts + switch


def variable_that_changes() -> Any:
    total = 0

    def process(c: Call) -> float:
        return c.ts + total

    def add() -> None:
        nonlocal total
        total += 1

    add()
    return process


def assigns_outer() -> Any:
    total = 0

    def process(c: Call) -> int:
        nonlocal total
        total += 1
        return total

    return process


def not_defined(c: Call) -> float:
    return c.ts * nowhere  # type: ignore[name-defined]  # noqa: F821


def any_number(*calls: Call) -> int:
    return 0


def mutable_default(c: Call, seen: list[Call] = []) -> int:
    seen.append(c)
    return 0


def named_by_its_frame(c: Call) -> str:
    return inspect.currentframe().f_code.co_name  # type: ignore[union-attr]


class Base:
    def process(self, c: Call) -> float:
        return c.ts


class Derived(Base):
    def process(self, c: Call) -> float:
        return super().process(c)


@pytest.mark.parametrize(
    ("fn", "reason", "code"),
    [
        (reads_counter, "reads the global `counter`, which is assigned by a function", "return c.ts + counter"),
        (reads_switch, "reads the global `switch`, which is assigned by a function", "return c.ts + switch"),
        (count, "assigns the global `counter`", "def count() -> int:"),
        (
            variable_that_changes(),
            "reads `total`, a variable of the enclosing function, which is assigned by a function",
            "return c.ts + total",
        ),
        (assigns_outer(), "assigns the outer variable `total`", "def process(c: Call) -> int:"),
        (not_defined, "uses `nowhere`, which is not defined yet", "return c.ts * nowhere"),
        (any_number, "takes any number of arguments", "def any_number(*calls: Call) -> int:"),
        (mutable_default, "has a default for `seen` that is handed on or changed", "seen.append(c)"),
        (Derived().process, "uses `super`", "return super().process(c)"),
        (named_by_its_frame, "looks at the frames of the interpreter", "return inspect.currentframe().f_code.co_name"),
        (lambda c: __name__, "reads `__name__`, which depends on how the module was loaded", None),
        (json.loads, "is json.loads, a function of a library", ""),
        (abs, "is abs, not a function written in Python", ""),
        (Call, "is the class `Call`", ""),
        (functools.partial(helper, y=1), "is given arguments by functools.partial that it does not take", None),
    ],
)
def test_what_may_be_another_thing_later_is_refused_with_the_place(fn: Any, reason: str, code: str | None) -> None:
    found = refused(fn)
    assert found.reason == reason
    if code is not None:
        shown = found.location.code.partition("  #")[0] if found.location else ""
        assert shown == code


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def made(c): return c.ts", names)
    assert refused(names["made"]).reason == "has no source that can be found"
