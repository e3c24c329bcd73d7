"""State of a window that is kept in locals while a loop runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from anabranch.codegen.python.names import Names

Add = Callable[[str], None]  # a line
_OF_WINDOW = ("low", "high", "zone", "current")


@dataclass(frozen=True)
class Registers:
    """The window that time has reached (`TimeSlots`), and the entries of its slot where there is only one.

    `window` are locals, or attributes where there are none (`is_local`). While `slot` is a list, `entries` are newer.
    """

    windows: str
    window: tuple[str, ...]
    is_local: bool
    slot: str
    entries: tuple[str, ...]
    nowhere: str

    def load(self, add: Add) -> None:
        if not self.is_local:
            return
        add(f"{', '.join(self.window)} = {', '.join(f'{self.windows}.{name}' for name in _OF_WINDOW)}")
        if self.entries:
            low, high, zone, current = self.window
            add(f"{self.slot} = {current}.get(())")
            add(f"if {self.slot} is not None: {', '.join(self.entries)}, = {self.slot}")
            add(f"else: {low}, {high}, {zone} = {self.nowhere}")

    def put_back(self, add: Add) -> None:
        if self.entries:
            add(f"if {self.slot} is not None: {self.slot}[:] = {', '.join(self.entries)},")
            add(f"{self.slot} = None")


def registers(windows: str, names: Names, entries: int, is_local: bool) -> Registers:
    if not is_local:
        return Registers(windows, tuple(f"{windows}.{name}" for name in _OF_WINDOW), False, "", (), "")
    return Registers(
        windows,
        tuple(names.new(name) for name in _OF_WINDOW),
        True,
        names.new("slot"),
        tuple(names.new("entry") for _ in range(entries)),
        f"{names.constant(inf, 'inf')}, {names.constant(-inf, 'inf')}, {names.constant(Registers, 'nowhere')}",
    )
