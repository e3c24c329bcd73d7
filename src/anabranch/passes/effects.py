"""Operators that share something with others: between them tuples cannot be handed over a chunk at a time."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from anabranch.analysis import analyze_function, shared_effects
from anabranch.graph.model import Operator
from anabranch.graph.properties import Reason
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import UserAggregate
from anabranch.operators.filter import Filter
from anabranch.operators.process import Process


def has_effects(operator: Operator) -> bool:
    """Whether an operator may read or change anything but its tuples and its own state."""
    return bool(effects_of(operator))


def effects_of(operator: Operator) -> tuple[Reason, ...]:
    """What an operator reads or changes besides its tuples and its own state."""
    schema = operator.inputs[0].schema
    match operator.definition:
        case Process(factory=factory, methods=methods):
            ports = zip(methods, operator.inputs, strict=True)
            return shared_effects(factory, {method: port.schema for method, port in ports}).shared
        case WindowAggregate(columns=columns):
            made = [column.factory for _, column in columns if isinstance(column, UserAggregate)]
            return tuple(why for each in made for why in shared_effects(each, {"add": schema, "result": None}).shared)
        case Filter(predicate=function):
            return analyze_function(function, input=schema, output=None, emits="predicate").shared
        case other:
            functions = [each for field in fields(other) for each in _functions(getattr(other, field.name))]  # type: ignore[arg-type]
            found = [analyze_function(each, input=schema, output=None, emits="many").shared for each in functions]
            return tuple(why for each in found for why in each)


def _functions(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [function for each in value for function in _functions(each)]
    is_ours = type(value).__module__.startswith("anabranch.")  # it makes a tuple of others, and nothing else
    return [value] if callable(value) and not is_ours else []
