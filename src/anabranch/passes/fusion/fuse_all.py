"""All operators of a place are one processing element, but for those that are to be by themselves."""

from __future__ import annotations

from anabranch.graph.model import Operator


def separates(one: Operator, other: Operator) -> bool:
    """Whether an operator and one that takes what it gives should be in two PEs."""
    return one.hints.alone or other.hints.alone
