"""Results kept by class, found by identity: a user's metaclass may have its own idea of when two classes are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class PerClass(Generic[R]):
    """A function of a class and perhaps a name, computed once for each in an analysis."""

    def __init__(self, function: Callable[..., R]) -> None:
        _every.append(self)
        self._function = function
        self._known: dict[tuple[int, str], tuple[type, R]] = {}
        self.__doc__ = function.__doc__

    def __call__(self, cls: type, name: str = "") -> R:
        known = self._known.get((id(cls), name))
        if known is None:
            result = self._function(cls, name) if name else self._function(cls)
            known = self._known[id(cls), name] = (cls, result)
        return known[1]

    def forget(self) -> None:
        self._known.clear()


_every: list[PerClass[Any]] = []


def forget_classes() -> None:
    """At the start of each analysis: classes may have been given other methods since the last one."""
    for known in _every:
        known.forget()
