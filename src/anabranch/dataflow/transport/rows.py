"""What travels between processes: a row for each piece, its payload in Arrow's stream format."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.dataflow.order.order_columns import Columns
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.nans import NamedNans, NanNames
from anabranch.graph.schema import AttributeType, Schema

_META = b"anabranch"


class Kind(IntEnum):
    """What a row carries."""

    CHUNK = 0
    ERROR = 1
    FIGURES = 2
    REACHED = 3  # of a stream: how far it has been read
    SPOOLED = 4  # a chunk or a state that is in a file
    STATE = 5  # of a channel, from one round of a loop to the next
    WRITTEN = 6  # which files of an output a task wrote
    END = 7  # there are no stretches behind this one
    KEYS = 8  # of a partition
    CHANGE = 9  # of what channels share
    PRINTED = 10  # what a task said in a stretch


@dataclass(frozen=True)
class Row:
    """What is sent to a channel of a place, numbered among all of its level. `arrival` is its stream there.

    Tuples are a piece as it is as long as they stay in one process, and packed where they leave it.
    """

    channel: int
    place: int
    stretch: int
    arrival: int
    kind: int
    payload: Any  # a piece, or a buffer

    @property
    def values(self) -> tuple[Any, ...]:
        """As it leaves the process."""
        return self.channel, self.place, self.stretch, self.arrival, self.kind, self.packed().payload

    def packed(self) -> Row:
        return replace(self, payload=pack(self.payload)) if isinstance(self.payload, Piece) else self

    def piece(self, schema: Schema) -> Piece:
        """The tuples that it carries."""
        return self.payload if isinstance(self.payload, Piece) else unpack(schema, self.payload)


def pack(piece: Piece) -> pa.Buffer:
    meta: dict[str, Any] = {"end": piece.end, "order": -1 if piece.columns is None else len(piece.columns)}
    if piece.punctuations:
        meta["punctuations"] = [column.tolist() for column in piece.punctuations]
    try:
        columns = piece.chunk.batch
    except NoColumns:
        # Such rows have no columns; they are ours to read, as the run itself wrote them.
        meta["rows"] = True
        pickled = _pickled(piece.chunk)
        arrays, names = [pa.array([pickled], pa.binary())], ["rows"]
        if piece.columns:
            arrays += [pa.array([column.tobytes()], pa.binary()) for column in piece.columns]
            names += [f"#{at}" for at in range(len(piece.columns))]
    else:
        arrays, names = list(columns.columns), list(columns.schema.names)
        if piece.columns:
            arrays += [pa.array(column) for column in piece.columns]
            names += [f"#{at}" for at in range(len(piece.columns))]
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)],
        metadata={_META: json.dumps(meta).encode()},
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch(arrays, schema))
    return sink.getvalue()


def unpack(schema: Schema, payload: Any) -> Piece:
    with pa.ipc.open_stream(pa.py_buffer(payload)) as reader:
        batch = reader.read_next_batch()
    meta = json.loads(batch.schema.metadata[_META])
    own = batch.num_columns - max(meta["order"], 0)
    order: Columns | None = None
    if meta.get("rows"):
        chunk = Chunk.of_rows(schema, _unpickled(schema, batch.column(0)[0].as_buffer()))
        if meta["order"] >= 0:
            order = tuple(np.frombuffer(column[0].as_buffer(), np.int64) for column in batch.columns[own:])
    else:
        columns = batch.columns[:own]
        chunk = Chunk.of_batch(schema, pa.record_batch(columns, pa.schema(list(batch.schema)[:own])))
        if meta["order"] >= 0:
            order = tuple(column.to_numpy() for column in batch.columns[own:])
    end = meta["end"]
    punctuations = tuple(np.array(column, np.int64) for column in meta.get("punctuations", ()))
    return Piece(chunk, order, None if end is None else tuple(end), punctuations)


# Rows without columns -------------------------------------------------------------------------------------------------


class _ByNumber(pickle.Pickler):
    """Classes of tuples by their numbers: a worker has them by value, so that their names say nothing there."""

    def __init__(self, into: io.BytesIO, classes: list[type]) -> None:
        super().__init__(into, pickle.HIGHEST_PROTOCOL)
        self._numbers = {each: number for number, each in enumerate(classes)}
        self._nans = NanNames()

    def persistent_id(self, thing: Any) -> Any:
        return self._numbers.get(thing) if isinstance(thing, type) else self._nans.name(thing)


class _FromNumbers(pickle.Unpickler):
    def __init__(self, data: io.BytesIO, classes: list[type]) -> None:
        super().__init__(data)
        self._classes = classes
        self._nans = NamedNans()

    def persistent_load(self, name: Any) -> Any:
        return self._classes[name] if isinstance(name, int) else self._nans.find(name)


def _pickled(chunk: Chunk) -> bytes:
    into = io.BytesIO()
    _ByNumber(into, _classes(chunk.schema)).dump(chunk.rows)
    return into.getvalue()


def _unpickled(schema: Schema, data: pa.Buffer) -> list[Any]:
    rows: list[Any] = _FromNumbers(io.BytesIO(data), _classes(schema)).load()
    return rows


def _classes(schema: Schema) -> list[type]:
    """The types of tuples in a stream, its own first."""
    found: list[type] = [schema.type]
    for attribute in schema.attributes:
        kind: AttributeType | None = attribute.type
        while kind is not None:
            if kind.nested is not None:
                found += _classes(kind.nested)
            kind = kind.element
    return found
