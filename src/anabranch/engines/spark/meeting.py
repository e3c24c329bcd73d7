"""The pieces of streams that arrive at a place within an epoch, put in order as the items of one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.engines.spark.chunk_rows import Piece
from anabranch.engines.spark.order import Column, Columns, Lineage, in_order, spread
from anabranch.graph.schema import Schema


@dataclass(frozen=True, eq=False)
class Items:
    """A batch, and for each of its items the numbers of its place in the order."""

    batch: Batch
    order: Columns
    ends: tuple[int, ...] = ()  # which items are ends of streams

    def __len__(self) -> int:
        return len(self.order[0])


@dataclass(frozen=True, eq=False)
class Arrived:
    """All tuples of a stream within an epoch, in their order, and where it ends if it does."""

    chunk: Chunk
    order: Columns
    end: tuple[int, ...] | None


def gathered(schema: Schema, pieces: Sequence[Piece], width: int) -> Arrived:
    """The pieces of one stream from several channels as one."""
    end = next((piece.end for piece in pieces if piece.end is not None), None)
    if not pieces:
        return Arrived(Chunk.of_rows(schema, []), (np.empty(0, np.int64),) * width, end)
    orders = [order_of(piece) for piece in pieces]
    if len(pieces) == 1:
        return Arrived(pieces[0].chunk, orders[0], end)
    by_order = in_order(orders)
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*orders, strict=True))
    return Arrived(taken(joined(schema, [piece.chunk for piece in pieces]), by_order), order, end)


def order_of(piece: Piece) -> Columns:
    """The numbers of a piece; without any it is the whole epoch, and they count its tuples."""
    return (np.arange(len(piece.chunk), dtype=np.int64),) if piece.order is None else piece.order


def joined(schema: Schema, chunks: Sequence[Chunk]) -> Chunk:
    """Chunks of one stream behind one another, by columns where all have them."""
    if len(chunks) == 1:
        return chunks[0]
    if not any(chunk.has_rows and not chunk.has_batch for chunk in chunks):
        batches = [chunk.batch for chunk in chunks if len(chunk)]
        if len({batch.schema for batch in batches}) == 1:
            return Chunk.of_batch(schema, pa.concat_batches(batches))
    return Chunk.of_rows(schema, [row for chunk in chunks for row in chunk.rows])


def taken(chunk: Chunk, positions: Column) -> Chunk:
    """The tuples at these positions."""
    if chunk.has_batch:
        return Chunk.of_batch(chunk.schema, chunk.batch.take(pa.array(positions)))
    rows = chunk.rows
    return Chunk.of_rows(chunk.schema, [rows[at] for at in positions.tolist()])


def as_columns(chunk: Chunk) -> Chunk:
    """The same with columns, if it can have them: so it is sent, and so keys are hashed fastest."""
    try:
        return Chunk.of_batch(chunk.schema, chunk.batch)
    except NoColumns:
        return chunk


def met(arrived: Sequence[Arrived], lineages: Sequence[Lineage]) -> Items:
    """The streams that come into a place as the items of one batch."""
    if len(arrived) == 1:
        return _alone(arrived[0])
    depth = max(map(len, lineages))
    keys, counts, turns = [], [], []
    for number, (one, lineage) in enumerate(zip(arrived, lineages, strict=True)):
        order, count = _with_end(one)
        keys.append(spread(lineage, order, count, depth))
        counts.append(count)
        turns.append(np.full(count, number, np.uint16))
    by_order = in_order(keys)
    turn = np.concatenate(turns)[by_order]
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*keys, strict=True))
    chunks = tuple(_chunk(one) for one in arrived)
    ends = tuple(int(np.flatnonzero(turn == number)[-1]) for number, one in enumerate(arrived) if one.end is not None)
    return Items(Batch(chunks, turn), order, ends)


def _alone(one: Arrived) -> Items:
    order, count = _with_end(one)
    return Items(Batch((_chunk(one),)), order, (count - 1,) if one.end is not None else ())


def _chunk(one: Arrived) -> Chunk:
    chunk = one.chunk
    return Chunk(chunk.schema, chunk._rows, chunk._batch, (), one.end is not None)


def _with_end(one: Arrived) -> tuple[Columns, int]:
    if one.end is None:
        return one.order, len(one.chunk)
    return tuple(np.append(column, number) for column, number in zip(one.order, one.end, strict=True)), len(
        one.chunk
    ) + 1


def without(one: Arrived, is_out: npt.NDArray[np.bool_]) -> Arrived:
    """What is left where an epoch is cut short: these tuples and the end are not reached any more."""
    kept = np.flatnonzero(~is_out)
    return Arrived(taken(one.chunk, kept), tuple(column[kept] for column in one.order), None)
