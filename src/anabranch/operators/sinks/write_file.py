"""`write_csv`, `write_jsonl`, `write_parquet`, `write_lines`: tuples as the rows of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.errors import SinkError
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.formats import FILE_FORMATS, RowWriter, StreamWriter, file_format
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.compressing import check_name, suffix_of
from anabranch.operators.formats.durability import leaving_no_folder
from anabranch.operators.formats.output_file import output_file
from anabranch.operators.formats.parts_folder import PartsFolder, part_in
from anabranch.operators.sinks.base import SinkDefinition, located

if TYPE_CHECKING:
    import pyarrow as pa

    from anabranch.operators.formats.encode_columns import EncodedRows
    from anabranch.operators.formats.remote_folder import RemoteFolder

_SUFFIXES = {"lines": "txt"}
_RECORDS = {name: Record(kind=f"write_{name}") for name in FILE_FORMATS}


@dataclass(frozen=True)
class WriteFile(SinkDefinition):
    """A file that appears at `path`, whole, when the run has succeeded; what is there of it else is kept beside it.

    With `is_folder` it is a folder of such files, in order of their names: engines may write them in parallel. A stream
    has no end to wait for: it writes in place.
    """

    record: ClassVar[Record] = Record(kind="write_file")  # each instance has its format's

    format: str
    path: str | FilePath
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    ordered: bool = True
    is_folder: bool = False
    part_of: FilePath | None = None  # the folder, as the program names it

    def __post_init__(self) -> None:
        file_format(self.format).check_options(self.options)
        check_name(self.place.name, self.format)
        object.__setattr__(self, "options", dict(self.options))
        object.__setattr__(self, "record", _RECORDS[self.format])

    @property
    def target(self) -> str:
        return str(self.path) if isinstance(self.path, Address) else os.path.realpath(self.path)

    @property
    def place(self) -> FilePath:
        return self.path if isinstance(self.path, Address) else Path(self.path)

    @property
    def is_regular(self) -> bool:
        """Whether what stands there, or will, is a file or a folder, and no device."""
        if isinstance(self.path, Address):
            return True
        return os.path.isfile(self.path) or os.path.isdir(self.path) or not os.path.exists(self.path)

    @property
    def files(self) -> tuple[FilePath, ...]:
        """Paths of files that readers may find. A stream makes a folder of a Parquet file."""
        part = part_in(self.place, 0, self._suffix)
        return (part,) if self.is_folder else (self.place, part)

    def check_schema(self, schema: Schema) -> None:
        file_format(self.format).check_schema(schema)

    @property
    def can_be_checked(self) -> bool:
        """Not where something stands that is written directly, as a pipe or a socket: only opening it tells."""
        return self.is_regular

    def check(self, operator: Operator) -> None:
        is_local = not isinstance(self.path, Address)
        with located(operator), leaving_no_folder(Path(self.target).parent) if is_local else nullcontext():
            if self.is_folder:
                folder = self.folder()
                folder.open()
                folder.discard()
            else:
                output_file(self.place).discard()

    def folder(self) -> PartsFolder | RemoteFolder:
        if isinstance(self.path, Address):
            from anabranch.operators.formats.remote_folder import RemoteFolder

            return RemoteFolder(self.path, self._suffix)
        return PartsFolder(Path(self.path), self._suffix)

    @property
    def _suffix(self) -> str:
        suffix = _SUFFIXES.get(self.format, self.format)
        return suffix + suffix_of(self.place.name) if self.is_folder else suffix

    def meaning(self, operator: Operator) -> WriteFileMeaning:
        return WriteFolderMeaning(operator, self) if self.is_folder else WriteFileMeaning(operator, self)

    def part(self, place: FilePath, number: int) -> WriteFile:
        """One of the files of a folder that is being written at this place."""
        path = part_in(place, number, self._suffix)
        return replace(self, is_folder=False, path=path, part_of=self.place)


class WriteFileMeaning(SinkMeaning):
    def __init__(self, operator: Operator, definition: WriteFile) -> None:
        super().__init__(operator)
        self._format = file_format(definition.format)
        self._options = definition.options
        self._path = definition.place
        self._part_of = definition.part_of
        self._file = self._format.writer(operator.inputs[0].schema, **self._options)
        self._writer: RowWriter = self._file

    @cached_property
    def _stream(self) -> StreamWriter:
        return self._format.stream_writer(self.operator.inputs[0].schema, **self._options)

    def open(self) -> None:
        with located(self.operator):
            self._file.open(self._path, self._part_of)

    @property
    def _local_path(self) -> Path:
        if isinstance(self._path, Address):
            raise SinkError(
                f"{self._path}: a stream writes files that grow, and nothing grows at an address",
                hint="write to a file system; with several machines, to one that all of them share",
            )
        return self._path

    def check_new(self) -> None:
        with located(self.operator):
            self._stream.check_new(self._local_path)

    def check_written(self, position: Any, folder: Path) -> None:
        with located(self.operator):
            self._stream.check_written(self._local_path, position)

    def resume(self, position: Any | None, folder: Path) -> None:
        """The output is written in place: text as one file that grows, Parquet as a folder of files."""
        with located(self.operator):
            self._writer = self._stream
            self._stream.resume(self._local_path, position)

    def sync(self) -> Any:
        with located(self.operator):
            return self._stream.sync()

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

    def write_lines(self, lines: EncodedRows) -> int:
        """The same with lines that were made elsewhere."""
        with located(self.operator):
            return self._writer.write_lines(lines)

    def rows_to_flush(self, lines: EncodedRows) -> int | None:
        """How many of these are taken when the file is written to next, which may fail; None where none is."""
        return self._writer.rows_to_flush(lines)

    def complete(self) -> None:
        with located(self.operator):
            self._file.complete()
            self._file.stage()

    def close(self) -> None:
        with located(self.operator):
            self._writer.close()

    def keep(self) -> FilePath | None:
        return self._file.keep()

    def discard(self) -> None:
        """Instead of `close`, for a run that never began: what stood at the path before stays there."""
        self._writer.discard()


class WriteFolderMeaning(WriteFileMeaning):
    """A folder that one process writes has one part."""

    def __init__(self, operator: Operator, definition: WriteFile) -> None:
        super().__init__(operator, definition)
        self._folder = definition.folder()

    def open(self) -> None:
        with located(self.operator):
            self._folder.open()
            self._file.open(self._folder.part(0), self._path)

    def check_new(self) -> None:
        raise SinkError(
            f"{self._path}/: a stream writes one file that grows, or a folder of Parquet files, and not this folder",
            location=self.operator.location,
            hint="leave the slash at the end out",
        )

    def close(self) -> None:
        super().close()
        with located(self.operator):
            self._folder.commit()

    def keep(self) -> FilePath | None:
        super().keep()
        return self._folder.keep()

    def discard(self) -> None:
        super().discard()
        self._folder.discard()
