"""What engines read of a slice: chunks of tuples, and at their places what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.sources.reading.slice_reader import read_slice
from anabranch.dataflow.sources.reading.slices import Slice
from anabranch.dataflow.sources.source_count import Failed
from anabranch.graph.model import Operator
from anabranch.operators.base import Unreadable
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles


def chunks_of(source: Operator, part: Slice, *, chunk_size: int) -> Iterator[Chunk | Unreadable | Failed]:
    """The tuples of a slice in order; a failure is the last of them."""
    schema = source.outputs[0].schema
    try:
        with located(source):
            for found in read_slice(cast(ReadFiles, source.definition), part, chunk_size=chunk_size):
                if isinstance(found, Unreadable):
                    yield found
                elif isinstance(found, list):
                    yield Chunk.of_rows(schema, found)
                else:
                    yield Chunk.of_batch(schema, found)
    except Exception as problem:
        yield Failed(problem)
