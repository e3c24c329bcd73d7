"""What a new instance keeps, as the words of its record."""

from __future__ import annotations

import struct
from typing import Any

from anabranch.codegen.native.records import Record
from anabranch.codegen.native.state import NativeState, OperatorState
from anabranch.graph.model import Operator
from anabranch.operators.process import Process


def begin(state: OperatorState, operator: Operator, native: NativeState) -> None:
    """The only instance of an operator without a key is there from the start."""
    if isinstance(operator.definition, Process):
        words = initial_words(state.record, native)
        state.records[: len(words)] = words


def initial_words(record: Record, native: NativeState) -> list[int]:
    initial = record.initial
    return [_bits(_at(initial, word.path), word.kind, word.path[-1] == "?", native) for word in record.words]


def _at(initial: Any, path: tuple[str, ...]) -> Any:
    value = initial[path[0]]
    for name in path[1:]:
        if name == "?":
            return value is not None
        if value is None:
            return None
        value = getattr(value, name) if hasattr(value, "_fields") else value[int(name)]
    return value


def _bits(value: Any, kind: str, is_flag: bool, native: NativeState) -> int:
    if value is None:
        return -1 if kind == "str" else 0
    if kind == "float":
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])
    if kind == "str":
        return native.pool.add(value)
    return int(value)
