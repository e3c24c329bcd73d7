"""Sources whose own code may share something with operators: reading them ahead could be seen."""

from __future__ import annotations

from typing import Any

from anabranch.analysis import analyze_function
from anabranch.analysis.modules import held_world
from anabranch.graph.model import Operator
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.generate import Generate

_PLAIN = (int, float, str, bytes, type(None))


def may_share(source: Operator) -> bool:
    """Whether the next tuple of a source may depend on what became of the last, or the other way round.

    By the sequential meaning a tuple is processed before the next is drawn. That can be told only where the source runs
    a user's code which is not a function of its arguments alone.
    """
    match source.definition:
        case Generate(fn=function) if not all(isinstance(each, _PLAIN) for each in _defaults(function)):
            return True  # it is called without them, so that they are something from outside
        case Generate(fn=function, schema=schema) | Beacon(fn=function, schema=schema):
            with held_world(thoroughly=False):
                return bool(analyze_function(function, input=schema, output=None, emits="many").shared)
        case FromItems(items=items):
            return not isinstance(items, list | tuple | range)
    return False


def _defaults(function: Any) -> tuple[Any, ...]:
    return getattr(function, "__defaults__", None) or ()
