"""Long lists of names, written as text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """
    >>> sorted(words("pop append"))
    ['append', 'pop']
    """
    return frozenset(text.split())
