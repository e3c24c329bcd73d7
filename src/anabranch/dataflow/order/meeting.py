"""The streams that arrive at a place within a stretch, put in order as the items of one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.dataflow.order.order_columns import Column, Columns, in_order, spread
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.order_keys import Lineage, Number, merge_lineages


@dataclass(eq=False)
class Items(Batch):
    """A batch with the numbers of the place of each of its items in the order."""

    order: Columns = ()
    ends: tuple[int, ...] = ()  # which items are ends of streams
    punctuations: tuple[int, ...] = ()  # and which are punctuations

    def __len__(self) -> int:
        return len(self.order[0])


def put_in_order(pieces: Sequence[Piece], lineages: Sequence[Lineage]) -> Items:
    """One piece of each stream that comes into a place: all that is to be done there for a stretch."""
    if len(pieces) == 1:
        return _alone(pieces[0])
    steps = merge_lineages(lineages, "")
    keys, counts, turns = [], [], []
    for number, (piece, lineage) in enumerate(zip(pieces, lineages, strict=True)):
        order, count = _order_of_items(piece)
        keys.append(spread(lineage, order, count, len(steps)))
        counts.append(count)
        turns.append(np.full(count, number, np.uint16))
    has_column = [at for at, step in enumerate(steps) if isinstance(step, Number)]
    keys = [[key[at] for at in has_column] for key in keys]
    by_order = in_order(keys)
    turn = np.concatenate(turns)[by_order]
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*keys, strict=True))
    chunks = tuple(map(_marked, pieces))
    marks = [_marks(piece, np.flatnonzero(turn == number)) for number, piece in enumerate(pieces)]
    ends = tuple(end for of_stream, _ in marks for end in of_stream)
    punctuations = tuple(each for _, of_stream in marks for each in of_stream)
    return Items(chunks, turn, order, ends, punctuations)


def _alone(piece: Piece) -> Items:
    order, count = _order_of_items(piece)
    return Items((_marked(piece),), None, order, *_marks(piece, np.arange(count)))


def _marks(piece: Piece, places: Column) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which items are the end of a stream, if it ends, and its punctuations, where its items are in these places."""
    punctuations = piece.before + np.arange(len(piece.before))
    return (int(places[-1]),) if piece.end is not None else (), tuple(places[punctuations].tolist())


def _marked(piece: Piece) -> Chunk:
    return piece.chunk.marked(piece.before.tolist(), is_last=piece.end is not None)


def _order_of_items(piece: Piece) -> tuple[Columns, int]:
    """The places of tuples, of the punctuations between them, and of the end."""
    order, count = piece.order, len(piece.chunk) + len(piece.before) + (piece.end is not None)
    if piece.punctuations:
        pairs = zip(order, piece.punctuations, strict=True)
        order = tuple(np.insert(column, piece.before, more) for column, more in pairs)
    if piece.end is not None:
        order = tuple(np.append(column, number) for column, number in zip(order, piece.end, strict=True))
    return order, count
