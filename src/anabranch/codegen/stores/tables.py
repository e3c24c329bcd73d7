"""The records of native state from outside of kernels: found by key, read, written and added one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.codegen.stores.words import Path, key_of_words, words_of_key

if TYPE_CHECKING:
    from anabranch.codegen.native.arrays import Array
    from anabranch.codegen.native.state import NativeState


class Table:
    """The records that `state` has under a name: those of an operator, or what stands beside them."""

    def __init__(self, state: NativeState, name: str) -> None:
        from anabranch.codegen.runtime import tables

        self.tables = tables
        self.state = state
        self.each = state.operators[name]
        self.record = self.each.record
        self.pool = state.pool
        self.places: dict[Path, int] = {}
        self.kinds: dict[Path, str] = {}
        for word in self.record.words:
            self.places[word.path], self.kinds[word.path] = self.record.place(word), word.kind

    @property
    def count(self) -> int:
        return self.state.count(self.record)

    def cell(self, what: str) -> int:
        return self.state.cell(f"{self.record.prefix}_{what}")

    def set_cell(self, what: str, value: int) -> None:
        self.state.set_cell(f"{self.record.prefix}_{what}", value)

    def rows(self) -> Array:
        return self.each.rows(self.count)

    # One record ---------------------------------------------------------------------------------------------------

    def key_words(self, values: Sequence[Any]) -> tuple[int, ...]:
        return words_of_key(self.record.key_kinds, values, self.pool)

    def find(self, words: tuple[int, ...]) -> int:
        """The slot of a key, or a negative number."""
        if not self.record.is_keyed:
            return 0
        return self.tables.find(self.each.table, self.each.keys, words, self.cell("before"))

    def row(self, slot: int) -> list[int]:
        width = max(self.record.width, 1)
        found: list[int] = self.each.records[slot * width : (slot + 1) * width].tolist()
        return found

    def key(self, row: Sequence[int]) -> list[Any]:
        return key_of_words(self.record.key_kinds, row, self.pool)

    def get(self, slot: int, what: str) -> int:
        """A word of an operator's own, as it is stored."""
        return int(self.each.records[slot * self.record.width + self.places["", what]])

    def set(self, slot: int, words: Mapping[Path, int]) -> None:
        base = slot * self.record.width
        for path, word in words.items():
            self.each.records[base + self.places[path]] = word
        self.each.changed[slot] = 1

    def put(self, slot: int, **words: int) -> None:
        self.set(slot, {("", what): word for what, word in words.items()})

    def set_tail(self, slot: int, start: int, step: int, words: Sequence[int]) -> None:
        """Words behind those that have names, from number `start` on, `step` apart."""
        first = slot * self.record.width + self.record.width - self.record.tail + start
        self.each.records[first : first + step * len(words) : step] = words
        self.each.changed[slot] = 1

    def add(self, words: tuple[int, ...]) -> int:
        """A new record, of zeros; the arrays may be replaced by larger ones."""
        slot = self.count
        if slot + 1 > self.each.room:
            self.each.make_room()
            self.state.rebuild(self.each)
        self.tables.insert(self.each.table, self.each.keys, words, slot, self.cell("before"))
        base = slot * self.record.width
        self.each.records[base : base + self.record.width] = 0
        self.each.records[base : base + len(words)] = words
        self.each.changed[slot] = 1
        self.set_cell("count", slot + 1)
        return slot

    def found(self, words: tuple[int, ...]) -> int:
        """The slot of a key, which becomes one of the table's."""
        slot = self.find(words)
        return slot if slot >= 0 else self.add(words)

    def forget_all(self) -> None:
        if self.record.is_emptied:
            self.set_cell("before", self.cell("before") + self.count)
        else:
            self.each.table[:] = 0
        self.set_cell("count", 0)


def together(values: Sequence[Any]) -> Any:
    """The values of a key's attributes as `key_reader` gives them,"""
    return values[0] if len(values) == 1 else tuple(values)


def apart(key: Any, names: Sequence[str]) -> list[Any]:
    """and as they were."""
    return [key] if len(names) == 1 else list(key or ())
