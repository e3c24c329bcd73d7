"""From an exception in generated code to the operator that failed, its tuple, and the user's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, TracebackType
from typing import Any

from anabranch.codegen.python.lines import Line, Place
from anabranch.errors import Location, RunError
from anabranch.graph.model import Graph
from anabranch.operators.failures import operator_error


class Failed(Exception):
    """An operator failed, and what is to be said of it is known."""

    def __init__(self, error: RunError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True)
class Found:
    """The lines of generated code that an exception went through, the outermost first, and the innermost's locals."""

    places: tuple[Place, ...]
    item: Any


def find(problem: BaseException, files: Mapping[str, Sequence[Line]], items: Mapping[str, CodeType]) -> Found:
    """`items` has the expressions for the tuples that lines are about."""
    places: list[Place] = []
    item = None
    trace = problem.__traceback__
    while trace is not None:
        lines = files.get(trace.tb_frame.f_code.co_filename)
        place = lines[trace.tb_lineno - 1].place if lines is not None else None
        if place is not None:
            places.append(place)
            frame = trace.tb_frame
            item = eval(items[place.item], frame.f_globals, frame.f_locals)
        trace = trace.tb_next
    return Found(tuple(places), item)


def as_failed(problem: Exception, found: Found, graph: Graph) -> Failed:
    """What the oracle would say of it."""
    if isinstance(problem, Failed):
        return problem
    operator = graph.operator(found.places[-1].operator)
    if isinstance(problem, StopIteration):
        problem = _as_the_oracle_has_it(problem, is_sink=operator.is_sink)
    return Failed(operator_error(operator, problem, found.item, found.places[-1].during))


def _as_the_oracle_has_it(problem: StopIteration, *, is_sink: bool) -> RuntimeError:
    """A StopIteration of the user's would end a generator, so Python replaces it there."""
    replaced = RuntimeError("StopIteration" if is_sink else "generator raised StopIteration")
    replaced.__cause__ = problem
    return replaced


def line_of_user(lines: Sequence[Line], trace: TracebackType) -> Location | None:
    """The user's line that stands where generated code raised."""
    line = lines[trace.tb_lineno - 1]
    positions = list(trace.tb_frame.f_code.co_positions())
    _, _, start, end = positions[trace.tb_lasti // 2]
    for mark_start, mark_end, location in line.marks:
        if (mark_start, mark_end) == (start, end):
            return location
    return line.location
