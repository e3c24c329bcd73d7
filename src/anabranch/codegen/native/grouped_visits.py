"""Windows with groups in native code, where it is not enough to close records by themselves or in order of arrival.

Windows by count hold all groups together, and close with a tuple that is in one of them. With a key and groups, the
groups of one key stand together, keys in the order of their first tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anabranch.codegen.native.keyed import check_room, found_by, marked, named_words, stored_as_new
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import Value

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


def by_count(code: WindowCode, item: Value) -> None:
    """A record per group; the window closes with its n-th tuple, whose record may be a new one."""
    kernel, writer, record, prefix = code.kernel, code.kernel.writer, code.record, code.prefix
    tuples, count = kernel.cell(f"{prefix}_tuples"), kernel.cell(f"{prefix}_count")
    words = named_words(kernel, record, code.key(item))
    slot = code.slot = writer.fresh(f"{prefix}_slot")
    writer.line(f"{slot} = {found_by(kernel, record, words)}")
    with writer.block(f"if {slot} >= 0:"):
        for line in record.load(kernel, slot):
            writer.line(line)
        code.add(item)
    with writer.block("else:"):
        check_room(kernel, record)
        code.begin(item)
    with writer.block(f"if {tuples} + 1 == {int(code.definition.window.length)}:"):
        mine, at = writer.fresh("mine"), writer.fresh("at")
        writer.line(f"{mine} = {slot} if {slot} >= 0 else {count}")
        with kernel.in_loop(), writer.block(f"for {at} in range(max({count}, {mine} + 1)):"):
            code.emit_record(at, mine=mine)
        before = kernel.cell(f"{prefix}_before")
        kernel.commit([f"{tuples} = 0", f"{before} += {count}", f"{count} = 0", *code.forget_values()])
    with writer.block("else:"):
        kernel.commit([
            f"{tuples} += 1",
            f"if {slot} < 0:",
            *(f"    {line}" for line in stored_as_new(kernel, record, slot, words)),
            "else:",
            *(f"    {line}" for line in (*record.store(kernel, slot), *marked(kernel, record, slot))),
            *code.store_values(),
        ])  # fmt: skip


class KeyOrder:
    """The records of a window in the order in which they close, as a list: each knows the one that follows it.

    A new group stands behind the last one of its key, which a table of keys knows.
    """

    def __init__(self, code: WindowCode, of_key: tuple[str, ...]) -> None:
        self.code, self.kernel = code, code.kernel
        prefix = self.kernel.writer.fresh(f"{code.prefix}_keys")
        self.keys = Record(f"{code.operator.id}: its keys", prefix, of_key, shape="keys", windows_of=code.operator.id)
        self.tail = self.keys.add(self.kernel.writer.fresh(f"{prefix}_tail"), "int", ("", "tail")).name
        self.kernel.records[self.keys.operator] = self.keys
        self.next = code.word("next", "int")

    def place_of_next(self, slot: str) -> str:
        self.kernel.uses("natural")
        record = self.code.record
        return f"{record.records(self.kernel)}[natural({slot} * {record.width} + {record.place_of('', 'next')})]"

    def link(self, words: list[str], slot: str) -> list[str]:
        """Write where a new record belongs; gives the lines that put it there, once it has its slot."""
        kernel, writer, keys = self.kernel, self.kernel.writer, self.keys
        of_key, last = words[: len(keys.key_kinds)], kernel.cell(f"{keys.prefix}_last")
        key, after = writer.fresh(f"{keys.prefix}_slot"), writer.fresh("after")
        writer.line(f"{key} = {found_by(kernel, keys, of_key)}")
        with writer.block(f"if {key} >= 0:"):
            for line in keys.load(kernel, key):
                writer.line(line)
            writer.line(f"{after} = {self.tail}")
        with writer.block("else:"):
            check_room(kernel, keys)
            writer.line(f"{after} = {last}")
        writer.line(f"{self.next} = {self.place_of_next(after)} if {after} >= 0 else -1")
        return [
            f"if {after} >= 0:",
            f"    {self.place_of_next(after)} = {slot}",
            *(f"    {line}" for line in marked(kernel, self.code.record, after)),
            f"if {after} == {last}: {last} = {slot}",
            f"{self.tail} = {slot}",
            f"if {key} < 0:",
            *(f"    {line}" for line in stored_as_new(kernel, keys, key, of_key)),
            "else:",
            *(f"    {line}" for line in (*keys.store(kernel, key), *marked(kernel, keys, key))),
        ]

    def emptied(self) -> list[str]:
        """Lines for a window in which there is nothing yet."""
        before, count, last = (self.kernel.cell(f"{self.keys.prefix}_{what}") for what in ("before", "count", "last"))
        return [f"{before} += {count}", f"{count} = 0", f"{last} = -1"]

    def begin(self, words: list[str], slot: str) -> list[str]:
        """The same for the first record of a window."""
        kernel, writer, keys = self.kernel, self.kernel.writer, self.keys
        key, last = writer.fresh(f"{keys.prefix}_slot"), kernel.cell(f"{keys.prefix}_last")
        writer.line(f"{self.next} = -1")
        return [
            *self.emptied(),
            f"{last} = {slot}",
            f"{self.tail} = {slot}",
            *stored_as_new(kernel, keys, key, words[: len(keys.key_kinds)]),
        ]


@contextmanager
def each_record(code: WindowCode, count: str) -> Iterator[str]:
    """A loop over the records of a window, in the order in which they close."""
    writer = code.kernel.writer
    at = writer.fresh("at")
    if code.order is None:
        with writer.block(f"for {at} in range({count}):"):
            yield at
        return
    writer.line(f"{at} = 0 if {count} > 0 else -1")
    with writer.block(f"while {at} >= 0:"):
        yield at
        writer.line(f"{at} = {code.order.place_of_next(at)}")
