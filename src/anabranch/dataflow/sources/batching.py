"""Source tuples for engines that process many at a time: gathered in order, and never held back for long."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part
from anabranch.dataflow.sources.source_order import Drawn, draw
from anabranch.graph.model import Operator
from anabranch.operators.base import FINAL, SourceDefinition

_AHEAD = 32_768  # tuples that a live source may be ahead of what is processed


@dataclass(eq=False)
class Gathered:
    """What was drawn and is not processed yet: the items of each input, and whose turn it is."""

    rows: list[list[Any]]
    turns: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.turns)

    def add(self, number: int, item: Any) -> None:
        self.turns.append(number)
        if item is FINAL:
            self.ended.append(number)
        else:
            self.rows[number].append(item)

    def as_batch(self, part: Part) -> Batch:
        chunks = tuple(
            Chunk.of_rows(part.schema(stream), rows, is_last=number in self.ended)
            for number, (stream, rows) in enumerate(zip(part.inputs, self.rows, strict=True))
        )
        return Batch(chunks, np.array(self.turns, np.uint16) if len(chunks) > 1 else None)


def draw_soon(sources: Sequence[Operator], patience: float = 0.0) -> Generator[Drawn | None, None, None]:
    """All items of all sources; None where a live source has nothing more, at the moment or for so many seconds."""
    if any(cast(SourceDefinition, source.definition).is_live for source in sources):
        return _drawn_ahead(sources, patience)
    return draw(sources)


def _drawn_ahead(sources: Sequence[Operator], patience: float) -> Generator[Drawn | None, None, None]:
    """A thread waits for the sources, so that what has arrived can be processed while they keep it waiting."""
    ahead = _Ahead(sources, patience)
    # With the contexts of decimals and numpy that this thread has: functions of the user's run there.
    work = partial(contextvars.copy_context().run, ahead.work)
    threading.Thread(target=work, name="anabranch sources", daemon=True).start()
    try:
        yield from ahead
    finally:
        ahead.is_stopped = True


class _Ahead:
    def __init__(self, sources: Sequence[Operator], patience: float) -> None:
        self.is_stopped = False
        self._patience = patience
        self._sources = sources
        self._drawn: deque[Drawn] = deque()
        self._changed = threading.Condition()
        self._has_ended = False
        self._problem: BaseException | None = None

    def work(self) -> None:
        """In the thread: draw until the end. After a failure in the program it ends with the next item."""
        try:
            for drawn in draw(self._sources):
                self._drawn.append(drawn)
                if len(self._drawn) == 1 or len(self._drawn) >= _AHEAD:
                    self._hand_over()
                if self.is_stopped:
                    return
        except BaseException as problem:
            self._problem = problem
        finally:
            with self._changed:
                self._has_ended = True
                self._changed.notify_all()

    def _hand_over(self) -> None:
        with self._changed:
            self._changed.notify_all()
            while len(self._drawn) >= _AHEAD and not self.is_stopped:
                self._changed.wait(1.0)

    def __iter__(self) -> Iterator[Drawn | None]:
        while True:
            while self._drawn:
                yield self._drawn.popleft()
                if len(self._drawn) == _AHEAD // 2:
                    with self._changed:
                        self._changed.notify_all()
            if not self._is_there(self._patience):
                yield None
                self._is_there(None)
            if self._has_ended and not self._drawn:
                if self._problem is not None:
                    raise self._problem
                return

    def _is_there(self, seconds: float | None) -> bool:
        """Wait until there is an item, or the end; at most so long."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._drawn) or self._has_ended, seconds)
