"""Operators are fused as `.place(pe=…)` says: those of one name, and the ones without any that follow one another."""

from __future__ import annotations

from anabranch.graph.model import Operator


def separates(one: Operator, other: Operator) -> bool:
    """Whether an operator and one that takes what it gives should be in two PEs."""
    return one.hints.pe != other.hints.pe or one.hints.alone or other.hints.alone
