"""Every operator is a processing element of its own; only those that are to be together are."""

from __future__ import annotations

from anabranch.graph.model import Operator


def separates(one: Operator, other: Operator) -> bool:
    """Whether an operator and one that takes what it gives should be in two PEs."""
    return True
