"""What every format offers: reading a file, writing one, and saying beforehand what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from anabranch.errors import BuildError
from anabranch.graph.schema import Schema
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.growing_text import GrowingTextWriter
from anabranch.operators.formats.text_lines import open_for_reading
from anabranch.operators.formats.text_writer import TextWriter
from anabranch.operators.formats.writer import StreamWriter, Writer

if TYPE_CHECKING:
    from anabranch.operators.formats.encode_columns import EncodeColumns

Item = Any  # a tuple of the schema's type, or Unreadable


class Format:
    """A file format. Options are keyword arguments; which exist is the format's business."""

    name: str
    options: tuple[str, ...] = ()

    def check_schema(self, schema: Schema) -> None:
        """Raise a `BuildError` where tuples of this type cannot be read or written."""

    def check_read_schema(self, schema: Schema) -> None:
        """The same for reading alone, where a format can fill more attributes than it can write."""
        self.check_schema(schema)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise a `BuildError` for an option that does not exist or has a value that makes no sense."""
        for option in options:
            if option not in self.options:
                known = f"its options are {', '.join(self.options)}" if self.options else "it has no options"
                raise BuildError(f"format '{self.name}' has no option '{option}'", hint=known)

    def probe(self, path: FilePath, schema: Schema, **options: Any) -> None:
        """Raise a `SourceError` where it is clear without reading the rows that a file cannot be read."""
        raise NotImplementedError

    def read(self, path: FilePath, schema: Schema, **options: Any) -> Iterator[Item]:
        """The rows of a file in order, each a tuple or `Unreadable`, lazily and in bounded memory."""
        raise NotImplementedError

    def writer(self, schema: Schema, **options: Any) -> Writer:
        raise NotImplementedError

    def stream_writer(self, schema: Schema, **options: Any) -> StreamWriter:
        raise NotImplementedError


class TextFormat(Format):
    """A format made of lines of UTF-8, read from any stream of bytes and written line by line."""

    def read_stream(self, stream: BinaryIO, name: str, schema: Schema, **options: Any) -> Iterator[Item]:
        """The rows of an open stream; `name` stands for it in messages."""
        raise NotImplementedError

    def encoder(self, schema: Schema, **options: Any) -> Callable[[Any], str]:
        """A function from a tuple to its line, which ends in a newline."""
        raise NotImplementedError

    def column_encoder(self, schema: Schema, **options: Any) -> EncodeColumns | None:
        """The same for record batches, where it can be had."""
        from anabranch.operators.formats.encode_columns import column_encoder  # brings Arrow, which is slow to import

        return column_encoder(self.name, schema, options)

    def heading(self, schema: Schema, **options: Any) -> str:
        """What stands before the first row."""
        return ""

    def probe(self, path: FilePath, schema: Schema, **options: Any) -> None:
        open_for_reading(path).close()

    def read(self, path: FilePath, schema: Schema, **options: Any) -> Iterator[Item]:
        with open_for_reading(path) as stream:
            yield from self.read_stream(stream, str(path), schema, **options)

    def writer(self, schema: Schema, **options: Any) -> Writer:
        columns = partial(self.column_encoder, schema, **options)
        return TextWriter(self.encoder(schema, **options), self.heading(schema, **options), columns)

    def stream_writer(self, schema: Schema, **options: Any) -> StreamWriter:
        columns = partial(self.column_encoder, schema, **options)
        return GrowingTextWriter(self.encoder(schema, **options), self.heading(schema, **options), columns)
