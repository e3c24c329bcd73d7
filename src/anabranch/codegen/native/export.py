"""Native state as the state of the oracle's meanings, for the Python form to go on with."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from anabranch.codegen.native.arrays import Array
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.records import Record, Word
from anabranch.codegen.native.state import NativeState
from anabranch.codegen.part import Part
from anabranch.codegen.types import Type
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import Meaning, OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process


def closing_order(state: NativeState, record: Record) -> Array:
    """The slots of open windows, in the order in which they close at a punctuation or at the end."""
    count = state.count(record)
    rows = state.operators[record.operator].rows(count)

    def column(what: str) -> Array:
        found: Array = rows[:, record.place(next(word for word in record.words if word.path == ("", what)))]
        return found

    slots: Array = np.arange(count, dtype=np.int64)
    is_open: Array
    match record.shape:
        case "shared clock":
            return slots
        case _ if not record.is_keyed or record.shape == "punctuated":
            slots = slots[column("size") != 0]
        case "count":
            is_open = column("size") != 0
            slots = slots[is_open][np.argsort(column("opened")[is_open], kind="stable")]
        case _:
            is_open = column("size") != 0
            slots = slots[is_open][np.lexsort((column("opened")[is_open], column("reached")[is_open]))]
    return slots


def meanings_of(part: Part, state: NativeState, assembled: Assembled) -> dict[str, Meaning]:
    """The meanings of operators with state, holding what the records hold."""
    found = {}
    for operator_id, record in assembled.records.items():
        operator = part.operator(operator_id)
        definition = operator.definition
        assert isinstance(definition, OperatorDefinition)
        meaning: Any = definition.meaning(operator)
        match definition:
            case Process():
                _export_process(_Reader(state, record), operator, definition, meaning)
            case Distinct():
                for slot in range(state.count(record)):
                    meaning.seen[_Reader(state, record).key(slot)] = 1
                meaning.arrived = state.count(record)
            case WindowAggregate():
                _export_windows(_Reader(state, record), operator, definition, meaning)
        found[operator_id] = meaning
    return found


_NOT_KEPT = {"int": 0, "float": 0.0, "bool": False, "str": ""}


class _Reader:
    """Reads values out of records."""

    def __init__(self, state: NativeState, record: Record) -> None:
        self.state, self.record = state, record
        self.rows = state.operators[record.operator].rows(state.count(record))
        self.words = {word.path: word for word in record.words}

    def word(self, slot: int, word: Word) -> Any:
        return self._value(word.kind, int(self.rows[slot, self.record.place(word)]))

    def _value(self, kind: str, bits: int) -> Any:
        match kind:
            case "float":
                return struct.unpack("<d", struct.pack("<q", bits))[0]
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
        values, kinds = [], list(self.record.key_kinds)
        at = 0
        while at < len(kinds):
            if kinds[at] == "has":
                present = bool(self.rows[slot, at])
                at += 1
            else:
                present = True
            value = self._value(kinds[at], int(self.rows[slot, at])) if present else None
            values.append(math.nan if value != value else value)
            at += 1
        return values[0] if len(values) == 1 else tuple(values)

    def field(self, slot: int, kind: Type, path: tuple[str, ...]) -> Any:
        """A value of a field. What was not kept is a zero: Python may compute with it, but nothing depends on that."""
        if kind.optional and self.at(slot, *path, "?") is False:
            return None
        if kind.kind == "tuple":
            members = [self.field(slot, each, (*path, name)) for name, each in kind.members]
            return kind.named._make(members) if kind.named else tuple(members)  # type: ignore[attr-defined]
        return self.at(slot, *path) if path in self.words else _NOT_KEPT.get(kind.kind)


def _export_process(reader: _Reader, operator: Operator, definition: Process, meaning: Any) -> None:
    from anabranch.codegen.native.visits import typed_operator

    typed = typed_operator(operator, definition)
    for slot in range(len(reader.rows)):
        instance = definition.factory()
        for name, kind in typed.fields.items():
            setattr(instance, name, reader.field(slot, kind, (name,)))
        meaning.instances[reader.key(slot) if reader.record.is_keyed else None] = instance


def _export_windows(reader: _Reader, operator: Operator, definition: WindowAggregate, meaning: Any) -> None:
    prefix, state = reader.record.prefix, reader.state
    shape = reader.record.shape
    if shape == "shared clock" and state.cell(f"{prefix}_begun"):
        meaning.reached[("stream",)] = state.cell(f"{prefix}_reached")
    if shape == "own clock":
        for slot in range(len(reader.rows)):
            if reader.at(slot, "", "begun"):
                key = reader.key(slot) if reader.record.is_keyed else None
                clock = ("key", key) if meaning.has_key_clock else ("stream",)
                meaning.reached[clock] = reader.at(slot, "", "reached")
    windows: dict[Any, Any] = {}
    for slot in closing_order(state, reader.record):
        whole = reader.key(slot) if reader.record.is_keyed else ()
        key, group = (whole, ()) if definition.key_names else ((), whole)
        place: tuple[Any, ...] = (key,)
        if shape in ("shared clock", "own clock"):
            reached = state.cell(f"{prefix}_reached") if shape == "shared clock" else reader.at(slot, "", "reached")
            place = (reached + 1, key)
        window = windows.get(place)
        if window is None:
            window = windows[place] = meaning.new_window()
        window.groups[group] = [
            _accumulator(reader, slot, name, column, operator) for name, column in definition.columns
        ]
        window.sample = _sample(operator, meaning)
        _keep_window(meaning, shape, place, window, reader.at(slot, "", "size"))


def _keep_window(meaning: Any, shape: str, place: tuple[Any, ...], window: Any, size: int | None) -> None:
    if shape == "count":
        meaning.open[place[0]] = window, size
    elif shape == "punctuated":
        meaning.open[place[0]] = window
    else:
        meaning.open.setdefault(place[0], {})[place[1]] = window


def _sample(operator: Operator, meaning: Any) -> Any:
    """A tuple of the window: only asked for the zone of its time, which numbers do not have."""
    return tuple(None for _ in operator.inputs[0].schema.names)


def _accumulator(reader: _Reader, slot: int, name: str, column: Any, operator: Operator) -> Any:
    from anabranch.operators.aggregates import Aggregate

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
