"""The arrays of a native processing element: records, tables, pool and cells, which grow between calls of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.codegen.native.arrays import Array
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.forgetting import forget_closed
from anabranch.codegen.native.kernel import FIRST_CELL, TEXTS
from anabranch.codegen.native.records import Record

_FORGET_AFTER = 100_000  # strings
_LARGE_TABLE = 2**16  # words; a smaller one grows in larger steps


def text_words(record: Record) -> list[int]:
    """The places of a record's words that are numbers of strings."""
    kinds = [*record.key_kinds, *(word.kind for word in record.words)]
    entries = range(len(kinds), record.width, record.entry) if record.tail else ()
    named = [at for at, kind in enumerate(kinds) if kind == "str"]
    return named + [at + text for at in entries for text in record.texts]


class OperatorState:
    """The records of one operator, and the table that finds them by key."""

    def __init__(self, record: Record) -> None:
        from anabranch.codegen.runtime import tables

        self.record = record
        self.table = tables.new_table() if record.is_keyed else np.zeros(0, np.int64)
        self.keys = tables.new_keys(self.table, len(record.key_kinds)) if len(record.key_kinds) > 1 else None
        self.records = np.zeros(self.room * max(record.width, 1), np.int64)
        self.changed = np.zeros(self.room, np.uint8)

    @property
    def room(self) -> int:
        return len(self.table) // 4 if self.record.is_keyed else 1

    def make_room(self) -> None:
        """For more records; the table has to be built anew afterwards."""
        factor = 8 if len(self.table) < _LARGE_TABLE else 2
        self.table = np.zeros(factor * len(self.table), np.int64)
        if self.keys is not None:
            self.keys = np.zeros(factor * len(self.keys), np.int64)
        records = np.zeros(self.room * max(self.record.width, 1), np.int64)
        records[: len(self.records)] = self.records
        changed = np.zeros(self.room, np.uint8)
        changed[: len(self.changed)] = self.changed
        self.records, self.changed = records, changed

    def build_table(self, count: int) -> None:
        """The table for the keys in the records."""
        from anabranch.codegen.runtime import tables

        if self.record.is_keyed:
            self.table[:] = 0
            tables.insert_all(self.table, self.keys, self.rows(count), len(self.record.key_kinds))

    def array(self, what: str) -> Array:
        if what == "floats":
            return self.records.view(np.float64)
        if what == "keys":
            assert self.keys is not None
            return self.keys
        found: Array = getattr(self, what)
        return found

    def rows(self, count: int) -> Array:
        """The records as a table, a row for each."""
        width = max(self.record.width, 1)
        return self.records[: count * width].reshape(count, width)

    def clear(self) -> tuple[Array, Array]:
        """Begin anew, in the same arrays. Gives what was in them, for `put_back`."""
        before = self.table.copy(), self.records.copy()
        self.table[:] = 0
        self.records[:] = 0
        return before

    def put_back(self, before: tuple[Array, Array]) -> None:
        self.table[:], self.records[:] = before


class NativeState:
    """All state of a native processing element."""

    def __init__(self, assembled: Assembled) -> None:
        from anabranch.codegen.runtime.string_pool import StringPool

        self.assembled = assembled
        self.meta = np.zeros(FIRST_CELL + len(assembled.cells), np.int64)
        self.words: memoryview[int] = memoryview(self.meta.data)  # the same, for Python: its items are ints
        self.operators = {name: OperatorState(record) for name, record in assembled.records.items()}
        self.pool = StringPool()
        for text in assembled.texts:
            self.pool.add(text)
        self.meta[TEXTS] = self.pool.count
        self.saved_texts = 0  # how many strings of the pool the last save held
        self._live_texts = self.pool.count

    def forget_texts(self) -> bool:
        """Strings that no record holds any more are forgotten now and then, so that the pool does not grow forever."""
        if self.pool.count < 2 * self._live_texts + _FORGET_AFTER:
            return False
        for each in self.operators.values():
            self._forget_closed(each)
        places = [(each, at) for each in self.operators.values() for at in text_words(each.record)]
        held = [each.rows(self.count(each.record))[:, at] for each, at in places]
        for numbers in held:
            # A record that began anew still has what a closed window held in its tail, perhaps of an older pool.
            numbers[numbers >= self.pool.count] = -1
        constants = np.arange(len(self.assembled.texts), dtype=np.int64)
        live = np.concatenate([constants, *held])
        renumbered = self.pool.compact(live[live >= 0])
        for numbers in held:
            numbers[numbers >= 0] = renumbered[numbers[numbers >= 0]]
        for each in self.operators.values():
            self.rebuild(each)
            each.changed[:] = 1
        self.saved_texts = 0
        self._live_texts = self.pool.count
        return True

    def rebuild(self, operator: OperatorState) -> None:
        """The table of an operator, from the keys in its records."""
        operator.build_table(self.count(operator.record))
        self.set_cell(f"{operator.record.prefix}_before", 0)

    def grow(self, operator_id: str) -> None:
        each = self.operators[operator_id]
        if not self._forget_closed(each):
            each.make_room()
        self.rebuild(each)

    def _forget_closed(self, each: OperatorState) -> bool:
        """Forget what is of windows that have closed, where the kernel does not; whether that made much room."""
        before = self.count(each.record)
        if each.record.is_left_behind:
            forget_closed(self, each)
            return self.count(each.record) <= min(each.room // 4, before - 1)
        if each.record.window != "opened":
            return False
        return self._forget_values(each) and self.count(each.record) < before

    def _forget_values(self, seen: OperatorState) -> bool:
        windows = self.operators[seen.record.windows_of]
        rows, values = windows.rows(self.count(windows.record)), seen.rows(self.count(seen.record))
        size, opened = (windows.record.place_of("", what) for what in ("size", "opened"))
        kept = values[np.isin(values[:, 0], rows[rows[:, size] != 0, opened])]
        values[: len(kept)] = kept
        self.set_cell(f"{seen.record.prefix}_count", len(kept))
        seen.changed[:] = 1
        # Else this would soon be needed again, and it looks through both tables.
        return len(rows) <= seen.room and len(kept) <= seen.room // 4

    def cell(self, name: str) -> int:
        cell = self.assembled.cells.get(name)
        return self.words[cell.place] if cell is not None else 0

    def set_cell(self, name: str, value: int) -> None:
        cell = self.assembled.cells.get(name)
        if cell is not None:
            self.words[cell.place] = value

    def count(self, record: Record) -> int:
        """How many records an operator has."""
        return self.cell(f"{record.prefix}_count") if record.is_keyed else 1

    def set_rooms(self) -> None:
        self.meta[TEXTS] = self.pool.count
        for state in self.operators.values():
            if state.record.is_keyed:
                self.set_cell(f"{state.record.prefix}_room", state.room)

    def arrays(self) -> list[Array]:
        """All that may be replaced by larger ones."""
        pool = self.pool
        own = [array for each in self.operators.values() for array in (each.table, each.records)]
        return [*own, pool.table, pool.offsets, pool.bytes]

    def is_moved(self, before: list[Array]) -> bool:
        return any(one is not other for one, other in zip(self.arrays(), before, strict=True))

    def argument(self, role: str, of: tuple[Any, ...]) -> Array:
        if role == "pool":
            found: Array = getattr(self.pool, of[0])
            return found
        return self.operators[of[0]].array(of[1])
