"""Between Arrow columns and the arrays that kernels read and write; numbers are not copied."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.graph.schema import AttributeType
from anabranch.operators.formats.arrow_types import arrow_type

Array = npt.NDArray[Any]
_DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}
EMPTY = {"values": np.int64, "has": np.bool_, "offsets": np.int32, "data": np.uint8}


class ColumnArrays:
    """The arrays of one chunk's columns, made when they are asked for."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self._columns: dict[str, pa.Array] = {}

    def column(self, attribute: str) -> pa.Array:
        """A column; where the chunk holds rows, only this one is made."""
        found = self._columns.get(attribute)
        if found is None:
            place = self.chunk.schema.names.index(attribute)
            kind = self.chunk.schema[attribute]
            if self.chunk.has_batch or kind.kind not in ("int", "float", "bool", "str"):
                found = self.chunk.batch.column(place)
            else:
                found = pa.array(list(map(itemgetter(place), self.chunk.rows)), arrow_type(kind))
            self._columns[attribute] = found
        return found

    def array(self, attribute: str, what: str) -> Array:
        kind = self.chunk.schema[attribute].kind
        if what == "values" and not self.chunk.has_batch and kind in ("int", "float") and not self._optional(attribute):
            place = self.chunk.schema.names.index(attribute)
            return np.fromiter(map(itemgetter(place), self.chunk.rows), _DTYPES[kind], len(self.chunk))
        column = self.column(attribute)
        match what:
            case "has":
                return _bits(column.buffers()[0], column.offset, len(column))
            case "offsets":
                if column.type != pa.string():
                    column = self._columns[attribute] = column.cast(pa.string())
                buffer = column.buffers()[1]
                if buffer is None:
                    return np.zeros(len(column) + 1, np.int32)
                return np.frombuffer(buffer, np.int32)[column.offset : column.offset + len(column) + 1]
            case "data":
                buffer = column.buffers()[2]
                return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)
        values = column.buffers()[1]
        if kind == "bool":
            return _bits(values, column.offset, len(column))
        if values is None:
            return np.zeros(len(column), _DTYPES[kind])
        return np.frombuffer(values, _DTYPES[kind])[column.offset : column.offset + len(column)]

    def _optional(self, attribute: str) -> bool:
        return self.chunk.schema[attribute].optional


def _bits(buffer: pa.Buffer | None, offset: int, length: int) -> Array:
    """Arrow keeps bools in bits; a column without a buffer of them has no None."""
    if buffer is None:
        return np.ones(length, np.bool_)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little", count=offset + length)
    return bits[offset:].view(np.bool_)


def arrow_column(kind: AttributeType, values: Array, has: Array | None) -> pa.Array:
    """A column of numbers or bools from what a kernel wrote."""
    validity = None if has is None else pa.py_buffer(np.packbits(has, bitorder="little"))
    data = np.packbits(values, bitorder="little") if kind.kind == "bool" else values
    return pa.Array.from_buffers(arrow_type(kind), len(values), [validity, pa.py_buffer(data)])
