"""A batch cut at its punctuations and ends: between them there are only tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.operators.base import FINAL, PUNCTUATION


@dataclass(eq=False, slots=True)
class Tuples:
    """So many tuples; `turns` says of which input each is, where they are not all of `input`."""

    start: int  # the number of the first in the batch
    count: int
    input: int = 0
    offset: int = 0  # the number of the first among the tuples of its input, where there is one input only
    turns: npt.NDArray[np.uint16] | None = None


@dataclass(eq=False, slots=True)
class Mark:
    """A punctuation or an end."""

    start: int
    input: int
    item: Any


def cut_at_marks(batch: Batch) -> Iterable[Tuples | Mark]:
    if batch.turns is not None:
        return _in_turns(batch, batch.turns)
    first = batch.chunks[0]
    if len(batch.chunks) == 1 and first is not None and not first.is_last and not first.punctuations and len(first):
        return (Tuples(0, len(first)),)  # by far the most frequent
    return _one_after_another(batch)


def readers(batch: Batch) -> list[Callable[[], Any]]:
    """For each input a function that gives the next tuple."""
    return [iter(() if chunk is None else chunk.rows).__next__ for chunk in batch.chunks]


def marks_in(chunk: Chunk) -> list[tuple[int, Any]]:
    """The punctuations and the end, each with its number among the items of the chunk."""
    found = [(before + at, PUNCTUATION) for at, before in enumerate(chunk.punctuations)]
    if chunk.is_last:
        found.append((len(chunk) + len(chunk.punctuations), FINAL))
    return found


def _one_after_another(batch: Batch) -> Iterator[Tuples | Mark]:
    start = 0
    for number, chunk in enumerate(batch.chunks):
        if chunk is None:
            continue
        done = 0
        for marks, (at, item) in enumerate(marks_in(chunk)):
            if at > done:
                yield Tuples(start + done, at - done, number, done - marks)
            yield Mark(start + at, number, item)
            done = at + 1
        count = len(chunk) + len(chunk.punctuations) + chunk.is_last
        if count > done:
            yield Tuples(start + done, count - done, number, done - len(chunk.punctuations))
        start += count


def _in_turns(batch: Batch, turns: npt.NDArray[np.uint16]) -> Iterator[Tuples | Mark]:
    marks = []
    for number, chunk in enumerate(batch.chunks):
        if chunk is not None and (chunk.punctuations or chunk.is_last):
            places = np.flatnonzero(turns == number)
            marks += [(int(places[at]), number, item) for at, item in marks_in(chunk)]
    done = 0
    for passed, (at, number, item) in enumerate(sorted(marks, key=lambda mark: mark[0])):
        if at > done:
            yield Tuples(done, at - done, offset=done - passed, turns=turns[done:at])
        yield Mark(at, number, item)
        done = at + 1
    if len(turns) > done:
        yield Tuples(done, len(turns) - done, offset=done - len(marks), turns=turns[done:])
