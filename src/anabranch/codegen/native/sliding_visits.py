"""Sliding windows by time in native code, closed by the stream's clock, of keys or of groups.

A record is one window of one key, known by its end and the key; a tuple joins as many of them as windows overlap. When
time passes an end, those that have ended are emitted, and the others move together so that they stay in the order of
their first tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native.clocks import Clock
from anabranch.codegen.native.keyed import check_room, found_by, marked, named_words, placed, stored_as_new
from anabranch.codegen.native.values import Value
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


def by_time(code: WindowCode, item: Value) -> None:
    """All open windows of all keys; `before` the boundary that time has reached there are none."""
    kernel, writer, many = code.kernel, code.kernel.writer, code.overlapping
    clock = Clock(code)
    time = code.time(item)
    key = named_words(kernel, code.record, code.key(item))
    number_texts(code, item)
    passage = clock.passage(time, lambda boundary: _emit_ended(code, boundary, clock.reached))
    with writer.block(f"if {passage.is_late}:"):
        code.late(item)
    with writer.block("else:"):
        check_room(kernel, code.record, many)
        for each in code.distinct:
            each.check_room(many)
        if any(each.can_fail for each in code.accumulators.values()):
            for line in _join_lines(code, item, key, passage.first, passage.last, is_trial=True):
                writer.line(line)
        moved = [*clock.moved(passage), *_forget_lines(code, clock.reached)]
        kernel.commit([
            f"if {passage.crosses}:",
            *(f"    {line}" for line in moved),
            *_join_lines(code, item, key, passage.first, passage.last, is_trial=False),
        ])  # fmt: skip


def clock(code: WindowCode, time: str) -> None:
    """Only the time of a tuple that others have."""
    ticking = Clock(code)
    passage = ticking.passage(time, lambda boundary: _emit_ended(code, boundary, ticking.reached))
    moved = [*ticking.moved(passage), *_forget_lines(code, ticking.reached)]
    code.kernel.commit([f"if {passage.crosses}:", *(f"    {line}" for line in moved)])


def number_texts(code: WindowCode, item: Value) -> None:
    """Texts get their numbers here, where the tuple may still wait for room."""
    assert item.members is not None
    for _, column in code.definition.columns:
        if isinstance(column, Aggregate) and column.attribute is not None:
            value = item.members[column.attribute]
            if value.type.kind == "str":
                code.kernel.text_number(value)


def _emit_ended(code: WindowCode, boundary: str, reached: str) -> None:
    """Windows in the order of their ends, keys in the order of their first tuples there."""
    kernel, writer, record, many = code.kernel, code.kernel.writer, code.record, code.overlapping
    count = kernel.cell(f"{code.prefix}_count")
    end, at = writer.fresh("end"), writer.fresh("at")
    kernel.uses("natural")
    with (
        kernel.in_loop(),
        writer.block(f"for {end} in range({reached} + 1, min({boundary}, {reached} + {many}) + 1):"),
        writer.block(f"for {at} in range({count}):"),
        writer.block(f"if {record.records(kernel)}[natural({at} * {record.width})] == {end}:"),
    ):
        code.emit_record(at, end)


def _forget_lines(code: WindowCode, reached: str) -> list[str]:
    """Lines that drop the windows that have ended: the others move together, and the table is built anew."""
    kernel, record = code.kernel, code.record
    count = kernel.cell(f"{code.prefix}_count")
    records = record.records(kernel)
    kept, at, source, target, word = (kernel.writer.fresh(name) for name in ("kept", "at", "source", "target", "word"))
    words = [f"{records}[{target} + {place}]" for place in range(len(record.key_kinds))]
    return [
        f"{kernel.cell(f'{code.prefix}_before')} += {count}",
        f"{kept} = 0",
        f"for {at} in range({count}):",
        f"    {source}, {target} = natural({at} * {record.width}), natural({kept} * {record.width})",
        f"    if {records}[{source}] > {reached}:",
        f"        for {word} in range({record.width}):",
        f"            {records}[{target} + {word}] = {records}[{source} + {word}]",
        f"        {placed(kernel, record, words, kept)}",
        *(f"        {line}" for line in marked(kernel, record, kept)),
        f"        {kept} += 1",
        f"{count} = {kept}",
    ]


def _join_lines(code: WindowCode, item: Value, key: list[str], first: str, last: str, *, is_trial: bool) -> list[str]:
    """Lines by which a tuple joins its windows; a trial only sees whether that can be done."""
    kernel, writer, record = code.kernel, code.kernel.writer, code.record
    end, slot = writer.fresh("end"), writer.fresh(f"{code.prefix}_slot")
    opened = []
    if code.distinct:
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        opened = [f"{code.word('opened', 'int')} = {arrivals}", f"{arrivals} += 1"]
    with writer.aside() as written, writer.block(f"for {end} in range({first}, {last} + 1):"):
        writer.line(f"{slot} = {found_by(kernel, record, [end, *key])}")
        with writer.block(f"if {slot} >= 0:"):
            for line in record.load(kernel, slot):
                writer.line(line)
            code.add(item)
            if not is_trial:
                for line in (*record.store(kernel, slot), *marked(kernel, record, slot)):
                    writer.line(line)
        with writer.block("else:"):
            code.begin(item)
            if not is_trial:
                for line in (*opened, *stored_as_new(kernel, record, slot, [end, *key])):
                    writer.line(line)
        if not is_trial:
            for line in code.store_values():
                writer.line(line)
    return written if is_trial else without_checks(written)


def without_checks(lines: list[str]) -> list[str]:
    """What was tried before cannot go wrong any more."""
    return [line for line in lines if not line.lstrip().startswith("bad |=")]
