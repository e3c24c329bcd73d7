"""Sliding windows in native code.

By count, a record holds the last tuples of its key in a ring: what a window gives is computed from them when it is due,
as the sequential engine does. By time, a record is one window of one key, known by its end and the key; a tuple joins
as many of them as windows overlap. All follow the stream's clock; when time passes an end, those that have ended are
emitted, and the others move together so that they stay in the order of their first tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native.keyed import (
    check_room,
    find_slot,
    found_by,
    keep,
    marked,
    named_words,
    placed,
    stored_as_new,
)
from anabranch.codegen.native.values import ALWAYS, NotNative, Value
from anabranch.codegen.types import INT, Type, type_of_attribute
from anabranch.graph.schema import Schema
from anabranch.graph.values import LARGEST_INT
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode

MOST_RECENT = 1024  # words of a ring: longer ones would take much memory for keys with few tuples


def overlapping(definition: WindowAggregate) -> int:
    """How many windows by time a tuple is in."""
    window = definition.window
    if window.shape != "sliding":
        return 1
    assert window.slide is not None
    if (window.length / window.slide).denominator != 1:
        raise NotNative("slides by what does not divide its length")
    return int(window.length / window.slide)


# By count ---------------------------------------------------------------------------------------------------------


class Ring:
    """The layout of the tuples that a record holds: of each the number of its arrival, and the attributes in use."""

    def __init__(self, definition: WindowAggregate, schema: Schema) -> None:
        self.length = int(definition.window.length)
        used = [name for _, column in definition.columns if isinstance(column, Aggregate)
                for name in (column.attribute, column.by) if name is not None]  # fmt: skip
        self.places: dict[str, tuple[Type, int]] = {}  # the word of each value; a flag is behind an optional one
        at = 1
        for name in dict.fromkeys(used):
            kind = type_of_attribute(schema[name])
            if not kind.is_number:
                raise NotNative(f"keeps a {kind.kind} of every tuple of a sliding window")
            self.places[name] = kind, at
            at += 2 if kind.optional else 1
        self.entry = at
        if self.words > MOST_RECENT:
            raise NotNative(f"keeps the last {self.length} tuples")

    @property
    def words(self) -> int:
        return self.length * self.entry


def by_count(code: WindowCode, item: Value) -> None:
    """Every `slide` tuples of a key, over the last of them."""
    kernel, writer, ring = code.kernel, code.kernel.writer, code.ring
    assert ring is not None
    assert code.definition.window.slide is not None
    filled, since, position = (code.word(what, "int") for what in ("filled", "since", "position"))
    arrivals = kernel.cell(f"{code.prefix}_arrivals")
    new = [f"{filled} = 0", f"{since} = 0", f"{position} = 0"]
    slot, words = find_slot(kernel, code.record, code.key(item) or [Value(INT, "0", is_stable=True)], new)
    begin = writer.position
    here = writer.fresh("here")
    writer.line(f"{here} = {position}")
    writer.line(f"{since} += 1")
    with writer.block(f"if {since} == {int(code.definition.window.slide)}:"):
        writer.line(f"{since} = 0")
        old = writer.fresh("old")
        writer.line(f"{old} = min({filled}, {ring.length - 1})")
        _gather(code, slot, old, position)
        with writer.block(f"if {old} == 0:"):
            code.begin(item)
        with writer.block("else:"):
            code.add(item)
        code.emit(code.same_names(), "0")
    writer.line(f"{filled} = min({filled} + 1, {ring.length})")
    writer.line(f"{position} = {position} + 1 if {position} + 1 < {ring.length} else 0")
    entry = writer.fresh("entry")
    more = [f"{entry} = {_entry(code, slot, here)}", f"{code.record.records(kernel)}[{entry}] = {arrivals}"]
    assert item.members is not None
    for name, (kind, at) in ring.places.items():
        value = item.members[name]
        array = code.record.floats(kernel) if kind.kind == "float" else code.record.records(kernel)
        more.append(f"{array}[{entry} + {at}] = {value.code}")
        if kind.optional:
            more.append(f"{code.record.records(kernel)}[{entry} + {at + 1}] = {value.has}")
    keep(kernel, code.record, slot, words, begin, (*more, f"{arrivals} += 1"))


def emit_recent(code: WindowCode, slot: str) -> None:
    """At the end: what a record's open window gives."""
    writer, record = code.kernel.writer, code.record
    code.kernel.uses("natural")
    writer.line(f"base = natural({slot} * {record.width})")
    held = {}
    for word in record.words:
        held[word.path[1]] = writer.fresh(f"closing_{word.name}")
        writer.line(f"{held[word.path[1]]} = {record.records(code.kernel)}[base + {record.place(word)}]")
    _gather(code, slot, held["filled"], held["position"])
    code.emit(code.same_names(), "0")


def _gather(code: WindowCode, slot: str, count: str, position: str) -> None:
    """Add the last `count` tuples of a ring whose next place is `position`, the oldest first."""
    writer, ring = code.kernel.writer, code.ring
    assert ring is not None
    for line in code.zeros():
        writer.line(line)
    step, at, entry = writer.fresh("step"), writer.fresh("recent"), writer.fresh("entry")
    with writer.block(f"for {step} in range({count}):"):
        writer.line(f"{at} = {position} - {count} + {step}")
        with writer.block(f"if {at} < 0:"):
            writer.line(f"{at} += {ring.length}")
        writer.line(f"{entry} = {_entry(code, slot, at)}")
        old = _recent_item(code, entry)
        with writer.block(f"if {step} == 0:"):
            code.begin(old)
        with writer.block("else:"):
            code.add(old)


