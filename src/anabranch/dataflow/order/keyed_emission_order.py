"""A window operator of which each channel has some keys: how what all of them give at one moment is put in order.

When the time of a stream passes a boundary, and when it ends, windows close in every channel. Their order is that of
their ends, then that of their first tuples (design, section 2). So the operator is given the place of each tuple in the
order as further attributes, and gives those of the first tuple of a window back in further columns. Of a window with
groups, each gives that of its own first tuple, and the key: the first of all groups of a key is that of its window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.part import Part
from anabranch.dataflow.order.order_columns import Columns
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.model import Edge, Operator, Port, StreamId
from anabranch.graph.order_keys import width
from anabranch.graph.places import Elsewhere, Layout, Place
from anabranch.graph.schema import Attribute, AttributeType, Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import INDEX, Accumulator, Aggregate, UserAggregate, WindowEdge
from anabranch.operators.windows import CLOCK

_INT = AttributeType("int")


def ranked_part(layout: Layout, place: Place) -> Part:
    """The part of a place with windows: their operator with these attributes and columns, and what is around it."""
    operator = layout.graph.operator(place.operators[0])
    arriving = layout.arriving(place.id)
    numbers: tuple[str, ...] = ()
    ranked = operator
    if isinstance(operator.definition, WindowAggregate):
        numbers, ranked = _with_ranks(layout, place, operator, operator.definition)
    taken = operator.inputs[0].schema
    if numbers:
        taken = _extended(taken, behind=[Attribute(name, _INT) for name in numbers])
        late = getattr(operator.definition, "late", None)  # that output gives what is taken
        outputs = [replace(each, schema=taken) if each.name == late else each for each in ranked.outputs]
        ranked = replace(ranked, outputs=tuple(outputs))
    source, port = layout.graph.operator(arriving[0].stream.operator), arriving[0].stream.port
    inputs = [replace(operator.inputs[0], schema=taken)]
    edges = [Edge(source.id, port, operator.id, 0)]
    streams = [arriving[0].stream]
    outside = [_giving(source, port, taken)]
    if len(arriving) > 1:
        known = operator.inputs[0].schema
        clock = Operator(f"{operator.id}: clock", Elsewhere(), (), (Port("out", known),), operator.location)
        inputs.append(Port("clock", known))
        edges.append(Edge(clock.id, 0, operator.id, CLOCK))
        streams.append(StreamId(clock.id))
        outside.append(clock)
    graph = layout.graph.part((*outside, replace(ranked, inputs=tuple(inputs))), tuple(edges))
    return Part(graph, place.operators, tuple(streams), place.outputs)


def _with_ranks(
    layout: Layout, place: Place, operator: Operator, definition: WindowAggregate
) -> tuple[tuple[str, ...], Operator]:
    """The attributes that a window operator gets, and the operator with its further columns."""
    taken = operator.inputs[0].schema
    numbers = _names("order", width(layout.arriving(place.id)[0].lineage) + 1, taken)
    given = operator.outputs[0].schema
    added: list[Any] = [(WindowEdge(part), _INT) for part in INDEX if definition.window.has_many_ends]
    added += [(Aggregate("first", number), _INT) for number in numbers]
    added += [(Aggregate("first", name), taken[name]) for name in definition.key_names if definition.group_by]
    # Ranks come first: where a tuple fails at a column behind them and is skipped, it still began the window.
    ranks = _names("rank", len(added), given)
    columns = [(rank, column) for rank, (column, _) in zip(ranks, added, strict=True)]
    columns += [(name, _seeing(column, taken)) for name, column in definition.columns]
    more = [Attribute(rank, kind) for rank, (_, kind) in zip(ranks, added, strict=True)]
    outputs = (replace(operator.outputs[0], schema=_extended(given, before=more)), *operator.outputs[1:])
    return numbers, replace(
        operator, definition=replace(definition, columns=tuple(columns), ranks=ranks), outputs=outputs
    )


def _giving(source: Operator, port: int, schema: Schema) -> Operator:
    ports = [replace(each, schema=schema) if at == port else each for at, each in enumerate(source.outputs)]
    return Operator(source.id, Elsewhere(), (), tuple(ports), source.location)


def _names(what: str, count: int, beside: Schema) -> tuple[str, ...]:
    """New names of attributes."""
    while any(name.startswith(what) for name in beside.names):
        what += "_"
    return tuple(f"{what}{number}" for number in range(count))


def _extended(schema: Schema, *, before: Sequence[Attribute] = (), behind: Sequence[Attribute] = ()) -> Schema:
    """With more attributes."""
    attributes = (*before, *schema.attributes, *behind)
    members = [(attribute.name, Any) for attribute in attributes]
    kind: Any = NamedTuple(schema.name, members)  # type: ignore[misc]  # known only now
    if behind:
        # Dead letters show tuples as the user knows them.
        kind.__repr__ = lambda item: repr(as_known(item, schema.type))  # type: ignore[method-assign]
    return Schema(kind, attributes)


# Aggregates of the user's own -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seeing:
    """Makes a user's accumulators, to which tuples are shown as the user knows them."""

    factory: Callable[[], Accumulator]
    schema: Schema

    def __call__(self) -> Accumulator:
        return _Seeing(self.factory(), self.schema.type)


