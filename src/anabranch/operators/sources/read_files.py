"""`read_csv`, `read_jsonl`, `read_parquet`, `read_lines`: the rows of one file or of many, sorted by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Partition, SourceDefinition
from anabranch.operators.formats import FILE_FORMATS, Format, file_format
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.sources.located import located
from anabranch.operators.sources.patterns import matching_files

_RECORDS = {name: Record(kind=f"read_{name}", state="key") for name in FILE_FORMATS}


@dataclass(frozen=True)
class ReadFiles(SourceDefinition):
    """Files of one format. With `partition_by` each file is a partition; without, they follow one another."""

    record: ClassVar[Record] = Record(kind="read_files", state="key")  # each instance has its format's

    format: str
    schema: Schema
    pattern: str | FilePath
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    order_by: str | None = None
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        file_format(self.format).check_read_schema(self.schema)
        file_format(self.format).check_options(self.options)
        object.__setattr__(self, "options", dict(self.options))
        object.__setattr__(self, "record", _RECORDS[self.format])

    @property
    def key(self) -> tuple[str, ...]:
        return self.partition_by

    @property
    def is_live(self) -> bool:
        return any(_is_read_once(path) for path in self.files())

    def files(self) -> tuple[FilePath, ...]:
        """The files as they are now; a `SourceError` where there is none."""
        return matching_files(self.pattern)

    def check(self, operator: Operator) -> None:
        """Say before anything is processed which file is missing or clearly not of this type."""
        with located(operator):
            for path in self.files():
                if not _is_read_once(path):
                    self._format.probe(path, self.schema, **self.options)

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        with located(operator):
            files = self.files()
        if not self.partition_by:
            return (Partition(str(self.pattern), partial(self._read, operator, files)),)
        return tuple(Partition(str(path), partial(self._read, operator, (path,))) for path in files)

    @property
    def _format(self) -> Format:
        return file_format(self.format)

    def _read(self, operator: Operator, files: tuple[FilePath, ...]) -> Iterator[Any]:
        with located(operator):
            for path in files:
                yield from self._format.read(path, self.schema, **self.options)


def _is_read_once(path: FilePath) -> bool:
    """A pipe or a terminal: what a check would take out of it is gone."""
    if isinstance(path, Address):
        return False
    return path.is_fifo() or path.is_char_device() or path.is_socket()
