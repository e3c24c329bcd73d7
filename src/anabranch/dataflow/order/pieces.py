"""What moves from place to place: tuples of one stream within one stretch, with what puts them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anabranch.codegen.chunks import Chunk, join_chunks, take_tuples
from anabranch.dataflow.order.order_columns import Column, Columns, Moment, in_order
from anabranch.graph.order_keys import Lineage
from anabranch.graph.schema import Schema


@dataclass(frozen=True, eq=False)
class Piece:
    """Tuples of a stream on their way into a channel, within one stretch, with the columns of their order.

    `end`, on the last piece of a stream, is where it ends in that order, and `punctuations` are columns of where those
    are. Columns are left out where they would only count the tuples of a whole stretch.
    """

    chunk: Chunk
    columns: Columns | None
    end: tuple[int, ...] | None = None
    punctuations: Columns = ()

    @property
    def is_empty(self) -> bool:
        return not len(self.chunk) and self.end is None and not self.punctuations

    @cached_property
    def order(self) -> Columns:
        """The numbers of its tuples, counted where it has none."""
        return (np.arange(len(self.chunk), dtype=np.int64),) if self.columns is None else self.columns

    @cached_property
    def before(self) -> Column:
        """For each punctuation, how many tuples come before it."""
        if not self.punctuations:
            return np.empty(0, np.int64)
        is_punctuation = in_order([self.order, self.punctuations]) >= len(self.chunk)
        places = np.flatnonzero(is_punctuation)
        return places - np.arange(len(places))


def join_pieces(schema: Schema, pieces: Sequence[Piece], width: int) -> Piece:
    """The pieces of one stream within a stretch, from several channels, as one: all its tuples in their order."""
    end = next((piece.end for piece in pieces if piece.end is not None), None)
    if not pieces:
        return Piece(Chunk.of_rows(schema, []), (np.empty(0, np.int64),) * width, end)
    punctuations = _each_once([piece.punctuations for piece in pieces if piece.punctuations])
    orders = [piece.order for piece in pieces]
    if len(pieces) == 1:
        return Piece(pieces[0].chunk, orders[0], end, punctuations)
    by_order = in_order(orders)
    order = tuple(np.concatenate(columns)[by_order] for columns in zip(*orders, strict=True))
    return Piece(
        take_tuples(join_chunks(schema, [piece.chunk for piece in pieces]), by_order), order, end, punctuations
    )


def _each_once(punctuations: Sequence[Columns]) -> Columns:
    """Every channel that a punctuation went through has sent it on."""
    if not punctuations:
        return ()
    by_order = in_order(punctuations)
    columns = [np.concatenate(each)[by_order] for each in zip(*punctuations, strict=True)]
    is_new = np.ones(len(by_order), bool)
    is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return tuple(column[is_new] for column in columns)


def cut_short(piece: Piece, lineage: Lineage, failed: Moment) -> Piece:
    """What is left of a stretch in which something failed: the rest is not reached any more."""
    kept = np.flatnonzero(~failed.precedes(lineage, piece.order, len(piece.chunk)))
    punctuations = piece.punctuations
    if punctuations:
        reached = np.flatnonzero(~failed.precedes(lineage, punctuations, len(punctuations[0])))
        punctuations = tuple(column[reached] for column in punctuations) if len(reached) else ()
    end = piece.end if piece.end is not None and failed.is_behind(lineage, piece.end) else None
    return Piece(take_tuples(piece.chunk, kept), tuple(column[kept] for column in piece.order), end, punctuations)
