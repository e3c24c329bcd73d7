"""Between Arrow columns and the arrays that kernels read and write; numbers are not copied."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.operators.formats.arrow_types import arrow_type

Array = npt.NDArray[Any]
Place = tuple[int, int]  # address and length
_DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}


class ColumnArrays:
    """The arrays of one chunk's columns, made when they are asked for."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self._batch = chunk.batch if chunk.has_batch else None
        self._columns: dict[str, pa.Array] = {}
        self._made: list[Array] = []

    def column(self, attribute: str) -> pa.Array:
        """A column; where the chunk holds rows, only this one is made."""
        found = self._columns.get(attribute)
        if found is None:
            schema = self.chunk.schema
            place = schema.names.index(attribute)
            if self._batch is not None:
                found = self._batch.column(place)
            elif schema[attribute].kind in ("int", "float", "bool", "str"):
                rows = map(itemgetter(place), self.chunk.rows)
                found = pa.array(list(rows), arrow_type(schema[attribute]))
            else:
                found = self.chunk.batch.column(place)
            self._columns[attribute] = found
        return found

    def place(self, attribute: str, what: str) -> Place:
        """Where an array is: its address and its length. It stays there as long as this object exists."""
        if what == "values":
            return self._values(attribute)
        column = self.column(attribute)
        if what == "has":
            return self._kept(_bits(column.buffers()[0], column.offset, len(column)))
        if column.type != pa.string():  # large or dictionary-encoded strings
            column = self._columns[attribute] = column.cast(pa.string())
        _, offsets, data = column.buffers()
        if what == "data":
            return (0, 0) if data is None else (data.address, data.size)
        if offsets is None:
            return self._kept(np.zeros(len(column) + 1, np.int32))
        return offsets.address + 4 * column.offset, len(column) + 1

    def _values(self, attribute: str) -> Place:
        kind = self.chunk.schema[attribute]
        if self._batch is None and kind.kind in ("int", "float") and not kind.optional:
            values = map(itemgetter(self.chunk.schema.names.index(attribute)), self.chunk.rows)
            return self._kept(np.fromiter(values, _DTYPES[kind.kind], len(self.chunk)))
        column = self.column(attribute)
        buffer = column.buffers()[1]
        if kind.kind == "bool":
            return self._kept(_bits(buffer, column.offset, len(column)))
        if buffer is None:
            return self._kept(np.zeros(len(column), _DTYPES[kind.kind]))
        return buffer.address + 8 * column.offset, len(column)

    def _kept(self, array: Array) -> Place:
        self._made.append(array)
        return place_of(array)


def place_of(array: Array) -> Place:
    return array.ctypes.data, len(array)


def _bits(buffer: pa.Buffer | None, offset: int, length: int) -> Array:
    """Arrow keeps bools in bits; a column without a buffer of them has no None."""
    if buffer is None:
        return np.ones(length, np.bool_)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little", count=offset + length)
    return bits[offset:].view(np.bool_)
