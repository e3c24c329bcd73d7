"""The claim of `partition_by`, by columns: a value of the key occurs in one partition only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk, Positions, take_tuples
from anabranch.graph.model import Operator
from anabranch.graph.values import key_reader
from anabranch.operators.base import SourceDefinition


class KeysOf:
    """Reads the keys of a partitioned source's tuples."""

    def __init__(self, source: Operator) -> None:
        definition = cast(SourceDefinition, source.definition)
        self._names = list(definition.partition_by)
        self._key_of = key_reader(source.outputs[0].schema, self._names)

    def firsts(self, chunk: Chunk) -> Iterator[tuple[int, Any]]:
        """The keys of a chunk, in order, each with the position of its first tuple; some may come again."""
        positions = _firsts(chunk, self._names)
        for position, row in zip(positions.tolist(), take_tuples(chunk, positions).rows, strict=True):
            yield position, self._key_of(row)


def _firsts(chunk: Chunk, names: list[str]) -> Positions:
    """Where values of the key first occur, in order; where that is not known by columns, there may be others too."""
    everywhere = np.arange(len(chunk), dtype=np.int64)
    if not chunk.has_batch or not len(chunk):
        return everywhere
    columns = [chunk.batch.column(chunk.schema.names.index(name)) for name in names]
    numbered = [f"{at}" for at in range(len(names))]
    table = pa.table([*columns, pa.array(everywhere)], names=[*numbered, "at"])
    try:
        found = table.group_by(numbered, use_threads=False).aggregate([("at", "min")])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # by such a type it cannot
        return everywhere
    return np.sort(found.column("at_min").to_numpy())


class Claims:
    """Which partition of a source has which keys, as far as they have been read; of each, one chunk is in hand."""

    def __init__(self, source: Operator) -> None:
        self._keys = KeysOf(source)
        self._owner: dict[Any, str] = {}
        self._new: dict[str, list[Any]] = {}  # keys that are first in the chunk that a partition has in hand

    def are_kept(self, partition: str, chunk: Chunk) -> bool:
        """Whether a chunk that is taken in hand has no key of another partition. Else nothing more can be asked."""
        keys = [key for _, key in self._keys.firsts(chunk)]
        new = list(dict.fromkeys(key for key in keys if key not in self._owner))
        self._new[partition] = new
        self._owner |= dict.fromkeys(new, partition)
        return all(self._owner[key] == partition for key in keys)

    def owners(self, drawn: Iterable[tuple[str, Chunk]]) -> dict[Any, str]:
        """The owners of the keys that have been drawn, where that is so much of the chunks that are in hand."""
        parts = list(drawn)
        for partition, _ in parts:
            for key in self._new.pop(partition, ()):
                del self._owner[key]
        for partition, part in parts:
            for _, key in self._keys.firsts(part):
                self._owner.setdefault(key, partition)
        return self._owner
