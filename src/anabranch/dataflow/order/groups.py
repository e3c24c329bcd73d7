"""Windows with a key and groups: what all groups of a key give stands together, where the first of them began.

A group only knows its own first tuple, and its key (`keyed_emission_order.py`). What a window gives at one moment comes
out of one channel in one piece, its first group first: so the first of those with the same key says where the window
began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk, Positions
from anabranch.dataflow.order.order_columns import Columns
from anabranch.graph.model import Operator
from anabranch.graph.order_keys import Lineage
from anabranch.graph.schema import Schema
from anabranch.graph.values import is_same_key, key_reader
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import INDEX


def groups_of(operator: Operator, ranks: Lineage) -> Groups | None:
    """What is needed for an operator with ranks, if it has groups."""
    definition = operator.definition
    if not isinstance(definition, WindowAggregate) or not definition.group_by:
        return None
    ends = len(INDEX) if definition.window.has_many_ends else 0
    numbers = ends + (len(ranks) - ends) // 2  # the rest is there twice: for the window, and for the group
    return Groups(operator.outputs[0].schema, ends, numbers, len(definition.ranks))


class Groups:
    """The first `ends` columns of outputs are the end of the window; then come `numbers`, and keys up to `stop`."""

    def __init__(self, schema: Schema, ends: int, numbers: int, stop: int) -> None:
        self.ends, self.numbers, self.stop = ends, numbers, stop
        attributes = schema.attributes[numbers:stop]
        kind: Any = NamedTuple("Key", [(each.name, Any) for each in attributes])  # type: ignore[misc]  # known only now
        self.schema = Schema(kind, attributes)
        self.key_of = key_reader(self.schema, self.schema.names)

    def ranks(self, chunk: Chunk, numbers: Columns, origins: Positions | None) -> Columns:
        """By the end of the window, where it began, and where the group did."""
        if chunk.has_batch:
            batch = pa.record_batch(chunk.batch.columns[self.numbers : self.stop], list(self.schema.names))
            keys = Chunk.of_batch(self.schema, batch).rows
        else:
            keys = [row[self.numbers : self.stop] for row in chunk.rows]
        return self._ranks(keys, numbers, np.empty(0, np.int64) if origins is None else origins)

    def ranks_of_failed(self, closing: tuple[Any, ...], at: int, given: Chunk) -> tuple[int, ...]:
        """The same for a group that failed at an item, behind what was given until then."""
        rows = [*given.rows, closing]
        numbers = tuple(np.array([row[each] for row in rows], np.int64) for each in range(self.numbers))
        origins = np.append(np.empty(0, np.int64) if given.origins is None else given.origins, at)
        ranks = self._ranks([row[self.numbers : self.stop] for row in rows], numbers, origins)
        return tuple(int(column[-1]) for column in ranks)

    def _ranks(self, keys: Sequence[Any], numbers: Columns, origins: Positions) -> Columns:
        is_first = np.ones(len(keys), bool)
        known = [self.key_of(key) for key in keys]
        is_first[1:] = [not is_same_key(one, other) for one, other in zip(known[1:], known, strict=False)]
        for column in (origins, *numbers[: self.ends]):
            is_first[1:] |= column[1:] != column[:-1]
        firsts = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
        groups = numbers[self.ends :]
        return (*numbers[: self.ends], *(column[firsts] for column in groups), *groups)
