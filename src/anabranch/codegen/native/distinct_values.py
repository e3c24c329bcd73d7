"""`count_distinct` in native code: each has a table of the values that windows have seen.

An entry is a window and a value. Where windows close together, or there is but one, the kernel empties the table then.
Where each closes at a time of its own it is known by a number, and what it has seen stays behind until the table is
full: then it is forgotten from outside (`NativeState.grow`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.codegen.native.accumulators import Accumulator, words_of
from anabranch.codegen.native.keyed import check_room, found_by, key_words, stored_as_new
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import ALWAYS, Value
from anabranch.codegen.types import type_of_attribute
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


@dataclass(eq=False)
class DistinctValues(Accumulator):
    """The window's record counts the values; `seen` has them. Two variables say what a tuple adds."""

    code: WindowCode
    seen: Record
    is_new: str
    value: str

    def begin(self) -> list[str]:
        # What a sliding window by count holds is added anew for every output.
        return [*super().begin(), *(self.forget() if self.code.ring is not None else ())]

    def add(self, item: Value, *, is_first: bool) -> None:
        self.kernel.fresh_each_tuple |= {self.is_new: "False", self.value: "0"}
        value = self._attribute(item, self.aggregate.attribute)
        if value.has == ALWAYS:
            self._see(value, is_first=is_first)
        else:
            with self.kernel.writer.block(f"if {value.has}:"):
                self._see(value.present(), is_first=is_first)

    def _see(self, value: Value, *, is_first: bool) -> None:
        kernel, writer = self.kernel, self.kernel.writer
        (word,) = key_words(kernel, [value.present()])
        writer.line(f"{self.value} = {word}")
        writer.line(f"{self.is_new} = {ALWAYS if is_first else f'{found_by(kernel, self.seen, self._words())} < 0'}")
        with writer.block(f"if {self.is_new}:"):
            writer.line(f"{self.names['distinct']} += 1")
            if self.code.ring is not None:  # which is shorter than any table
                for line in self._stored():
                    writer.line(line)
            elif self.code.shape != "sliding time":  # there, a tuple is new to several windows
                check_room(kernel, self.seen)

    def check_room(self, windows: int) -> None:
        """For a tuple that may be new to so many windows."""
        check_room(self.kernel, self.seen, windows)

    def store(self) -> list[str]:
        """Lines that remember the value, once the tuple is through."""
        return [f"if {self.is_new}:", *(f"    {line}" for line in self._stored())]

    def forget(self) -> list[str]:
        """Lines that empty the table."""
        before, count = (self.kernel.cell(f"{self.seen.prefix}_{what}") for what in ("before", "count"))
        return [f"{before} += {count}", f"{count} = 0"]

    def _stored(self) -> list[str]:
        slot = self.kernel.writer.fresh(f"{self.seen.prefix}_slot")
        return stored_as_new(self.kernel, self.seen, slot, self._words())

    def _words(self) -> list[str]:
        match self.seen.window:
            case "slot":
                return [self.code.slot, self.value]
            case "opened":
                return [self.code.word("opened", "int"), self.value]
        return [self.value]


def distinct_values(code: WindowCode, name: str, aggregate: Aggregate) -> DistinctValues:
    """The aggregate's variables, as words of a window's record, and its table."""
    kernel, operator = code.kernel, code.operator
    assert aggregate.attribute is not None
    kind = type_of_attribute(operator.inputs[0].schema[aggregate.attribute])
    names, kinds = words_of(kernel, code.contents, operator, name, aggregate)
    prefix = kernel.writer.fresh(f"{code.prefix}_{name}_seen")
    window = _window(code)
    if window == "opened":
        code.word("opened", "int")
    seen = Record(
        seen_by(operator.id, name), prefix, ("int", kind.kind) if window else (kind.kind,), shape="seen",
        windows_of=operator.id, window=window,
    )  # fmt: skip
    kernel.records[seen.operator] = seen
    is_new, value = kernel.writer.fresh(f"{prefix}_new"), kernel.writer.fresh(f"{prefix}_value")
    return DistinctValues(kernel, aggregate, names, kinds, kind, code.size, code, seen, is_new, value)


def seen_by(operator_id: str, name: str) -> str:
    """What the table of an aggregate goes by, among the operators."""
    return f"{operator_id}: {name}"


def _window(code: WindowCode) -> str:
    """By which of its words a window is known in the table, or by its slot; none where there is one at a time."""
    is_keyed = code.record.is_keyed and code.ring is None
    if code.shape in ("shared clock", "punctuated", "count of groups"):
        return "slot" if is_keyed else ""
    return "opened" if is_keyed else ""
