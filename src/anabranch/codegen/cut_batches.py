"""Some of the items of a batch, in a batch of their own: the first, or the rest."""

from __future__ import annotations

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk


def first_of(batch: Batch, items: int) -> Batch:
    """So many items of a batch, which has turns."""
    assert batch.turns is not None
    if items >= len(batch.turns):
        return batch
    taken = batch.turns[:items]
    first = [
        None if chunk is None else _only_first(chunk, int(np.count_nonzero(taken == number)))
        for number, chunk in enumerate(batch.chunks)
    ]
    return Batch(tuple(first), taken)


def _only_first(chunk: Chunk, items: int) -> Chunk:
    """The first items of a chunk, punctuations and perhaps its end among them."""
    if items >= _items(chunk):
        return chunk
    kept = [before for number, before in enumerate(chunk.punctuations) if before + number < items]
    return chunk.cut(0, min(items - len(kept), len(chunk))).marked(kept)


def rest_of(batch: Batch, item: int) -> Batch:
    """The items of a batch from the one with this number on."""
    if item == 0:
        return batch
    if batch.turns is None:
        chunks: list[Chunk | None] = []
        for chunk in batch.chunks:
            count = 0 if chunk is None else _items(chunk)
            chunks.append(None if chunk is None or item >= count > 0 else _without_first(chunk, item))
            item = max(item - count, 0)
        return Batch(tuple(chunks))
    done = batch.turns[:item]
    rest = [
        None if chunk is None else _without_first(chunk, int(np.count_nonzero(done == number)))
        for number, chunk in enumerate(batch.chunks)
    ]
    return Batch(tuple(rest), batch.turns[item:])


def _items(chunk: Chunk) -> int:
    return len(chunk) + len(chunk.punctuations) + chunk.is_last


def _without_first(chunk: Chunk, items: int) -> Chunk:
    """A chunk without its first items, punctuations and perhaps its end among them."""
    gone = 0  # punctuations among those
    while gone < len(chunk.punctuations) and chunk.punctuations[gone] + gone < items:
        gone += 1
    tuples = min(items - gone, len(chunk))
    punctuations = [before - tuples for before in chunk.punctuations[gone:]]
    is_last = chunk.is_last and items < _items(chunk)
    if chunk.has_rows:
        return Chunk.of_rows(chunk.schema, chunk.rows[tuples:], punctuations=punctuations, is_last=is_last)
    return Chunk.of_batch(chunk.schema, chunk.batch.slice(tuples), punctuations=punctuations, is_last=is_last)