def _entry(code: WindowCode, slot: str, position: str) -> str:
    assert code.ring is not None
    code.kernel.uses("natural")
    start = code.record.width - code.record.tail
    return f"natural({slot} * {code.record.width} + {start} + {position} * {code.ring.entry})"


def _recent_item(code: WindowCode, entry: str) -> Value:
    """A tuple of the ring, as far as it is kept."""
    assert code.ring is not None
    records, floats = code.record.records(code.kernel), code.record.floats(code.kernel)
    members = {}
    for name, (kind, at) in code.ring.places.items():
        place = f"[{entry} + {at}]"
        read = floats + place if kind.kind == "float" else records + place
        has = f"({records}[{entry} + {at + 1}] != 0)" if kind.optional else ALWAYS
        members[name] = Value(kind, f"({read} != 0)" if kind.kind == "bool" else read, has, is_stable=True)
    return Value(Type("tuple"), members=members, is_stable=True)


# By time ----------------------------------------------------------------------------------------------------------


def by_time(code: WindowCode, item: Value) -> None:
    """All open windows of all keys; `before` the boundary that time has reached there are none."""
    kernel, writer, record, prefix = code.kernel, code.kernel.writer, code.record, code.prefix
    begun, reached = kernel.cell(f"{prefix}_begun"), kernel.cell(f"{prefix}_reached")
    make = kernel.float_cell if code.is_float else kernel.cell
    low, high = make(f"{prefix}_low"), make(f"{prefix}_high")
    count = kernel.cell(f"{prefix}_count")
    many = overlapping(code.definition)
    time = code.time(item)
    key = named_words(kernel, record, code.key(item))
    _number_texts(code, item)
    boundary, crosses = writer.fresh(f"{prefix}_boundary"), writer.fresh(f"{prefix}_crosses")
    next_low, next_high = writer.fresh(f"{prefix}_next_low"), writer.fresh(f"{prefix}_next_high")
    writer.line(f"{boundary}, {crosses} = {reached}, False")
    writer.line(f"{next_low}, {next_high} = {low}, {high}")
    with writer.block(f"if not {low} <= {time} < {high}:"):
        writer.line(f"{boundary} = {code.boundary(time)}")
        if not code.is_float:
            kernel.check(f"{boundary} > {LARGEST_INT - many - 1}")  # the windows behind it have no index
        with writer.block(f"if {begun} == 0 or {boundary} > {reached}:"):
            writer.line(f"{crosses} = True")
            with writer.block(f"if {begun} != 0:"):
                _emit_ended(code, boundary, reached, count, many)
            writer.line(f"{next_low} = {code.point(boundary)}")
            writer.line(f"{next_high} = {code.point(f'({boundary} + 1)')}")
    with writer.block(f"if {boundary} + {many} <= {reached} and not {crosses}:"):
        code.late(item)
    with writer.block("else:"):
        first, last = writer.fresh("first_end"), writer.fresh("last_end")
        writer.line(f"{first} = {boundary} + 1 if {crosses} else max({boundary}, {reached}) + 1")
        writer.line(f"{last} = {boundary} + {many}")
        check_room(kernel, record, many)
        for each in code.distinct:
            each.check_room(many)
        if any(each.can_fail for each in code.accumulators.values()):
            for line in _join_lines(code, item, key, first, last, is_trial=True):
                writer.line(line)
        moved = [
            f"if {crosses}:",
            f"    {begun}, {reached}, {low}, {high} = 1, {boundary}, {next_low}, {next_high}",
            *(f"    {line}" for line in _forget_lines(code, reached, count)),
        ]
        kernel.commit([*moved, *_join_lines(code, item, key, first, last, is_trial=False)])


def _number_texts(code: WindowCode, item: Value) -> None:
    """Texts get their numbers here, where the tuple may still wait for room."""
    assert item.members is not None
    for _, column in code.definition.columns:
        if isinstance(column, Aggregate) and column.attribute is not None:
            value = item.members[column.attribute]
            if value.type.kind == "str":
                code.kernel.text_number(value)


def _emit_ended(code: WindowCode, boundary: str, reached: str, count: str, many: int) -> None:
    """Windows in the order of their ends, keys in the order of their first tuples there."""
    kernel, writer, record = code.kernel, code.kernel.writer, code.record
    end, at = writer.fresh("end"), writer.fresh("at")
    kernel.uses("natural")
    with (
        kernel.in_loop(),
        writer.block(f"for {end} in range({reached} + 1, min({boundary}, {reached} + {many}) + 1):"),
        writer.block(f"for {at} in range({count}):"),
        writer.block(f"if {record.records(kernel)}[natural({at} * {record.width})] == {end}:"),
    ):
        code.emit_record(at, end)


def _forget_lines(code: WindowCode, reached: str, count: str) -> list[str]:
    """Lines that drop the windows that have ended: the others move together, and the table is built anew."""
    kernel, record = code.kernel, code.record
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
    lines, depth = writer.lines, writer.depth
    writer.lines, writer.depth = [], 0
    end, slot = writer.fresh("end"), writer.fresh(f"{code.prefix}_slot")
    opened = []
    if code.distinct:
        arrivals = kernel.cell(f"{code.prefix}_arrivals")
        opened = [f"{code.word('opened', 'int')} = {arrivals}", f"{arrivals} += 1"]
    with writer.block(f"for {end} in range({first}, {last} + 1):"):
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
    written, writer.lines, writer.depth = writer.lines, lines, depth
    # What was tried before cannot go wrong any more.
    return written if is_trial else [line for line in written if not line.lstrip().startswith("bad |=")]
