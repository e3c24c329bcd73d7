"""Which item of a batch the outputs of several stages came from, where each stage knows it of the one before only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk, Positions


def origins_of_items(batch: Batch, between: Chunk) -> Positions:
    """For every item of a chunk that a stage made of a batch, the number of the item that it came from."""
    tuples, marks = _known(between.origins), _known(between.punctuation_origins)
    items = np.insert(tuples, np.asarray(between.punctuations, np.int64), marks)
    if not between.is_last:
        return items
    return np.append(items, _count(batch) - 1)  # a stream ends with the last end before it, behind which nothing comes


def _known(origins: Positions | None) -> Positions:
    """Native code that never gives anything has none."""
    return np.empty(0, np.int64) if origins is None else origins


def _count(batch: Batch) -> int:
    return sum(len(each) + len(each.punctuations) + each.is_last for each in batch.chunks if each is not None)


def came_from(origins: Positions, outputs: Sequence[Chunk]) -> list[Chunk]:
    """What the next stage made of those items, as if it came from where they did."""
    found = [
        replace(
            each, origins=_mapped(origins, each.origins), punctuation_origins=_mapped(origins, each.punctuation_origins)
        )
        for each in outputs
    ]
    return found if all(each.turns is None for each in outputs) else _with_turns(origins, outputs, found)


def _mapped(origins: Positions, items: Positions | None) -> Positions | None:
    return None if items is None else origins[items]


def _with_turns(origins: Positions, outputs: Sequence[Chunk], found: Sequence[Chunk]) -> list[Chunk]:
    """What comes from one item has its turns over all outputs: by the items in between, and their turns."""
    items, turns = [], []
    for each in outputs:
        end = np.array([] if each.ended is None else [each.ended], np.int64).reshape(-1, 2)
        items += [_known(each.origins), _known(each.punctuation_origins), end[:, 0]]
        turns += [_known(each.turns), _known(each.punctuation_turns), end[:, 1]]
    item, turn = np.concatenate(items), np.concatenate(turns)
    order = np.lexsort((turn, item))
    source = origins[item[order]]
    is_first = np.ones(len(source), bool)
    is_first[1:] = source[1:] != source[:-1]
    numbers = np.empty(len(source), np.int64)
    numbers[order] = np.arange(len(source)) - np.flatnonzero(is_first)[np.cumsum(is_first) - 1] if len(source) else 0
    pieces = iter(np.split(numbers, np.cumsum([len(each) for each in items])[:-1]))
    known = []
    for before, each in zip(outputs, found, strict=True):
        own, marks, last = next(pieces), next(pieces), next(pieces)
        ended = None if before.ended is None else (int(origins[before.ended[0]]), int(last[0]))
        known.append(replace(each, turns=own, punctuation_turns=marks, ended=ended))
    return known
