"""Typing a function for given types of its parameters, once for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from weakref import WeakKeyDictionary

from anabranch.codegen.functions import Refusal, UserFunction
from anabranch.codegen.inference.body import Body
from anabranch.codegen.inference.model import Typed
from anabranch.codegen.types import UNKNOWN, Type

_DEEPEST = 12
Solved = tuple[Typed, Type]  # and its result as inference knows it

_solved: WeakKeyDictionary[UserFunction, dict[tuple[Type, ...], Solved]] = WeakKeyDictionary()


def type_function(function: UserFunction, parameter_types: Sequence[Type]) -> Typed:
    """The types in a function whose parameters, but for its instance, have these; the rest have their defaults.

    What is returned is typed for the function as it is called (`Typed.function`): parameters that are left to their
    defaults are constants there.
    """
    called = function.called_with(len(parameter_types))
    free = called.free_parameters
    if len(free) == len(parameter_types):
        return _solve(called, tuple(parameter_types), ())[0]
    kinds = (*parameter_types, *[UNKNOWN] * len(free))[: len(free)]
    typed = _solve(called, kinds, ())[0]
    reason = f"takes {len(free)} arguments, not {len(parameter_types)}"
    return replace(typed, problems=(Refusal(reason, called.location(called.node)), *typed.problems))


def _solve(function: UserFunction, kinds: tuple[Type, ...], stack: tuple[FunctionType, ...]) -> Solved:
    known = _solved.setdefault(function, {})
    if kinds not in known:
        body = Body(function, dict(zip(function.free_parameters, kinds, strict=True)), None, stack)
        known[kinds] = body.solve(), body.result
    return known[kinds]


def type_call(caller: Body, function: UserFunction, kinds: Sequence[Type]) -> Solved | str:
    """The types in a function that another one calls, or why they are not to be found."""
    stack = (*caller.stack, caller.function.definition)
    if function.definition in stack:
        return "calls itself"
    if len(stack) > _DEEPEST:
        return "is called too deep inside others"
    if not function.is_method:
        return _solve(function, tuple(kinds), stack)
    fields = caller.fields
    assert fields is not None
    key = (function.definition, tuple(kinds), fields.version)
    if key not in fields.typed:
        body = Body(function, dict(zip(function.free_parameters, kinds, strict=True)), fields, stack)
        fields.typed[key] = body.solve(), body.result
    solved: Solved = fields.typed[key]
    return solved
