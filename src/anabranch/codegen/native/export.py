"""Native state as the state of the oracle's meanings, for the Python form to go on with."""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from anabranch.codegen.native.arrays import Array
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.clocks import clocks_of
from anabranch.codegen.native.distinct_values import held_values, seen_by
from anabranch.codegen.native.recent_visits import Ring
from anabranch.codegen.native.records import Record, Word
from anabranch.codegen.native.state import NativeState
from anabranch.codegen.part import Part
from anabranch.codegen.types import Type, type_of_schema
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate
from anabranch.operators.base import Meaning, OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process


def closing_order(state: NativeState, record: Record) -> Array:
    """The slots of open windows, in the order in which they close at a punctuation or at the end."""
    count = state.count(record)
    rows = state.operators[record.operator].rows(count)

    def column(what: str) -> Array:
        found: Array = rows[:, record.place_of("", what)]
        return found

    slots: Array = np.arange(count, dtype=np.int64)
    match record.shape:
        case _ if not record.is_keyed:
            slots = slots[column("size") != 0]
        case "shared clock" | "count of groups" | "punctuated":
            return _together(slots, rows[:, : record.of_key]) if record.of_key else slots
        case "sliding time":
            return np.argsort(rows[:, 0], kind="stable")  # by their ends
        case "sliding count":
            return _by_oldest(slots, rows, record, column)
        case "listed count":
            slots = _first_come(slots, column("size"), column("opened"))
            return _together(slots, rows[slots, : record.of_key])
        case "listed time":
            slots = _first_come(slots, column("size"), column("opened"))
            slots = slots[np.argsort(column("end")[slots], kind="stable")]
            return _together(slots, np.column_stack([column("end")[slots], rows[slots, 1 : 1 + record.of_key]]))
        case "count":
            slots = _first_come(slots, column("size"), column("opened"))
        case _:
            is_open = column("size") != 0
            slots = slots[is_open][np.lexsort((column("opened")[is_open], column("reached")[is_open]))]
    return slots


def _first_come(slots: Array, sizes: Array, opened: Array) -> Array:
    """Those of open windows, in the order of their first tuples."""
    is_open = sizes != 0
    found: Array = slots[is_open][np.argsort(opened[is_open], kind="stable")]
    return found


def _together(slots: Array, words: Array) -> Array:
    """Those with the same words together, in the order of the first of them: the groups of each key."""
    if not len(slots):
        return slots
    _, first, key = np.unique(words, axis=0, return_index=True, return_inverse=True)
    found: Array = slots[np.argsort(first[key.ravel()], kind="stable")]
    return found


def _by_oldest(slots: Array, rows: Array, record: Record, column: Callable[[str], Array]) -> Array:
    """Of sliding windows by count, those with tuples that were in no output yet, by the arrival of their oldest."""
    starts = np.where(column("filled") * record.entry < record.tail, 0, column("position"))
    oldest = rows[slots, record.width - record.tail + starts * record.entry]
    is_open = column("since") != 0
    found: Array = slots[is_open][np.argsort(oldest[is_open], kind="stable")]
    return found


def meanings_of(part: Part, state: NativeState, assembled: Assembled) -> dict[str, Meaning]:
    """The meanings of operators with state, holding what the records hold."""
    found = {}
    for operator_id, record in assembled.records.items():
        if record.windows_of:
            continue
        operator = part.operator(operator_id)
        definition = operator.definition
        assert isinstance(definition, OperatorDefinition)
        meaning: Any = definition.meaning(operator)
        match definition:
            case Process():
                _export_process(_Reader(state, record), definition, meaning)
            case Distinct():
                for slot in range(state.count(record)):
                    meaning.seen[_Reader(state, record).key(slot)] = 1
                meaning.arrived = state.count(record)
            case WindowAggregate():
                _export_windows(_Reader(state, record), operator, definition, meaning)
        found[operator_id] = meaning
    return found


_NOT_KEPT = {"int": 0, "float": 0.0, "bool": False, "str": ""}


