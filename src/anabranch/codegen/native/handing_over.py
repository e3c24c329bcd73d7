"""Single items that native code cannot take, processed by the oracle on the stores of a native element."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns, join_chunks
from anabranch.codegen.part import Part
from anabranch.codegen.python import BegunOperator
from anabranch.codegen.python.enclosure import ExitMeaning, enclosed, exit_of
from anabranch.codegen.stores.lender import Lender
from anabranch.codegen.stores.store import Store
from anabranch.errors import RunError
from anabranch.graph.model import StreamId
from anabranch.operators.base import Meaning
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.traversal import Traversal

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState


class HandedOver:
    """The oracle's traversal of a part. Its operators have what an item touches, and only while it is processed."""

    def __init__(
        self, part: Part, state: NativeState, metrics: Mapping[str, OperatorMetrics], *, origins: bool
    ) -> None:
        self.part, self.metrics = part, metrics
        graph = enclosed(part)
        figures = {each.id: metrics.get(each.id) or OperatorMetrics() for each in graph.operators}
        self._traversal = Traversal(graph, figures)
        meanings: dict[str, Any] = {name: self._traversal.nodes[name].meaning for name in part.operators}
        self._meanings: dict[str, Meaning] = meanings
        self._lender = Lender(part, state, meanings)
        self._clock = [0, 0]
        self._exits: list[ExitMeaning] = []
        for stream in part.outputs:
            each: Any = self._traversal.nodes[exit_of(stream)].meaning
            each.clock, each.has_turns = self._clock if origins else None, origins and part.has_turns
            self._exits.append(each)

    def take(self, stream: StreamId, item: Any, at: int, ended: dict[str, int]) -> RunError | None:
        """Process one item, number `at` of its batch; gives the error that stops the run. `ended` is kept up."""
        self._lender.begin()
        self._clock[:] = at, 0
        nodes = self._traversal.nodes
        for name in self.part.operators:
            nodes[name].ended_inputs = ended.get(name, 0)
        try:
            self._traversal.enter(stream.operator, stream.port, item)
            return None
        except RunError as error:
            return error
        finally:
            for name, meaning in self._meanings.items():
                ended[name] = nodes[name].ended_inputs
                self.metrics[name].late += meaning.late
                meaning.late = 0

    def take_back(self) -> None:
        """What the item touched goes back to native code; `Unfit` where that cannot be."""
        self._lender.take_back()
        self._lender.begin()  # what was lent is not needed any more

    @property
    def lent(self) -> int:
        return self._lender.lent

    def begun(self, ended: Mapping[str, int]) -> dict[str, BegunOperator]:
        """All operators as they are now, for the Python form to go on with."""
        self._lender.give_away()
        kept = self._lender.loans
        return {
            name: BegunOperator(meaning if name in kept else None, ended.get(name, 0), self._lender.not_kept(name))
            for name, meaning in self._meanings.items()
        }

    def take_over(self, stores: Mapping[str, Store]) -> None:
        """Put what is in stores into native state that has not begun; `Unfit` where that cannot be."""
        self._lender.take_over(stores)
        self._lender.begin()

    def begin(self) -> None:
        """Nothing is lent, as before an item."""
        self._lender.begin()

    @property
    def has_left(self) -> bool:
        """Whether anything has left since it was last asked for."""
        return any(each.left.rows or each.left.punctuations or each.left.is_last for each in self._exits)

    def chunks(self) -> list[Chunk]:
        """What has left since it was last asked for."""
        return [
            each.taken(self.part.schema(stream)) for stream, each in zip(self.part.outputs, self._exits, strict=True)
        ]


_PLAIN = ("int", "float", "bool", "str")


def row_of(chunk: Chunk, row: int) -> Any:
    """A tuple of a chunk, without making the others where it has columns."""
    if chunk.has_rows:
        return chunk.rows[row]
    attributes = chunk.schema.attributes
    if any(each.type.kind not in _PLAIN for each in attributes):
        return chunk.cut(row, row + 1).rows[0]
    values = [chunk.batch.column(at)[row].as_py() for at in range(len(attributes))]
    return chunk.schema.type._make([math.nan if each != each else each for each in values])  # type: ignore[attr-defined]


def one_behind_another(pieces: list[list[Chunk]]) -> list[Chunk]:
    """Outputs of one batch that came in pieces."""
    if len(pieces) == 1:
        return pieces[0]
    return [_joined(chunks) for chunks in zip(*pieces, strict=True)]


def _joined(chunks: tuple[Chunk, ...]) -> Chunk:
    filled = [as_columns(each) for each in chunks if len(each)]
    chunk = join_chunks(chunks[0].schema, filled) if filled else chunks[0]
    before = np.cumsum([0, *map(len, chunks)]).tolist()
    punctuations = [start + at for start, each in zip(before, chunks, strict=False) for at in each.punctuations]
    made = chunk.marked(punctuations, is_last=any(each.is_last for each in chunks))
    for name in ("origins", "punctuation_origins", "turns", "punctuation_turns"):
        arrays = [getattr(each, name) for each in chunks]
        if all(each is not None for each in arrays):
            setattr(made, name, np.concatenate(arrays))
    made.ended = next((each.ended for each in chunks if each.ended), None)
    return made
