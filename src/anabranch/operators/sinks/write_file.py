"""`write_csv`, `write_jsonl`, `write_parquet`, `write_lines`: tuples as the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.formats import FILE_FORMATS, Writer, file_format
from anabranch.operators.sinks.base import SinkDefinition, located

if TYPE_CHECKING:
    import pyarrow as pa

_RECORDS = {name: Record(kind=f"write_{name}") for name in FILE_FORMATS}


@dataclass(frozen=True)
class WriteFile(SinkDefinition):
    """A file that appears at `path`, whole, when the run ends, also when it ends with an error."""

    record: ClassVar[Record] = Record(kind="write_file")  # each instance has its format's

    format: str
    path: str | Path
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    ordered: bool = True

    def __post_init__(self) -> None:
        file_format(self.format).check_options(self.options)
        object.__setattr__(self, "options", dict(self.options))
        object.__setattr__(self, "record", _RECORDS[self.format])

    @property
    def target(self) -> str:
        return os.path.realpath(self.path)

    def check_schema(self, schema: Schema) -> None:
        file_format(self.format).check_schema(schema)

    def meaning(self, operator: Operator) -> WriteFileMeaning:
        writer = file_format(self.format).writer(operator.inputs[0].schema, **self.options)
        return WriteFileMeaning(operator, writer, Path(self.path))


class WriteFileMeaning(SinkMeaning):
    def __init__(self, operator: Operator, writer: Writer, path: Path) -> None:
        super().__init__(operator)
        self._writer = writer
        self._path = path

    def open(self) -> None:
        with located(self.operator):
            self._writer.open(self._path)

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        with located(self.operator):
            self._writer.write(item)
        return ()

    def write_chunk(self, batch: pa.RecordBatch) -> int:
        """Write tuples from the start of a record batch; how many they were.

        The tuple behind them, and all that follow it, must go to `process`, which says what is wrong with that one.
        """
        with located(self.operator):
            return self._writer.write_batch(batch)

    def close(self) -> None:
        with located(self.operator):
            self._writer.close()

    def discard(self) -> None:
        """Instead of `close`, for a run that never began: what stood at the path before stays there."""
        self._writer.discard()