class _Seeing:
    def __init__(self, inner: Accumulator, kind: Any) -> None:
        self.inner, self.kind = inner, kind

    def add(self, item: Any) -> None:
        self.inner.add(as_known(item, self.kind))

    def result(self) -> Any:
        return self.inner.result()


def _seeing(column: Any, schema: Schema) -> Any:
    return replace(column, factory=Seeing(column.factory, schema)) if isinstance(column, UserAggregate) else column


def as_known(item: Any, kind: Any) -> Any:
    """A tuple without what was added to it."""
    return tuple.__new__(kind, item[: len(kind._fields)])


# Chunks ---------------------------------------------------------------------------------------------------------------


def with_numbers(piece: Piece, stretch: int, schema: Schema) -> Piece:
    """Tuples with their places in the order."""
    chunk, count = piece.chunk, len(piece.chunk)
    numbers = (np.full(count, stretch, np.int64), *piece.order)
    if chunk.has_batch:
        arrays = [*chunk.batch.columns, *(pa.array(column) for column in numbers)]
        made = Chunk.of_batch(schema, pa.record_batch(arrays, names=list(schema.names)))
    else:
        make: Any = schema.type._make  # type: ignore[attr-defined]  # a NamedTuple
        added = zip(*(column.tolist() for column in numbers), strict=True)
        made = Chunk.of_rows(schema, [make((*row, *more)) for row, more in zip(chunk.rows, added, strict=True)])
    return replace(piece, chunk=made)


def without_numbers(chunk: Chunk, schema: Schema) -> Chunk:
    """Tuples that had numbers, as they go on."""
    count = len(schema.names)
    if chunk.has_batch:
        batch = chunk.batch
        return Chunk.of_batch(schema, pa.record_batch(batch.columns[:count], pa.schema(list(batch.schema)[:count])))
    return Chunk.of_rows(schema, [as_known(row, schema.type) for row in chunk.rows])


def without_ranks(chunk: Chunk, schema: Schema, numbers: int) -> tuple[Chunk, Columns]:
    """Outputs as they go on, and the columns of numbers for their order."""
    count = len(chunk.schema.names) - len(schema.names)
    if chunk.has_batch:
        batch = chunk.batch
        known = pa.record_batch(batch.columns[count:], pa.schema(list(batch.schema)[count:]))
        return Chunk.of_batch(schema, known), tuple(column.to_numpy() for column in batch.columns[:numbers])
    rows = chunk.rows
    ranks = tuple(np.array([row[at] for row in rows], np.int64) for at in range(numbers))
    make: Any = schema.type._make  # type: ignore[attr-defined]  # a NamedTuple
    return Chunk.of_rows(schema, [make(row[count:]) for row in rows]), ranks
