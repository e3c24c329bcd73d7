"""The names of generated code: unique, readable, and what those that are not locals stand for."""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

_LITERALS = (int, float, str, bytes, bool, type(None))
_LONGEST_LITERAL = 60


class Names:
    """Names of one generated file. `objects` is its global namespace."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self._names_of: dict[int, str] = {}
        self._kept: list[Any] = []  # so that no id is used twice
        self._taken: dict[str, int] = {}

    def new(self, hint: str) -> str:
        """A name like the hint that nothing else has."""
        base = re.sub(r"\W", "_", hint).strip("_") or "value"
        if not base.isascii() or base[0].isdigit() or keyword.iskeyword(base):
            base = f"value_{base}" if base.isascii() else "value"
        number = self._taken.get(base, 0) + 1
        self._taken[base] = number
        return f"{base}_{number}"

    def constant(self, value: Any, hint: str) -> str:
        """An expression for an object that stays the same: a literal, or a global name."""
        if type(value) in _LITERALS and not (type(value) is float and not math.isfinite(value)):
            text = repr(value)
            if len(text) <= _LONGEST_LITERAL:
                return f"({text})" if text.startswith("-") else text
        known = self._names_of.get(id(value))
        if known is None:
            known = self._names_of[id(value)] = self.new(hint)
            self._kept.append(value)
            self.objects[known] = value
        return known
