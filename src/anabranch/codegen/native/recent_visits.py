"""Sliding windows by count in native code: a record holds the last tuples of its key in a ring.

What a window gives is computed from them when it is due, as the sequential engine does. With groups, that is done in
records of their own, which are made anew for every output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.codegen.native.keyed import find_slot, found_by, keep, named_words, stored_as_new
from anabranch.codegen.native.values import ALWAYS, STORABLE, NotNative, Value
from anabranch.codegen.types import INT, Type, type_of_attribute
from anabranch.graph.schema import Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode

MOST_RECENT = 1024  # words of a ring: longer ones would take much memory for keys with few tuples


class Ring:
    """The layout of the tuples that a record holds: of each the number of its arrival, and the attributes in use."""

    def __init__(self, definition: WindowAggregate, schema: Schema) -> None:
        self.length = int(definition.window.length)
        used = [name for _, column in definition.columns if isinstance(column, Aggregate)
                for name in (column.attribute, column.by) if name is not None]  # fmt: skip
        used += definition.group_by
        self.places: dict[str, tuple[Type, int]] = {}  # the word of each value; a flag is behind an optional one
        at = 1
        for name in dict.fromkeys(used):
            kind = type_of_attribute(schema[name])
            if kind.kind not in STORABLE:
                raise NotNative(f"keeps a {kind.kind} of every tuple of a sliding window")
            self.places[name] = kind, at
            at += 2 if kind.optional else 1
        self.entry = at
        if self.words > MOST_RECENT:
            raise NotNative(f"keeps the last {self.length} tuples")

    @property
    def words(self) -> int:
        return self.length * self.entry

    @property
    def texts(self) -> tuple[int, ...]:
        """The words of an entry that are numbers of strings."""
        return tuple(at for kind, at in self.places.values() if kind.kind == "str")


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
        _join(code, item, is_first=f"{old} == 0")
        _emit(code)
    writer.line(f"{filled} = min({filled} + 1, {ring.length})")
    writer.line(f"{position} = {position} + 1 if {position} + 1 < {ring.length} else 0")
    entry = writer.fresh("entry")
    more = [f"{entry} = {_entry(code, slot, here)}", f"{code.record.records(kernel)}[{entry}] = {arrivals}"]
    assert item.members is not None
    for name, (kind, at) in ring.places.items():
        value = item.members[name]
        array = code.record.floats(kernel) if kind.kind == "float" else code.record.records(kernel)
        number = kernel.text_number(value) if kind.kind == "str" else value.code
        more.append(f"{array}[{entry} + {at}] = {number}")
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
    _emit(code)


def _gather(code: WindowCode, slot: str, count: str, position: str) -> None:
    """Add the last `count` tuples of a ring whose next place is `position`, the oldest first."""
    writer, ring = code.kernel.writer, code.ring
    assert ring is not None
    for line in (*code.zeros(), *code.forget_values(), *_forget_groups(code)):
        writer.line(line)
    step, at, entry = writer.fresh("step"), writer.fresh("recent"), writer.fresh("entry")
    with writer.block(f"for {step} in range({count}):"):
        writer.line(f"{at} = {position} - {count} + {step}")
        with writer.block(f"if {at} < 0:"):
            writer.line(f"{at} += {ring.length}")
        writer.line(f"{entry} = {_entry(code, slot, at)}")
        recent = _recent_item(code, entry)
        for each in code.accumulators.values():
            each.check(recent)  # it may be one that was not for native code when it came
        _join(code, recent, is_first=f"{step} == 0")


def _forget_groups(code: WindowCode) -> list[str]:
    if not code.contents.is_keyed:
        return []
    before, count = (code.kernel.cell(f"{code.contents.prefix}_{what}") for what in ("before", "count"))
    return [f"{before} += {count}", f"{count} = 0"]


def _join(code: WindowCode, item: Value, is_first: str) -> None:
    """A tuple joins those that were gathered, or those of its group."""
    kernel, writer, groups = code.kernel, code.kernel.writer, code.contents
    if not groups.is_keyed:
        with writer.block(f"if {is_first}:"):
            code.begin(item)
        with writer.block("else:"):
            code.add(item)
        return
    assert item.members is not None
    words = named_words(kernel, groups, [item.members[name] for name in code.definition.group_by])
    slot = code.slot = writer.fresh(f"{groups.prefix}_slot")
    writer.line(f"{slot} = {found_by(kernel, groups, words)}")
    with writer.block(f"if {slot} >= 0:"):
        for line in groups.load(kernel, slot):
            writer.line(line)
        code.add(item)
        for line in groups.store(kernel, slot):
            writer.line(line)
    with writer.block("else:"):  # there is room: a ring is shorter than any table
        writer.line(f"{slot} = {kernel.cell(f'{groups.prefix}_count')}")
        code.begin(item)
        for line in stored_as_new(kernel, groups, slot, words):
            writer.line(line)


def _emit(code: WindowCode) -> None:
    """What was gathered, group by group in the order of their first tuples."""
    kernel, writer, groups = code.kernel, code.kernel.writer, code.contents
    if not groups.is_keyed:
        code.emit(code.same_names(), "0")
        return
    at = writer.fresh("at")
    with kernel.in_loop(), writer.block(f"for {at} in range({kernel.cell(f'{groups.prefix}_count')}):"):
        code.emit_record(at)


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
