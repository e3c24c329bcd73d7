"""What one task has drawn for a stretch: the tuples of each stream, by rows or by columns, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns, join_chunks
from anabranch.dataflow.order.order_columns import Column
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.schema import Schema
from anabranch.operators.base import FINAL


class DrawnStretch:
    """Streams have numbers; the place of an item is how many were drawn before it."""

    def __init__(self, schemas: Sequence[Schema]) -> None:
        self._schemas = schemas
        self._chunks: list[list[Chunk]] = [[] for _ in schemas]
        self._turns: list[Column] = []
        self._rows: list[list[Any]] = [[] for _ in schemas]  # behind the chunks
        self._rows_turns: list[int] = []
        self._ended: list[int] = []
        self._settled = 0  # items that are no longer rows

    def __len__(self) -> int:
        return self._settled + len(self._rows_turns)

    def add(self, number: int, item: Any) -> None:
        """A tuple, or the end of a stream."""
        self._rows_turns.append(number)
        if item is FINAL:
            self._ended.append(number)
        else:
            self._rows[number].append(item)

    def add_columns(self, chunks: Mapping[int, Chunk], turns: Column) -> None:
        """Chunks of some streams, and the streams whose turn it is."""
        self._settle()
        for number, chunk in chunks.items():
            self._chunks[number].append(chunk)
        self._turns.append(turns)
        self._settled += len(turns)

    def _settle(self) -> None:
        if not self._rows_turns:
            return
        for number, rows in enumerate(self._rows):
            if rows:
                self._chunks[number].append(Chunk.of_rows(self._schemas[number], rows))
        self._turns.append(np.array(self._rows_turns, np.int64))
        self._settled += len(self._rows_turns)
        self._rows, self._rows_turns = [[] for _ in self._schemas], []

    def pieces(self) -> list[Piece]:
        """Of every stream what is sent of it."""
        self._settle()
        turns = np.concatenate([np.empty(0, np.int64), *self._turns])
        return [self._piece(number, np.flatnonzero(turns == number)) for number in range(len(self._schemas))]

    def _piece(self, number: int, positions: Column) -> Piece:
        end = None
        if number in self._ended:
            end, positions = (int(positions[-1]),), positions[:-1]
        chunk = join_chunks(self._schemas[number], self._chunks[number])
        return Piece(as_columns(chunk), (positions,), end)