def _as_key(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


class _Reader:
    """Reads values out of records."""

    def __init__(self, state: NativeState, record: Record) -> None:
        self.state, self.record = state, record
        self.rows = state.operators[record.operator].rows(state.count(record))
        self.words = {word.path: word for word in record.words}

    def word(self, slot: int, word: Word) -> Any:
        return self.value(word.kind, int(self.rows[slot, self.record.place(word)]))

    def value(self, kind: str, bits: int) -> Any:
        match kind:
            case "float":
                value = struct.unpack("<d", struct.pack("<q", bits))[0]
                return value if value == value else math.nan
            case "bool":
                return bits != 0
            case "str":
                return self.state.pool.value(bits).decode() if bits >= 0 else None
        return bits

    def at(self, slot: int, *path: str) -> Any:
        word = self.words.get(path)
        return None if word is None else self.word(slot, word)

    def key(self, slot: int) -> Any:
        """The key as `key_reader` gives it."""
        return _as_key(self.key_values(slot))

    def key_values(self, slot: int) -> list[Any]:
        values, kinds = [], list(self.record.key_kinds)
        at = 0
        while at < len(kinds):
            if kinds[at] == "has":
                present = bool(self.rows[slot, at])
                at += 1
            else:
                present = True
            value = self.value(kinds[at], int(self.rows[slot, at])) if present else None
            values.append(math.nan if value != value else value)
            at += 1
        return values

    def field(self, slot: int, kind: Type, path: tuple[str, ...]) -> Any:
        """A value of a field. What was not kept is a zero: Python may compute with it, but nothing depends on that."""
        if kind.optional and self.at(slot, *path, "?") is False:
            return None
        if kind.kind == "tuple":
            members = [self.field(slot, each, (*path, name)) for name, each in kind.members]
            return kind.named._make(members) if kind.named else tuple(members)  # type: ignore[attr-defined]
        return self.at(slot, *path) if path in self.words else _NOT_KEPT.get(kind.kind)


def _export_process(reader: _Reader, definition: Process, meaning: Any) -> None:
    for slot in range(len(reader.rows)):
        instance = definition.factory()
        for name, kind in reader.record.fields.items():
            setattr(instance, name, reader.field(slot, kind, (name,)))
        meaning.instances[reader.key(slot) if reader.record.is_keyed else None] = instance


def _export_recent(reader: _Reader, operator: Operator, definition: WindowAggregate, meaning: Any) -> None:
    """Sliding windows by count: the last tuples of each key, as far as anybody reads them."""
    record, schema = reader.record, operator.inputs[0].schema
    ring = Ring(definition, schema)
    meaning.arrivals = reader.state.cell(f"{record.prefix}_arrivals")
    unread = [None if kind.optional else _NOT_KEPT.get(kind.kind) for _, kind in type_of_schema(schema).members]
    for slot in range(len(reader.rows)):
        key = reader.key(slot) if definition.key_names else ()
        filled, position = reader.at(slot, "", "filled"), reader.at(slot, "", "position")
        recent: deque[tuple[int, Any]] = deque(maxlen=ring.length)
        for at in range(position - filled, position):
            start = record.width - record.tail + at % ring.length * ring.entry
            words = reader.rows[slot, start : start + ring.entry].tolist()
            values = list(unread)
            for name, (kind, place) in ring.places.items():
                is_there = not kind.optional or words[place + 1] != 0
                values[schema.names.index(name)] = reader.value(kind.kind, words[place]) if is_there else None
            recent.append((words[0], schema.type._make(values)))  # type: ignore[attr-defined]  # a NamedTuple
        meaning.recent[key] = recent
        meaning.since_last[key] = reader.at(slot, "", "since")


def _export_windows(reader: _Reader, operator: Operator, definition: WindowAggregate, meaning: Any) -> None:
    prefix, state = reader.record.prefix, reader.state
    shape = reader.record.shape
    if shape == "sliding count":
        _export_recent(reader, operator, definition, meaning)
        return
    if state.cell(f"{prefix}_begun"):
        meaning.reached[("stream",)] = state.cell(f"{prefix}_reached")
    if clocks_of(operator.id) in state.operators:
        clocks = _Reader(state, state.operators[clocks_of(operator.id)].record)
        for slot in range(len(clocks.rows)):
            meaning.reached["key", clocks.key(slot)] = clocks.at(slot, "", "reached")
    if shape == "own clock":
        for slot in range(len(reader.rows)):
            if reader.at(slot, "", "begun"):
                key = reader.key(slot) if reader.record.is_keyed else None
                clock = ("key", key) if meaning.has_key_clock else ("stream",)
                meaning.reached[clock] = reader.at(slot, "", "reached")
    windows: dict[Any, Any] = {}
    seen = {
        name: _seen_values(_Reader(state, state.operators[seen_by(operator.id, name)].record))
        for name, _ in definition.columns
        if seen_by(operator.id, name) in state.operators
    }
    held = held_values(definition)
    for slot in closing_order(state, reader.record):
        values = reader.key_values(slot)
        end = values.pop(0) if shape in ("sliding time", "listed time") else None
        if shape == "listed time":
            end = reader.at(slot, "", "end")
        key, group = _as_key(values[: len(definition.key_names)]), _as_key(values[len(definition.key_names) :])
        place: tuple[Any, ...] = (key,) if end is None else (end, key)
        if shape in ("shared clock", "own clock"):
            reached = state.cell(f"{prefix}_reached") if shape == "shared clock" else reader.at(slot, "", "reached")
            place = (reached + 1, key)
        window = windows.get(place)
        if window is None:
            window = windows[place] = meaning.new_window()
        window.groups[group] = [
            _accumulator(reader, slot, name, column, operator) for name, column in definition.columns
        ]
        for made, (name, _) in zip(window.groups[group], definition.columns, strict=True):
            if name in seen:
                made.seen = seen[name].get(_number_of(reader, int(slot), operator, name), set())
            elif name in held:
                made.seen = _held(
                    reader, int(slot), made.kind.kind, reader.at(slot, name, "distinct"), held.index(name)
                )
        size = state.cell(f"{prefix}_tuples") if shape == "count of groups" else reader.at(slot, "", "size")
        _keep_window(meaning, shape, place, window, size)


def _seen_values(reader: _Reader) -> dict[int, set[Any]]:
    """The values in a table of them, by window."""
    found: dict[int, set[Any]] = {}
    for *window, bits in reader.rows.tolist():
        found.setdefault(window[0] if window else 0, set()).add(_seen(reader, reader.record.key_kinds[-1], bits))
    return found


def _held(reader: _Reader, slot: int, kind: str, count: int, place: int) -> set[Any]:
    """The values that a record holds."""
    words = reader.rows[slot, reader.record.width - reader.record.tail + place :: reader.record.entry]
    return {_seen(reader, kind, bits) for bits in words[:count].tolist()}


def _seen(reader: _Reader, kind: str, bits: int) -> Any:
    value = reader.value(kind, bits)
    return math.nan if value != value else value


def _number_of(reader: _Reader, slot: int, operator: Operator, name: str) -> int:
    """What a window is known by in a table of values."""
    match reader.state.operators[seen_by(operator.id, name)].record.window:
        case "slot":
            return slot
        case "opened":
            return int(reader.at(slot, "", "opened"))
    return 0


def _keep_window(meaning: Any, shape: str, place: tuple[Any, ...], window: Any, size: int | None) -> None:
    if shape in ("count", "count of groups"):
        meaning.open[place[0]] = window, size
    elif shape == "listed count":
        _, before = meaning.open.get(place[0], (window, 0))
        meaning.open[place[0]] = window, before + size
    elif shape == "punctuated":
        meaning.open[place[0]] = window
    else:
        meaning.open.setdefault(place[0], {})[place[1]] = window


def _accumulator(reader: _Reader, slot: int, name: str, column: Any, operator: Operator) -> Any:
    if not isinstance(column, Aggregate):
        return None
    made: Any = column.accumulator(operator.inputs[0].schema)
    values = {"count": reader.at(slot, "", "size"), "has_value": True}
    values |= {path[1]: reader.at(slot, *path) for path in reader.words if path[0] == name}
    if values.get("value_has") is False or values.get("set") is False:
        values["value"] = None
    if values.get("rank_has") is False:
        values["rank"] = None
    values["best"] = values.pop("rank", None)
    for attribute, value in values.items():
        if hasattr(made, attribute):
            setattr(made, attribute, value)
    return made
