"""What a pipeline brings to the benchmark: a program, data for it, and the same written in other ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anabranch.codegen.chunks import Batch
from benchmarks.codegen.inputs import Data

Output = list[pa.RecordBatch]  # of a kernel, chunk by chunk


@dataclass(frozen=True)
class Pipeline:
    """A program and its rivals. All of them are functions from the whole input to the whole output.

    program: makes the program from a list of tuples per source; the sink is named "out"
    data: as many tuples as asked for, always the same
    python_loop: a hand-written loop over NamedTuples, which gives NamedTuples
    kernel: a hand-written numba loop from record batches to record batches; None where nobody would write one
    bytewax: the program in Bytewax, over lists of NamedTuples
    has_string_keys, is_native: which of the named ratios it counts for
    """

    name: str
    program: Callable[..., Any]
    data: Callable[[int], Data]
    python_loop: Callable[[list[Any]], list[Any]]
    kernel: Callable[[list[Batch]], Output] | None
    bytewax: Callable[[list[list[Any]]], list[Any]]
    has_string_keys: bool = False

    @property
    def is_native(self) -> bool:
        return self.kernel is not None
