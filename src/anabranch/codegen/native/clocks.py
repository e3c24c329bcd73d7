"""The clock by which windows over time close: the stream's, or one for each key.

A clock has `reached` a boundary, and knows the stretch of time [low, high) behind it: most tuples only compare with
that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.codegen.native.keyed import check_room, found_by, marked, stored_as_new
from anabranch.codegen.native.records import Record
from anabranch.graph.values import LARGEST_INT

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


@dataclass(frozen=True)
class Passage:
    """What the time of a tuple does, as variables: the last boundary at or before it, and whether that is new.

    The windows of the tuple that are still open end at the boundaries from `first` to `last`.
    """

    boundary: str
    crosses: str
    next_low: str
    next_high: str
    first: str
    last: str
    is_late: str  # an expression


class Clock:
    """The variables of a clock; that of a key is a record."""

    def __init__(self, code: WindowCode, of_key: tuple[str, ...] = ()) -> None:
        self.code, self.kernel = code, code.kernel
        self.record: Record | None = None
        self.slot, self.words = "", [""]
        kind = "float" if code.is_float else "int"
        if not of_key:
            self.begun, self.reached = (self.kernel.cell(f"{code.prefix}_{what}") for what in ("begun", "reached"))
            make = self.kernel.float_cell if code.is_float else self.kernel.cell
            self.low, self.high = make(f"{code.prefix}_low"), make(f"{code.prefix}_high")
            return
        prefix = self.kernel.writer.fresh(f"{code.prefix}_clocks")
        self.record = Record(clocks_of(code.operator.id), prefix, of_key, shape="clocks", windows_of=code.operator.id)
        self.kernel.records[self.record.operator] = self.record
        self.begun, self.reached, self.low, self.high = (
            self.record.add(self.kernel.writer.fresh(f"{prefix}_{what}"), each, ("", what)).name
            for what, each in (("begun", "int"), ("reached", "int"), ("low", kind), ("high", kind))
        )

    def find(self, of_key: list[str]) -> None:
        """Write the search for the clock of a key."""
        if self.record is None:
            return
        writer = self.kernel.writer
        self.slot, self.words = writer.fresh(f"{self.record.prefix}_slot"), of_key
        zero = "0.0" if self.code.is_float else "0"
        writer.line(f"{self.slot} = {found_by(self.kernel, self.record, of_key)}")
        with writer.block(f"if {self.slot} >= 0:"):
            for line in self.record.load(self.kernel, self.slot):
                writer.line(line)
        with writer.block("else:"):
            check_room(self.kernel, self.record)
            writer.line(f"{self.begun}, {self.reached}, {self.low}, {self.high} = 0, 0, {zero}, {zero}")

    def passage(self, time: str, close: Callable[[str], None]) -> Passage:
        """Write what a tuple's time does; `close` writes what the windows emit that end up to a boundary."""
        code, writer, many = self.code, self.kernel.writer, self.code.overlapping
        boundary, crosses, next_low, next_high, first, last = (
            writer.fresh(f"{code.prefix}_{what}")
            for what in ("boundary", "crosses", "next_low", "next_high", "first_end", "last_end")
        )
        writer.line(f"{boundary}, {crosses} = {self.reached}, False")
        writer.line(f"{next_low}, {next_high} = {self.low}, {self.high}")
        with writer.block(f"if not {self.low} <= {time} < {self.high}:"):
            writer.line(f"{boundary} = {code.boundary(time)}")
            if not code.is_float:
                self.kernel.check(f"{boundary} > {LARGEST_INT - many - 1}")  # the windows behind it have no index
            with writer.block(f"if {self.begun} == 0 or {boundary} > {self.reached}:"):
                writer.line(f"{crosses} = True")
                with writer.block(f"if {self.begun} != 0:"):
                    close(boundary)
                writer.line(f"{next_low} = {code.point(boundary)}")
                writer.line(f"{next_high} = {code.point(f'({boundary} + 1)')}")
        writer.line(f"{first} = {boundary} + 1 if {crosses} else max({boundary}, {self.reached}) + 1")
        writer.line(f"{last} = {boundary} + {many}")
        is_late = f"{last} <= {self.reached} and not {crosses}"
        if not code.divides:  # then the last window may begin after the tuple, and between windows there may be none
            start = code.point(last, before=True)
            writer.line(f"if {time} < {start}: {last} -= 1")
            is_late += f" and {last} > {boundary}"
        return Passage(boundary, crosses, next_low, next_high, first, last, is_late)

    def moved(self, to: Passage) -> list[str]:
        """Lines that set the clock."""
        lines = [
            f"{self.begun}, {self.reached}, {self.low}, {self.high} = 1, {to.boundary}, {to.next_low}, {to.next_high}"
        ]
        if self.record is None:
            return lines
        return [
            *lines,
            f"if {self.slot} < 0:",
            *(f"    {line}" for line in stored_as_new(self.kernel, self.record, self.slot, self.words)),
            "else:",
            *(f"    {line}" for line in self.record.store(self.kernel, self.slot)),
            *(f"    {line}" for line in marked(self.kernel, self.record, self.slot)),
        ]


def clocks_of(operator_id: str) -> str:
    """What the table of the keys' clocks goes by, among the operators."""
    return f"{operator_id}: its clocks"
