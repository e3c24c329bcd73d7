"""The rest of a batch, for the form that goes on with it, and outputs put together again."""

from __future__ import annotations

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk


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


def joined(before: list[Chunk], after: list[Chunk], item: int) -> list[Chunk]:
    """Outputs of one batch that came in two parts; the second began at this item."""
    if not before:
        return after
    return [_joined(one, other, item) for one, other in zip(before, after, strict=True)]


def _joined(one: Chunk, other: Chunk, item: int) -> Chunk:
    punctuations = [*one.punctuations, *(len(one) + before for before in other.punctuations)]
    is_last = one.is_last or other.is_last
    chunk = Chunk.of_rows(one.schema, one.rows + other.rows, punctuations=punctuations, is_last=is_last)
    if one.origins is not None and other.origins is not None:
        chunk.origins = np.concatenate([one.origins, other.origins + item])
    if one.punctuation_origins is not None and other.punctuation_origins is not None:
        chunk.punctuation_origins = np.concatenate([one.punctuation_origins, other.punctuation_origins + item])
    # Turns only count among what comes from one item.
    if one.turns is not None and other.turns is not None:
        chunk.turns = np.concatenate([one.turns, other.turns])
    if one.punctuation_turns is not None and other.punctuation_turns is not None:
        chunk.punctuation_turns = np.concatenate([one.punctuation_turns, other.punctuation_turns])
    chunk.ended = one.ended or (other.ended and (other.ended[0] + item, other.ended[1]))
    return chunk
