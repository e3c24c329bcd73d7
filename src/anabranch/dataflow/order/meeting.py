"""The pieces of streams that arrive at a place within an epoch, put in order as the items of one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk, joined, taken
from anabranch.dataflow.order.order_keys import Column, Columns, Lineage, Moment, Number, in_order, merged, spread
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.schema import Schema


@dataclass(frozen=True, eq=False)
class Items:
    """A batch, and for each of its items the numbers of its place in the order."""

    batch: Batch
    order: Columns
    ends: tuple[int, ...] = ()  # which items are ends of streams
    punctuations: tuple[int, ...] = ()  # and which are punctuations

    def __len__(self) -> int:
        return len(self.order[0])


@dataclass(frozen=True, eq=False)
class Arrived:
    """All tuples of a stream within an epoch, in their order, its punctuations, and where it ends if it does."""

    chunk: Chunk
    order: Columns
    end: tuple[int, ...] | None
    punctuations: Columns = ()

    @cached_property
    def before(self) -> Column:
        """For each punctuation, how many tuples come before it."""
        if not self.punctuations:
            return np.empty(0, np.int64)
        is_punctuation = in_order([self.order, self.punctuations]) >= len(self.chunk)
        places = np.flatnonzero(is_punctuation)
        return places - np.arange(len(places))


def gathered(schema: Schema, pieces: Sequence[Piece], width: int) -> Arrived:
    """The pieces of one stream from several channels as one."""
    end = next((piece.end for piece in pieces if piece.end is not None), None)
    if not pieces:
        return Arrived(Chunk.of_rows(schema, []), (np.empty(0, np.int64),) * width, end)
    orders = [order_of(piece) for piece in pieces]
    punctuations = _each_once([piece.punctuations for piece in pieces if piece.punctuations])
    if len(pieces) == 1:
        return Arrived(pieces[0].chunk, orders[0], end, punctuations)
    by_order = in_order(orders)
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*orders, strict=True))
    return Arrived(taken(joined(schema, [piece.chunk for piece in pieces]), by_order), order, end, punctuations)


def _each_once(punctuations: Sequence[Columns]) -> Columns:
    """Every channel that a punctuation went through has sent it on."""
    if not punctuations:
        return ()
    by_order = in_order(punctuations)
    columns = [np.concatenate(each)[by_order] for each in zip(*punctuations, strict=True)]
    is_new = np.ones(len(by_order), bool)
    is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return tuple(column[is_new] for column in columns)


def order_of(piece: Piece) -> Columns:
    """The numbers of a piece; without any it is the whole epoch, and they count its tuples."""
    return (np.arange(len(piece.chunk), dtype=np.int64),) if piece.order is None else piece.order


def met(arrived: Sequence[Arrived], lineages: Sequence[Lineage]) -> Items:
    """The streams that come into a place as the items of one batch."""
    if len(arrived) == 1:
        return _alone(arrived[0])
    steps = merged(lineages, "")
    keys, counts, turns = [], [], []
    for number, (one, lineage) in enumerate(zip(arrived, lineages, strict=True)):
        order, count = _order_of_items(one)
        keys.append(spread(lineage, order, count, len(steps)))
        counts.append(count)
        turns.append(np.full(count, number, np.uint16))
    has_column = [at for at, step in enumerate(steps) if isinstance(step, Number)]
    keys = [[key[at] for at in has_column] for key in keys]
    by_order = in_order(keys)
    turn = np.concatenate(turns)[by_order]
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*keys, strict=True))
    chunks = tuple(_marked(one) for one in arrived)
    marks = [_marks(one, np.flatnonzero(turn == number)) for number, one in enumerate(arrived)]
    ends = tuple(end for of_stream, _ in marks for end in of_stream)
    punctuations = tuple(each for _, of_stream in marks for each in of_stream)
    return Items(Batch(chunks, turn), order, ends, punctuations)


def _alone(one: Arrived) -> Items:
    order, count = _order_of_items(one)
    return Items(Batch((_marked(one),)), order, *_marks(one, np.arange(count)))


def _marks(one: Arrived, places: Column) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which items are the end of a stream, if it ends, and its punctuations, where its items are in these places."""
    punctuations = one.before + np.arange(len(one.before))
    return (int(places[-1]),) if one.end is not None else (), tuple(places[punctuations].tolist())


def _marked(one: Arrived) -> Chunk:
    return one.chunk.marked(one.before.tolist(), is_last=one.end is not None)


def _order_of_items(one: Arrived) -> tuple[Columns, int]:
    """The places of tuples, of the punctuations between them, and of the end."""
    order, count = one.order, len(one.chunk) + len(one.before) + (one.end is not None)
    if one.punctuations:
        pairs = zip(order, one.punctuations, strict=True)
        order = tuple(np.insert(column, one.before, more) for column, more in pairs)
    if one.end is not None:
        order = tuple(np.append(column, number) for column, number in zip(order, one.end, strict=True))
    return order, count


def without(one: Arrived, lineage: Lineage, failed: Moment) -> Arrived:
    """What is left where an epoch is cut short: the rest is not reached any more."""
    kept = np.flatnonzero(~failed.precedes(lineage, one.order, len(one.chunk)))
    punctuations = one.punctuations
    if punctuations:
        reached = np.flatnonzero(~failed.precedes(lineage, punctuations, len(punctuations[0])))
        punctuations = tuple(column[reached] for column in punctuations) if len(reached) else ()
    end = one.end if one.end is not None and failed.is_behind(lineage, one.end) else None
    return Arrived(taken(one.chunk, kept), tuple(column[kept] for column in one.order), end, punctuations)
