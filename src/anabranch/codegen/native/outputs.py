"""What a kernel writes: arrays for each output, which become the columns of its chunk."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.native.arrays import Array, ColumnArrays, arrow_column, place_of
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.dtypes import numpy_dtype
from anabranch.codegen.native.state import NativeState
from anabranch.codegen.part import Part
from anabranch.graph.schema import AttributeType
from anabranch.operators.formats.arrow_types import arrow_type


@cache
def _empty(kind: AttributeType) -> pa.Array:
    return pa.array([], arrow_type(kind))


class Shape:
    """What all outputs of a part have in common, looked up once."""

    def __init__(self, part: Part, assembled: Assembled) -> None:
        self.part, self.assembled = part, assembled
        self.arguments: list[list[tuple[int, tuple[Any, ...], str]]] = [[] for _ in part.outputs]
        for at, argument in enumerate(assembled.arguments):
            if argument.role == "output":
                self.arguments[argument.of[0]].append((at, argument.of, numpy_dtype(part, argument)))
        self.schemas = [part.schema(stream) for stream in part.outputs]

    def room(self, number: int, items: int) -> int:
        if number in self.assembled.growing:
            return max(items, 256)
        return items * self.assembled.most_emitted.get(number, 1)


class Outputs:
    """The outputs of one batch."""

    def __init__(self, shape: Shape, state: NativeState, places: Array, items: int) -> None:
        self.shape, self.state, self.places = shape, state, places
        self.part, self.assembled = shape.part, shape.assembled
        self.punctuations: list[list[int]] = [[] for _ in shape.schemas]
        self.ended = [False for _ in shape.schemas]
        self.arrays: dict[tuple[Any, ...], Array] = {}  # by what their argument is of
        for number in range(len(shape.schemas)):
            state.set_cell(f"out{number}_count", 0)
            self._make(number, shape.room(number, items))

    def _make(self, number: int, room: int) -> None:
        self.state.set_cell(f"out{number}_room", room)
        for at, of, dtype in self.shape.arguments[number]:
            larger = np.empty(room, dtype)
            known = self.arrays.get(of)
            if known is not None:
                larger[: len(known)] = known
            self.arrays[of] = larger
            self.places[2 * at : 2 * at + 2] = place_of(larger)

    def make_room(self, windows: int) -> None:
        """For what so many windows emit when they close; outputs that can be full are grown when they are."""
        for number, most in self.assembled.most_emitted.items():
            needed = self.count(number) + windows * most
            if number not in self.assembled.growing and needed > self._room(number):
                self._make(number, needed)

    def _room(self, number: int) -> int:
        return len(self.arrays[self.shape.arguments[number][0][1]])

    def grow(self, number: int) -> None:
        self._make(number, 2 * self._room(number))

    def count(self, number: int) -> int:
        return self.state.cell(f"out{number}_count")

    def punctuate(self, number: int) -> None:
        self.punctuations[number].append(self.count(number))

    def marks(self) -> tuple[list[list[int]], list[bool]]:
        """The punctuations and ends so far."""
        return [list(each) for each in self.punctuations], list(self.ended)

    def set_marks(self, marks: tuple[list[list[int]], list[bool]]) -> None:
        self.punctuations, self.ended = marks

    # Chunks -----------------------------------------------------------------------------------------------------

    def chunks(self, inputs: list[ColumnArrays | None]) -> list[Chunk]:
        return [self._chunk(number, inputs) for number in range(len(self.part.outputs))]

    def _chunk(self, number: int, inputs: list[ColumnArrays | None]) -> Chunk:
        schema = self.shape.schemas[number]
        columns = [self._column(number, name, inputs) for name in schema.names]
        batch = pa.record_batch(columns, list(schema.names))
        chunk = Chunk.of_batch(schema, batch, punctuations=self.punctuations[number], is_last=self.ended[number])
        origins = self._array(number, "", "origin")
        if origins is not None:
            chunk.origins = origins[: self.count(number)]
        return chunk

    def _column(self, number: int, name: str, inputs: list[ColumnArrays | None]) -> pa.Array:
        count = self.count(number)
        kind = self.shape.schemas[number][name]
        mode = self.assembled.outputs.get((number, name))
        if mode is None or count == 0:  # nothing was ever emitted there
            return _empty(kind)
        if mode.column is not None:
            source = inputs[mode.column.input]
            assert source is not None
            rows = self._array(number, "", "row", mode.column.input)
            assert rows is not None
            return source.column(mode.column.attribute).take(pa.array(rows[:count]))
        values, has = self._array(number, name, "values"), self._array(number, name, "has")
        present = None if has is None else has[:count]
        if values is None:
            return pa.nulls(count, arrow_type(kind))
        if kind.kind == "str":
            return self.state.pool.to_arrow(values[:count], present)
        return arrow_column(kind, values[:count], present)

    def _array(self, number: int, name: str, what: str, *more: Any) -> Array | None:
        return self.arrays.get((number, name, what, *more))
