"""Outputs of one batch that came from two forms, put together again."""

from __future__ import annotations

import numpy as np

from anabranch.codegen.chunks import Chunk


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
