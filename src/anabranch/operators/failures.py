"""From an exception in user code to the error a user reads."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from anabranch.errors import Location, OperatorError, RunError, SourceError, in_words
from anabranch.graph.model import Operator
from anabranch.operators.base import Unreadable
from anabranch.operators.metrics import OperatorMetrics

_NOT_THE_USERS = (
    str(Path(__file__).resolve().parent.parent) + os.sep,
    sysconfig.get_path("stdlib") + os.sep,
    sysconfig.get_path("purelib") + os.sep,
    sysconfig.get_path("platlib") + os.sep,
    "<frozen",
)


# Files of generated code, and for each how a place in it is a line of the user's.
GENERATED: dict[str, Callable[[TracebackType], Location | None]] = {}

# What no `on_error` passes over: failures that are not the user's.
ALWAYS_STOP: list[Callable[[Exception], bool]] = []

_CALLS_USER_CODE = ("for_each", "generate", "beacon")  # the sources and sinks that do


def operator_error(operator: Operator, cause: Exception, item: Any, during: str) -> RunError:
    """The error for a failure in `operator` while it worked on `item`."""
    calls_user_code = operator.kind in _CALLS_USER_CODE or not (operator.is_source or operator.is_sink)
    if isinstance(cause, RunError) and (not calls_user_code or cause.location == operator.location):
        return cause  # already said as it should be; from user code it would come from a run inside the run
    item = operator.definition.shown(item)
    raised_at = user_line(cause.__traceback__)
    if raised_at is None and cause.__cause__ is not None:  # a StopIteration, which Python itself replaces
        raised_at = user_line(cause.__cause__.__traceback__)
    error = OperatorError(
        operator.id, location=operator.location, cause=cause, item=item, during=during, raised_at=raised_at
    )
    error.__cause__ = cause
    return error


def unreadable_error(operator: Operator, item: Unreadable) -> SourceError:
    return SourceError(
        f"source '{operator.id}' cannot be read: {item.message}",
        where=item.where,
        raw=item.raw,
        location=operator.location,
        hint=item.hint or 'on_error="skip" passes over such rows and counts them',
    )


def after_failure(
    operator: Operator, metrics: OperatorMetrics, problem: Exception, item: Any, during: str
) -> tuple[int, Any] | None:
    """Stop the run, or do what `on_error` of the operator says: perhaps a dead letter goes out, on a port."""
    error = operator_error(operator, problem, None if operator.is_source else item, during)
    if operator.on_error == "stop" or any(is_ours(problem) for is_ours in ALWAYS_STOP):
        raise error
    if operator.on_error == "skip":
        metrics.skipped += 1
        return None
    metrics.dead_letters += 1
    return operator.output("dead_letter"), _dead_letter(operator, error, problem, item)


def _dead_letter(operator: Operator, error: RunError, problem: Exception, item: Any) -> Any:
    make = operator.outputs[operator.output("dead_letter")].schema.type
    where = getattr(error, "where", None) or str(operator.location)
    if isinstance(item, Unreadable):
        return make(operator.id, where, item.message, item.raw or "")  # type: ignore[call-arg]  # DeadLetter
    return make(operator.id, where, in_words(problem), repr(item))  # type: ignore[call-arg]  # DeadLetter


def user_line(trace: TracebackType | None) -> Location | None:
    """The innermost line of a traceback that is the user's own."""
    found = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in GENERATED:
            found = GENERATED[file](trace)
        elif not file.startswith(_NOT_THE_USERS):
            found = Location(file, trace.tb_lineno)
        trace = trace.tb_next
    return found
