"""Whether a native segment among Python ones pays: what crossing to it costs against what it saves.

The figures are nanoseconds per tuple, measured by `python -m benchmarks.codegen --only crossings`. What else runs on
the machine changes all of them alike, and only their ratios matter here.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from types import FunctionType
from typing import Any

from anabranch.analysis.home import home_of
from anabranch.analysis.scopes import body_of
from anabranch.analysis.syntax import children
from anabranch.codegen.part import Part
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.candidates import FindCandidates
from anabranch.operators.filter import Filter
from anabranch.operators.flat_map import FlatMap
from anabranch.operators.map import Map
from anabranch.operators.parts import MakeParts
from anabranch.operators.process import Process
from anabranch.operators.split import Split

INTO_COLUMNS, TEXT_INTO_COLUMNS = 36, 65  # for each attribute of a tuple that comes as a row
INTO_ROWS, PER_ATTRIBUTE_INTO_ROWS = 230, 32  # for each tuple that leaves to be a row
PER_EXPRESSION = 5  # that the user wrote, in the Python form: natively it takes next to nothing
HANDING_OVER = 400  # for each tuple that leaves one stage for another: it has to be made, and its origin kept
KEYED_OPERATOR = 17  # an operator with state, besides its expressions
WINDOW = 140
NATIVE_TABLE, NATIVE_PER_EXPRESSION = 25, 1.5
NATIVE_FURTHER_WINDOW = 80  # where a tuple is in several
_ROUNDS = 10  # that a loop is taken to make: nobody knows


def native_pays(parts: Sequence[Part], *, is_first: bool) -> bool:
    """Whether native segments save more than tuples cost on their way into the first, and out of the last."""
    first, last = parts[0], parts[-1]
    into = sum(
        _into_columns(attribute.type.kind) for stream in first.inputs for attribute in _attributes(first, stream)
    )
    definitions = [part.operator(operator_id).definition for part in parts for operator_id in part.operators]
    out = 0 if is_first else HANDING_OVER
    if all(isinstance(each, Map) for each in definitions):  # else few of the tuples leave, as a rule
        out += sum(INTO_ROWS + PER_ATTRIBUTE_INTO_ROWS * len(_attributes(last, stream)) for stream in last.outputs)
    return sum(map(_saved, definitions)) > into + out


def _attributes(part: Part, stream: Any) -> tuple[Any, ...]:
    return part.schema(stream).attributes


def _into_columns(kind: str) -> int:
    return TEXT_INTO_COLUMNS if kind == "str" else INTO_COLUMNS


def _saved(definition: Any) -> int:
    if isinstance(definition, WindowAggregate):
        return WINDOW
    keyed = KEYED_OPERATOR if isinstance(definition, Process) else 0
    return keyed + PER_EXPRESSION * sum(map(expressions_in, _functions(definition)))


def native_work(definition: Any) -> int:
    """What an operator does for a tuple in the native form; where that depends on the tuples, as a rule."""
    has_table = isinstance(definition, Process | WindowAggregate | MakeParts | FindCandidates)
    expressions = sum(map(expressions_in, _functions(definition)))
    windows = NATIVE_FURTHER_WINDOW * (_windows_of_a_tuple(definition) - 1)
    return NATIVE_TABLE * has_table + windows + round(NATIVE_PER_EXPRESSION * expressions)


def _windows_of_a_tuple(definition: Any) -> int:
    """In how many it is at once; those by count are kept as one."""
    match definition:
        case WindowAggregate(window=Window(shape="sliding", slide=Fraction() as slide) as window) if window.is_by_time:
            return max(1, math.ceil(window.length / slide))
    return 1


def _functions(definition: Any) -> Iterator[Callable[..., Any]]:
    """What the user wrote for an operator."""
    match definition:
        case Map(fn=function) | FlatMap(fn=function) | Filter(predicate=function):
            yield function
        case Split(predicates=predicates):
            yield from predicates
        case FindCandidates(search=search):
            yield from _functions(search)
        case Process(factory=factory, methods=methods):
            yield from (getattr(factory, method, factory) for method in methods)


def expressions_in(function: Callable[..., Any]) -> int:
    """How many expressions the body of a function evaluates; none where it cannot be read."""
    plain = inspect.unwrap(function)
    home = home_of(plain) if isinstance(plain, FunctionType) else None
    return sum(map(_evaluated, body_of(home.node))) if home is not None else 0


def _evaluated(node: ast.AST) -> int:
    inner = sum(map(_evaluated, children(node)))
    return _ROUNDS * inner if isinstance(node, ast.For | ast.While) else inner + isinstance(node, ast.expr)
