"""`count_distinct` in native code: each has a table of the values that windows have seen, or the record holds them.

An entry of a table is a window and a value. Where windows close together, or there is but one, the kernel empties the
table then. Where each closes at a time of its own it is known by a number, and what it has seen stays behind until the
table is full: then it is forgotten from outside (`NativeState.grow`). The record of a window of few tuples holds the
values itself: looking through them is faster than a table that is too large for the processor's caches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anabranch.codegen.native.accumulators import Accumulator, words_of
from anabranch.codegen.native.keyed import check_room, found_by, key_words, stored_as_new
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import ALWAYS, Value
from anabranch.codegen.types import type_of_attribute
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


MOST_HELD = 64  # tuples of a window whose record holds their values


@dataclass(eq=False)
class DistinctValues(Accumulator):
    """The window's record counts the values. Two variables say what a tuple adds."""

    code: WindowCode
    is_new: str
    value: str

    def add(self, item: Value, *, is_first: bool) -> None:
        self.kernel.fresh_each_tuple |= {self.is_new: "False", self.value: "0"}
        value = self._attribute(item, self.aggregate.attribute)
        if value.has == ALWAYS:
            self._see(value, is_first=is_first)
        else:
            with self.kernel.writer.block(f"if {value.has}:"):
                self._see(value.present(), is_first=is_first)

    def _see(self, value: Value, *, is_first: bool) -> None:
        writer = self.kernel.writer
        (word,) = key_words(self.kernel, [value.present()])
        writer.line(f"{self.value} = {word}")
        if is_first:
            writer.line(f"{self.is_new} = True")
        else:
            self._search()
        with writer.block(f"if {self.is_new}:"):
            writer.line(f"{self.names['distinct']} += 1")
            self._prepare()

    def _search(self) -> None:
        """Write whether the value is new to the window."""
        raise NotImplementedError

    def _prepare(self) -> None:
        """Write what a new value needs at once."""

    def check_room(self, windows: int) -> None:
        """For a tuple that may be new to so many windows."""

    def store(self) -> list[str]:
        """Lines that remember the value, once the tuple is through and the record has its slot."""
        return [f"if {self.is_new}:", *(f"    {line}" for line in self._stored())]

    def _stored(self) -> list[str]:
        raise NotImplementedError

    def forget(self) -> list[str]:
        """Lines that forget the values of all windows."""
        return []


@dataclass(eq=False)
class TableOfValues(DistinctValues):
    seen: Record

    def _search(self) -> None:
        self.kernel.writer.line(f"{self.is_new} = {found_by(self.kernel, self.seen, self._words())} < 0")

    def _prepare(self) -> None:
        if self.code.ring is not None:  # which is shorter than any table
            for line in self._stored():
                self.kernel.writer.line(line)
        elif self.code.shape not in ("sliding time", "listed time"):  # there, a tuple is new to several windows
            self.check_room(1)

    def check_room(self, windows: int) -> None:
        check_room(self.kernel, self.seen, windows)

    def forget(self) -> list[str]:
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


@dataclass(eq=False)
class HeldValues(DistinctValues):
    """Values in the tail of the window's record; `place` is theirs among those of other aggregates."""

    place: int

    def _search(self) -> None:
        writer, known, at = self.kernel.writer, self.kernel.writer.fresh("is_known"), self.kernel.writer.fresh("held")
        self.kernel.uses("natural")
        first = writer.fresh("first_value")
        writer.line(f"{first}, {known} = {self._at('0')}, False")
        with writer.block(f"for {at} in range({self.names['distinct']}):"):  # of all: then several are compared at once
            place = f"natural({first} + {at} * {self.code.record.entry})"
            writer.line(f"{known} |= {self.code.record.records(self.kernel)}[{place}] == {self.value}")
        writer.line(f"{self.is_new} = not {known}")

    def _stored(self) -> list[str]:
        last = f"({self.names['distinct']} - 1)"
        return [f"{self.code.record.records(self.kernel)}[natural({self._at(last)})] = {self.value}"]

    def _at(self, number: str) -> str:
        record = self.code.record
        start = record.width - record.tail + self.place
        return f"{self.code.slot} * {record.width} + {start} + {number} * {record.entry}"


def held_values(definition: WindowAggregate) -> list[str]:
    """The aggregates whose values a record holds."""
    window = definition.window
    is_short = window.measure == "count" and window.shape == "tumbling" and window.length <= MOST_HELD
    if not is_short or not (definition.key_names or definition.group_by):
        return []
    return [name for name, each in definition.columns
            if isinstance(each, Aggregate) and each.function == "count_distinct"]  # fmt: skip


def distinct_values(code: WindowCode, name: str, aggregate: Aggregate) -> DistinctValues:
    """The aggregate's variables, as words of a window's record, and where its values are."""
    kernel, operator = code.kernel, code.operator
    assert aggregate.attribute is not None
    kind = type_of_attribute(operator.inputs[0].schema[aggregate.attribute])
    names, kinds = words_of(kernel, code.contents, operator, name, aggregate)
    prefix = kernel.writer.fresh(f"{code.prefix}_{name}_seen")
    is_new, value = kernel.writer.fresh(f"{prefix}_new"), kernel.writer.fresh(f"{prefix}_value")
    held = held_values(code.definition)
    if held:
        place = held.index(name)
        code.record.entry, code.record.tail = len(held), len(held) * int(code.definition.window.length)
        code.record.texts += (place,) if kind.kind == "str" else ()
        return HeldValues(kernel, aggregate, names, kinds, kind, code.size, code, is_new, value, place)
    window = _window(code)
    if window == "opened":
        code.word("opened", "int")
    seen = Record(
        seen_by(operator.id, name), prefix, ("int", kind.kind) if window else (kind.kind,), shape="seen",
        windows_of=operator.id, window=window,
    )  # fmt: skip
    kernel.records[seen.operator] = seen
    return TableOfValues(kernel, aggregate, names, kinds, kind, code.size, code, is_new, value, seen)


def seen_by(operator_id: str, name: str) -> str:
    """What the table of an aggregate goes by, among the operators."""
    return f"{operator_id}: {name}"


def _window(code: WindowCode) -> str:
    """By which of its words a window is known in the table, or by its slot; none where there is one at a time."""
    if not code.contents.is_keyed:
        return ""
    return "slot" if code.shape in ("shared clock", "punctuated", "count of groups", "sliding count") else "opened"
