"""What all sinks share: whether their order matters, and where their errors were written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anabranch.errors import SinkError
from anabranch.graph.model import Operator
from anabranch.graph.schema import Schema
from anabranch.operators.base import OperatorDefinition, SinkMeaning


class SinkDefinition(OperatorDefinition):
    """A definition of a sink. `ordered=False` gives the order up, and lets the sink be parallel."""

    ordered: bool = True

    @property
    def target(self) -> str | None:
        """What only one sink of a program may write to."""
        return None

    @property
    def can_be_checked(self) -> bool:
        """Whether `check` finds all that opening the sink would."""
        return True

    def check(self, operator: Operator) -> None:
        """Raise the `SinkError` that opening the sink would raise, as far as that can be known without being seen."""

    def check_schema(self, schema: Schema) -> None:
        """Raise a `BuildError` where tuples of this type cannot be written."""

    def meaning(self, operator: Operator) -> SinkMeaning:
        raise NotImplementedError


@contextmanager
def located(operator: Operator) -> Iterator[None]:
    """Name the operator's line in a `SinkError` that does not name one yet."""
    try:
        yield
    except SinkError as problem:
        if problem.location is None:
            problem.location = operator.location
        raise
