"""Sinks that are written from chunks: of tuples, or of the lines of a file."""

from __future__ import annotations

from typing import cast

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.lines import LINES, encoded
from anabranch.graph.model import Operator
from anabranch.graph.values import copier
from anabranch.operators.failures import after_failure
from anabranch.operators.formats.encode_columns import EncodedRows
from anabranch.operators.sinks import SinkDefinition
from anabranch.operators.sinks.collect import CollectMeaning
from anabranch.operators.sinks.write_file import WriteFileMeaning


class ChunkSink:
    """A sink that is written from chunks."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.meaning = cast(SinkDefinition, operator.definition).meaning(operator)
        self._copy = copier(operator.inputs[0].schema)

    def write(self, chunk: Chunk, metrics: Metrics) -> None:
        received = metrics[self.operator.id]
        taken = self._write_at_once(chunk)
        received.received += taken
        for row in chunk.rows[taken:] if taken < len(chunk) else ():
            received.received += 1
            try:
                self.meaning.process(0, self._copy(row))
            except StopIteration as problem:  # as the oracle says it
                stopped = RuntimeError("StopIteration")
                stopped.__cause__ = problem
                after_failure(self.operator, received, stopped, row, "process")
            except Exception as problem:
                after_failure(self.operator, received, problem, row, "process")

    def _write_at_once(self, chunk: Chunk) -> int:
        """Files take columns, up to a row that fails: that one and the rest go to `process`."""
        if isinstance(self.meaning, CollectMeaning):
            return self.meaning.write_chunk(chunk)
        if not chunk.has_batch or not isinstance(self.meaning, WriteFileMeaning):
            return 0
        return self.meaning.write_chunk(chunk.batch)


class LineSink(ChunkSink):
    """The same where the lines of a file come: they are only written."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self._copy = copier(LINES)

    def _write_at_once(self, chunk: Chunk) -> int:
        assert isinstance(self.meaning, WriteFileMeaning)
        return self.meaning.write_lines(encoded(chunk))  # it remembers what is wrong with the line behind those

    def rows_to_flush(self, lines: EncodedRows) -> int | None:
        """How many of these are taken when the file is written to next; None where none is."""
        assert isinstance(self.meaning, WriteFileMeaning)
        return self.meaning.rows_to_flush(lines)
