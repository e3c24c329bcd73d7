"""CSV: a header row by default, columns matched to attributes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from anabranch.errors import BuildError, SourceError
from anabranch.graph.schema import Schema
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.base import Item, TextFormat
from anabranch.operators.formats.cells import cell_parser, cell_writer
from anabranch.operators.formats.csv_records import CsvRecord, csv_line, csv_records
from anabranch.operators.formats.text_lines import open_for_reading, text_lines


@dataclass(frozen=True)
class CsvOptions:
    """`header=False`: columns by position when reading, no header row when writing."""

    header: bool = True
    delimiter: str = ","


class CsvFormat(TextFormat):
    name = "csv"
    options = ("header", "delimiter")

    def check_options(self, options: Mapping[str, Any]) -> None:
        super().check_options(options)
        given = CsvOptions(**options)
        if not isinstance(given.header, bool):
            raise BuildError(f"header={given.header!r} is not a bool", hint="use header=True or header=False")
        if not _is_delimiter(given.delimiter):
            raise BuildError(
                f"delimiter={given.delimiter!r} cannot separate cells",
                hint='use one character that is no quote and no newline, such as ";" or "\\t"',
            )

    def probe(self, path: FilePath, schema: Schema, **options: Any) -> None:
        given = CsvOptions(**options)
        with open_for_reading(path) as stream:
            if given.header:
                find_columns(csv_records(text_lines(stream, str(path)), given.delimiter), str(path), schema)

    def read_stream(self, stream: BinaryIO, name: str, schema: Schema, **options: Any) -> Iterator[Item]:
        given = CsvOptions(**options)
        records = csv_records(text_lines(stream, name), given.delimiter)
        width, positions = len(schema.attributes), list(range(len(schema.attributes)))
        if given.header:
            width, positions = find_columns(records, name, schema)
        yield from read_records(records, name, schema, width, positions)

    def encoder(self, schema: Schema, **options: Any) -> Callable[[Any], str]:
        delimiter = CsvOptions(**options).delimiter
        writers = [cell_writer(attribute.type) for attribute in schema.attributes]
        return lambda item: csv_line([write(value) for write, value in zip(writers, item, strict=True)], delimiter)

    def heading(self, schema: Schema, **options: Any) -> str:
        given = CsvOptions(**options)
        return csv_line(list(schema.names), given.delimiter) if given.header else ""


CSV = CsvFormat()


def _is_delimiter(candidate: object) -> bool:
    is_character = isinstance(candidate, str) and len(candidate) == 1 and not "\ud800" <= candidate <= "\udfff"
    return is_character and candidate not in ('"', "\r", "\n", "\ufeff")


def find_columns(records: Iterator[CsvRecord], name: str, schema: Schema) -> tuple[int, list[int]]:
    """Read the header: how many columns there are, and at which of them each attribute stands."""
    hint = "header=False reads a file that has no header, by position"
    record = next(records, None)
    if record is None:
        raise SourceError(f"{name}: the file is empty; a header row was expected", hint=hint)
    where = f"{name}:{record.number}"
    if record.problem is not None:
        raise SourceError(f"{name}: the header row cannot be read: {record.problem}", where=where, raw=record.raw)
    columns = record.cells
    listed = ", ".join(columns[:50]) + (", …" if len(columns) > 50 else "")
    for attribute in schema.names:
        if attribute not in columns:
            raise SourceError(
                f"{name}: there is no column '{attribute}'; the file has {listed}", where=where, hint=hint
            )
        if columns.count(attribute) > 1:
            raise SourceError(f"{name}: there are several columns '{attribute}'", where=where)
    return len(columns), [columns.index(attribute) for attribute in schema.names]


def read_records(
    records: Iterable[CsvRecord], name: str, schema: Schema, width: int, positions: Sequence[int]
) -> Iterator[Item]:
    """The rows after the header; each attribute stands at its position among `width` columns."""
    read_row = _row_reader(schema, width, positions)
    for record in records:
        problem = record.problem
        if problem is None:
            try:
                item = read_row(record.cells)
            except ValueProblem as unfit:
                problem = str(unfit)
        if problem is not None:
            item = Unreadable(problem, where=f"{name}:{record.number}", raw=record.raw)
        yield item


def _row_reader(schema: Schema, width: int, positions: Sequence[int]) -> Callable[[list[str]], Any]:
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    columns = [
        (position, attribute.name, cell_parser(attribute.type))
        for position, attribute in zip(positions, schema.attributes, strict=True)
    ]

    def read_row(cells: list[str]) -> Any:
        if len(cells) != width:
            raise ValueProblem(f"{_cells(width)} expected, got {len(cells)}")
        values = []
        for position, name, parse in columns:
            try:
                values.append(parse(cells[position]))
            except ValueProblem as problem:
                raise ValueProblem(f"column '{name}': {problem}") from None
        return make(values)

    return read_row


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
