"""Writing generated code: lines, blocks and fresh names."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager

from anabranch.codegen import runtime

# Names that generated code has without asking for them here.
_TAKEN = re.compile(r"slot|i\d+|held\d+.*|close_\d+|.*_before")


class Writer:
    """Lines of Python, indented."""

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self._names = dict.fromkeys((*reserved, *runtime.__all__), True)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def insert(self, position: int, text: str) -> None:
        """A line in front of what was written since `position`, in the block that is open now."""
        self.lines.insert(position, "    " * self.depth + text)

    @property
    def position(self) -> int:
        return len(self.lines)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        self.line(header)
        self.depth += 1
        start = self.position
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[start:]):
            self.line("pass")
        self.depth -= 1

    @contextmanager
    def aside(self) -> Iterator[list[str]]:
        """Lines for another place."""
        lines, depth = self.lines, self.depth
        self.lines, self.depth = [], 0
        yield self.lines
        self.lines, self.depth = lines, depth

    def fresh(self, hint: str) -> str:
        """A name that nothing else has; where it can be, the hint itself."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", hint).strip("_") or "value"
        if base[0].isdigit() or _TAKEN.fullmatch(base):
            base = f"v_{base}"
        name, number = base, 1
        while name in self._names or keyword.iskeyword(name):
            number += 1
            name = f"{base}_{number}"
        self._names[name] = True
        return name

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"
