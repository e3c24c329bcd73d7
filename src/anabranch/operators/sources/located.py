"""Errors of a source say at which line of the program it was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anabranch.errors import SourceError
from anabranch.graph.model import Operator


@contextmanager
def located(operator: Operator) -> Iterator[None]:
    """Name the operator's line in a `SourceError` that does not name one yet."""
    try:
        yield
    except SourceError as problem:
        if problem.location is None:
            problem.location = operator.location
        raise
