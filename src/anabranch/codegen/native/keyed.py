"""Finding the record of a key, and keeping it at the end of the tuple."""

from __future__ import annotations

import re
from functools import lru_cache

from anabranch.codegen.native.kernel import Kernel, Lookup
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import ALWAYS, Value


def key_words(kernel: Kernel, values: list[Value]) -> list[str]:
    """The words of a key's value: equal words for equal keys (design, section 2: -0.0 is 0.0, NaN equals itself)."""
    words: list[str] = []
    for value in values:
        has_flag = value.type.optional
        match value.type.kind:
            case "float":
                kernel.uses("float_key")
                word = f"float_key({value.code})"
            case "bool":
                word = f"np.int64({value.code})"
            case "str":
                word = kernel.text_number(value)
            case _:
                word = value.code
        if has_flag:
            words.append(f"np.int64({value.has})")
            if value.has != ALWAYS:
                word = f"({word} if {value.has} else 0)"
        words.append(word)
    return words


def find_slot(kernel: Kernel, record: Record, key: list[Value], new: list[str]) -> tuple[str, list[str]]:
    """Write the search for a record and the loading of its variables, or what a new one begins with."""
    writer = kernel.writer
    if not record.is_keyed:
        for line in record.load(kernel, "0"):
            writer.line(line)
        return "0", []
    words = named_words(kernel, record, key)
    slot = writer.fresh(f"{record.prefix}_slot")
    search = f"{slot} = {found_by(kernel, record, words)}"
    if not record.is_emptied and all(_is_ahead(kernel, each) for each in key):
        kernel.lookups[search] = Lookup(slot, found_by(kernel, record, key_words(kernel, key)))
    writer.line(search)
    with writer.block(f"if {slot} >= 0:"):
        for line in record.load(kernel, slot):
            writer.line(line)
    with writer.block("else:"):
        check_room(kernel, record)
        for line in new:
            writer.line(line)
    return slot, words


def _is_ahead(kernel: Kernel, value: Value) -> bool:
    """Whether a value of a key is there before its tuple's turn. (A string has no number yet: the pool may be full.)"""
    is_number = value.type.kind in ("int", "float", "bool")
    return is_number and kernel.is_input(value.code) and (value.has == ALWAYS or kernel.is_input(value.has))


def named_words(kernel: Kernel, record: Record, key: list[Value]) -> list[str]:
    """The words of a key, in variables."""
    words = []
    for word in key_words(kernel, key):
        words.append(kernel.writer.fresh(f"{record.prefix}_key"))
        kernel.writer.line(f"{words[-1]} = {word}")
    return words


def check_room(kernel: Kernel, record: Record, more: int = 1) -> None:
    """A new key needs a slot; where there is none, the tuple waits until there is."""
    count, room = kernel.cell(f"{record.prefix}_count"), kernel.cell(f"{record.prefix}_room")
    kernel.writer.line(f"if {count} + {more} > {room}: full = {1000 + list(kernel.records).index(record.operator)}")


def _before(kernel: Kernel, record: Record) -> str:
    """A table that is emptied now and then counts its slots on."""
    return f", {kernel.cell(f'{record.prefix}_before')}" if record.is_emptied else ""


def found_by(kernel: Kernel, record: Record, words: list[str]) -> str:
    before = _before(kernel, record)
    if len(words) == 1:
        kernel.uses("find1")
        return f"find1({record.table(kernel)}, {words[0]}{before})"
    kernel.uses("findw")
    return f"findw({record.table(kernel)}, {record.keys(kernel)}, ({', '.join(words)}){before})"


def placed(kernel: Kernel, record: Record, words: list[str], slot: str) -> str:
    before = _before(kernel, record)
    if len(words) == 1:
        kernel.uses("insert1")
        return f"insert1({record.table(kernel)}, {words[0]}, {slot}{before})"
    kernel.uses("insertw")
    return f"insertw({record.table(kernel)}, {record.keys(kernel)}, ({', '.join(words)}), {slot}{before})"


def keep(kernel: Kernel, record: Record, slot: str, words: list[str], since: int, more: tuple[str, ...] = ()) -> None:
    """When the tuple is through: a new key gets its slot; of a record that was there, what was assigned is stored.

    `since` is the position in the writer behind which the record's variables were assigned.
    """
    assigned = _assigned(kernel.writer.lines[since:])
    if not record.is_keyed:
        kernel.commit([*record.store(kernel, "0", only=assigned), *more])
        return
    lines = [f"if {slot} < 0:", *[f"    {line}" for line in stored_as_new(kernel, record, slot, words)]]
    stores = [*record.store(kernel, slot, only=assigned), *marked(kernel, record, slot)]
    if stores:
        lines += ["else:", *[f"    {line}" for line in stores]]
    kernel.commit([*lines, *more])


def keep_found(kernel: Kernel, record: Record, slot: str, since: int, more: tuple[str, ...] = ()) -> None:
    """The same for a record that is known to be there."""
    assigned = _assigned(kernel.writer.lines[since:])
    kernel.commit([*record.store(kernel, slot, only=assigned), *marked(kernel, record, slot), *more])


def stored_as_new(kernel: Kernel, record: Record, slot: str, words: list[str]) -> list[str]:
    """Lines that give a key the next slot and store all of its record."""
    count = kernel.cell(f"{record.prefix}_count")
    placing = [f"{slot} = {count}", placed(kernel, record, words, slot), f"{count} += 1"]
    return [*placing, *record.store(kernel, slot, tuple(words)), *marked(kernel, record, slot)]


def marked(kernel: Kernel, record: Record, slot: str) -> list[str]:
    """A record that a save of changes must hold."""
    if not kernel.tracks_changes:
        return []
    changed = kernel.argument("state", (record.operator, "changed"), f"{record.prefix}_changed")
    return [f"{changed}[{slot}] = 1"]


_ASSIGNMENT = re.compile(r"\s*(\w+(?:, \w+)*) (?:[-+|]?=) ")


def _assigned(lines: list[str]) -> dict[str, None]:
    return dict.fromkeys(name for line in lines for name in _targets(line))


@lru_cache(maxsize=16384)  # a line counts for every operator that it is nested in
def _targets(line: str) -> tuple[str, ...]:
    target = _ASSIGNMENT.match(line)
    return tuple(target[1].split(", ")) if target else ()
