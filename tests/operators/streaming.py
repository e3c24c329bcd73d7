"""A stream's sink as an engine drives it: resumed, given rows or batches, synced, killed."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anabranch.codegen.columns import batch_of
from anabranch.errors import Location
from anabranch.graph.model import Operator, Port
from anabranch.graph.schema import schema_of
from anabranch.operators.base import SinkMeaning
from anabranch.operators.formats import FILE_FORMATS, TEXT_FORMATS, file_format
from anabranch.operators.sinks import SinkDefinition, WriteFile
from anabranch.operators.sinks.write_file import WriteFileMeaning

HERE = Location("app.py", 12)
GARBAGE = b'torn "row'


class Word(NamedTuple):
    text: str


ONE, TWO, THREE = Word("one"), Word("two"), Word("three")


def meaning_of(definition: SinkDefinition, row_type: type[Any] = Word) -> Any:
    return definition.meaning(Operator("sink", definition, (Port("in", schema_of(row_type)),), (), HERE))


def file_sink(name: str, path: Path, row_type: type[Any] = Word, **options: Any) -> WriteFileMeaning:
    meaning: WriteFileMeaning = meaning_of(WriteFile(name, path, options), row_type)
    return meaning


def resumed(meaning: SinkMeaning, position: Any, folder: Path = Path("nowhere")) -> Any:
    """Positions travel as JSON."""
    meaning.resume(json.loads(json.dumps(position)), folder)
    return meaning


def by_rows(meaning: SinkMeaning, rows: list[Any]) -> None:
    for row in rows:
        assert meaning.process(0, row) == ()


def by_batch(meaning: WriteFileMeaning, rows: list[Any]) -> None:
    """As an engine does it that has a batch."""
    taken = meaning.write_chunk(batch_of(meaning.operator.inputs[0].schema, rows)) if rows else 0
    by_rows(meaning, rows[taken:])


def synced(meaning: SinkMeaning, rows: list[Any]) -> Any:
    by_rows(meaning, rows)
    return meaning.sync()


def content(name: str, path: Path, row_type: type[Any] = Word) -> list[Any]:
    files = sorted(path.glob("*.parquet")) if name == "parquet" else [path]
    return [row for file in files for row in file_format(name).read(file, schema_of(row_type))]


def fail(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def tear(out: Path) -> None:
    """What a process that is killed may leave behind, and more."""
    if out.is_dir():
        (out / f"part-{len(list(out.glob('*.parquet'))):08d}.parquet").write_bytes(GARBAGE)
        (out / ".anabranch-0123456789abcdef.part").write_bytes(GARBAGE)
    else:
        with out.open("ab") as file:
            file.write(GARBAGE)


every_format = pytest.mark.parametrize("name", FILE_FORMATS)
text_formats = pytest.mark.parametrize("name", TEXT_FORMATS)
