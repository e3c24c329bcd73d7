"""Finding the record of a key, and keeping it at the end of the tuple."""

from __future__ import annotations

from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.values import ALWAYS, Value

NOT_VISITED = -2
NEW = -1


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
    slot = kernel.begins_with(f"{record.prefix}_slot", str(NOT_VISITED))
    if not record.is_keyed:
        writer.line(f"{slot} = 0")
        for line in record.load(kernel, "0"):
            writer.line(line)
        return slot, []
    words = []
    for word in key_words(kernel, key):
        name = kernel.begins_with(f"{record.prefix}_key", "0")
        writer.line(f"{name} = {word}")
        words.append(name)
    writer.line(f"{slot} = {found_by(kernel, record, words)}")
    if record.words:
        with writer.block(f"if {slot} >= 0:"):
            for line in record.load(kernel, slot):
                writer.line(line)
        with writer.block("else:"):
            for line in new:
                writer.line(line)
    return slot, words


def found_by(kernel: Kernel, record: Record, words: list[str]) -> str:
    if len(words) == 1:
        kernel.uses("find1")
        return f"find1({record.table(kernel)}, {words[0]})"
    kernel.uses("findw")
    return f"findw({record.table(kernel)}, {record.keys(kernel)}, ({', '.join(words)}))"


def placed(kernel: Kernel, record: Record, words: list[str], slot: str) -> str:
    if len(words) == 1:
        kernel.uses("insert1")
        return f"insert1({record.table(kernel)}, {words[0]}, {slot})"
    kernel.uses("insertw")
    return f"insertw({record.table(kernel)}, {record.keys(kernel)}, ({', '.join(words)}), {slot})"


def keep(kernel: Kernel, record: Record, slot: str, words: list[str]) -> None:
    """At the end of the tuple: a new key gets its slot, and the record its words."""
    commit = [f"if {slot} != {NOT_VISITED}:"]
    if record.is_keyed:
        count = kernel.cell(f"{record.prefix}_count")
        room = kernel.cell(f"{record.prefix}_room")
        kernel.before_commit.append(f"if {slot} == {NEW} and {count} >= {room}: full = {room_code(kernel, record)}")
        commit += [
            f"    if {slot} < 0:",
            f"        {slot} = {count}",
            f"        {placed(kernel, record, words, slot)}",
            f"        {count} += 1",
        ]
        lines = list(record.store(kernel, slot, tuple(words)))
    else:
        lines = list(record.store(kernel, "0"))
    commit += [f"    {line}" for line in lines]
    if kernel.tracks_changes and record.is_keyed:
        changed = kernel.argument("state", (record.operator, "changed"), f"{record.prefix}_changed")
        commit.append(f"    {changed}[{slot}] = 1")
    if len(commit) > 1:
        kernel.commits.append(commit)


def room_code(kernel: Kernel, record: Record) -> int:
    """What `full` says when this operator has no room for another key."""
    return 1000 + kernel.part.operators.index(record.operator)
