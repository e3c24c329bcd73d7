"""What a kernel writes: arrays for each output, which become the columns of its chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.native.arrays import Array, ColumnArrays, place_of
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.dtypes import numpy_dtype
from anabranch.codegen.native.kernel import SHIFT, OutputMode
from anabranch.codegen.native.state import NativeState
from anabranch.codegen.part import Part
from anabranch.graph.schema import AttributeType
from anabranch.operators.formats.arrow_types import arrow_type

if TYPE_CHECKING:
    from anabranch.codegen.runtime.string_pool import StringPool


_MUCH, _LITTLE = 4, 65_536  # larger arrays than so many times what is needed are given up, but not small ones


class _Column:
    """An attribute of an output: the arrays that a kernel writes, and what they become."""

    def __init__(self, kind: AttributeType, mode: OutputMode | None) -> None:
        self.kind, self.type = kind, arrow_type(kind)
        self.source = None if mode is None else mode.column  # the input column it is taken from, where there is one
        self.values: Array | None = None
        self.has: Array | None = None

    def taken(
        self, count: int, rows: dict[int, Array], inputs: list[ColumnArrays | None], pool: StringPool
    ) -> pa.Array:
        """A copy of what was written."""
        if self.source is not None:
            source = inputs[self.source.input]
            assert source is not None
            return source.column(self.source.attribute).take(pa.array(rows[self.source.input][:count]))
        if self.values is None:
            return pa.nulls(count, self.type)
        if self.kind.kind == "str":
            return pool.to_arrow(self.values[:count], None if self.has is None else self.has[:count])
        is_bool = self.kind.kind == "bool"
        data = _bits_of(self.values[:count]) if is_bool else pa.py_buffer(self.values[:count].tobytes())
        validity = None if self.has is None else _bits_of(self.has[:count])
        return pa.Array.from_buffers(self.type, count, [validity, data])


def _bits_of(flags: Array) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


@dataclass(frozen=True)
class Marks:
    """The punctuations of an output within a batch, and its end: the item and the turn."""

    punctuations: tuple[tuple[int, int, int], ...] = ()  # how many tuples are before each, its item and its turn
    end: tuple[int, int] | None = None


class _Output:
    """One output: its arrays, which are kept from batch to batch, and its schema as Arrow has it."""

    def __init__(self, number: int, part: Part, assembled: Assembled) -> None:
        self.schema = part.schema(part.outputs[number])
        names = self.schema.names
        self.columns = {name: _Column(self.schema[name], assembled.outputs.get((number, name))) for name in names}
        self.arrow = pa.schema([pa.field(name, column.type) for name, column in self.columns.items()])
        self.empty = pa.RecordBatch.from_pylist([], self.arrow)
        self.arguments: list[tuple[int, tuple[Any, ...], str]] = []
        for at, argument in enumerate(assembled.arguments):
            if argument.role == "output" and argument.of[0] == number:
                self.arguments.append((at, argument.of[1:], numpy_dtype(part, argument)))
        self.rows: dict[int, Array] = {}  # by input: which of its rows a tuple's columns are taken from
        self.origins: Array | None = None
        self.turns: Array | None = None
        self.room = 0
        self.count_place = _place(assembled, f"out{number}_count")
        self.room_place = _place(assembled, f"out{number}_room")
        self.grows = number in assembled.growing
        self.most = assembled.most_emitted.get(number, 1)
        self.marks = Marks()

    def lengthened(self, of: tuple[Any, ...], dtype: str, kept: int) -> Array:
        """A longer array in place of one, with as much of its content."""
        name, what, *more = of
        owner: Any = self if what in ("origin", "turn", "row") else self.columns[name]
        known = self.rows.get(more[0]) if what == "row" else getattr(owner, _ATTRIBUTES[what])
        longer = np.empty(self.room, dtype)
        if known is not None and kept:
            longer[:kept] = known[:kept]
        if what == "row":
            self.rows[more[0]] = longer
        else:
            setattr(owner, _ATTRIBUTES[what], longer)
        return longer


_ATTRIBUTES = {"origin": "origins", "turn": "turns", "values": "values", "has": "has"}


def _place(assembled: Assembled, cell: str) -> int:
    """Where a cell is in `meta`, or -1."""
    return assembled.cells[cell].place if cell in assembled.cells else -1


class Outputs:
    """The outputs of a processing element. What a batch leaves there is copied out before the next comes."""

    def __init__(self, part: Part, assembled: Assembled, state: NativeState, places: Array) -> None:
        self._state, self._places = state, places
        self._given = _place(assembled, "given")  # how much was given on all outputs in this batch, if it is counted
        self._outputs = [_Output(number, part, assembled) for number in range(len(part.outputs))]

    def begin(self, items: int) -> None:
        """Make ready for a batch."""
        self.begin_piece()
        for each in self._outputs:
            needed = max(items, 256) if each.grows else items * each.most
            if not needed <= each.room <= max(_MUCH * needed, _LITTLE):
                self._make(each, needed)

    def begin_piece(self) -> None:
        """Go on with the batch; what was written before has been copied out."""
        if self._given >= 0:
            self._state.words[self._given] = 0
        for each in self._outputs:
            each.marks = Marks()
            if each.count_place >= 0:
                self._state.words[each.count_place] = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written or marked since then."""
        return not any(self._count(each) or each.marks != Marks() for each in self._outputs)

    def _make(self, output: _Output, room: int) -> None:
        output.room, kept = room, self._count(output)
        if output.room_place >= 0:
            self._state.words[output.room_place] = room
        for at, of, dtype in output.arguments:
            self._places[2 * at : 2 * at + 2] = place_of(output.lengthened(of, dtype, kept))

    def make_room(self, windows: int) -> None:
        """For what so many windows emit when they close; outputs that can be full are grown when they are."""
        for each in self._outputs:
            needed = self._count(each) + windows * each.most
            if not each.grows and needed > each.room:
                self._make(each, needed)

    def grow(self, number: int) -> None:
        self._make(self._outputs[number], 2 * self._outputs[number].room)

    def _count(self, output: _Output) -> int:
        return self._state.words[output.count_place] if output.count_place >= 0 else 0

    def punctuate(self, number: int) -> None:
        output = self._outputs[number]
        mark = self._count(output), self._state.words[SHIFT], self._turn()
        output.marks = replace(output.marks, punctuations=(*output.marks.punctuations, mark))

    def end(self, number: int) -> None:
        output = self._outputs[number]
        output.marks = replace(output.marks, end=(self._state.words[SHIFT], self._turn()))

    def _turn(self) -> int:
        if self._given < 0:
            return 0
        self._state.words[self._given] += 1
        return self._state.words[self._given] - 1

    def begin_mark(self) -> list[Marks]:
        """Turns are counted anew, so that they are the same in all channels. The punctuations and ends so far."""
        if self._given >= 0:
            self._state.words[self._given] = 0
        return [each.marks for each in self._outputs]

    def set_marks(self, marks: list[Marks]) -> None:
        for output, each in zip(self._outputs, marks, strict=True):
            output.marks = each

    # Chunks -----------------------------------------------------------------------------------------------------

    def find_columns(self, inputs: list[ColumnArrays | None]) -> None:
        """Make the columns that outputs take from inputs: `NoColumns` has to come before anything is processed."""
        for output in self._outputs:
            for column in output.columns.values():
                source = None if column.source is None else inputs[column.source.input]
                if column.source is not None and source is not None:
                    source.column(column.source.attribute)

    def chunks(self, inputs: list[ColumnArrays | None]) -> list[Chunk]:
        return [self._chunk(each, inputs) for each in self._outputs]

    def _chunk(self, output: _Output, inputs: list[ColumnArrays | None]) -> Chunk:
        count = self._count(output)
        batch = output.empty
        if count:
            pool = self._state.pool
            columns = [column.taken(count, output.rows, inputs, pool) for column in output.columns.values()]
            # By names: a column that passes through has its own type, datetimes perhaps a zone.
            batch = pa.RecordBatch.from_arrays(columns, names=output.arrow.names)
        origins = None if output.origins is None else output.origins[:count].copy()
        if not count:  # perhaps none that native code gives, but the oracle, of what is handed over
            origins = np.empty(0, np.int64)
        punctuations, end = output.marks.punctuations, output.marks.end
        before = [each[0] for each in punctuations]
        of_items = np.array([each[1] for each in punctuations], np.int64)  # also where no tuple ever came
        chunk = Chunk(output.schema, None, batch, before, end is not None, origins, of_items)
        if self._given >= 0:
            chunk.turns = np.empty(0, np.int64) if output.turns is None else output.turns[:count].copy()
            chunk.punctuation_turns = np.array([each[2] for each in punctuations], np.int64)
            chunk.ended = end
        return chunk
