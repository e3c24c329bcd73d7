"""Sinks: where streams end."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

from anabranch.api.base import Sink, StreamBase, checked_path
from anabranch.api.draft import add_node
from anabranch.api.signatures import check_takes
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError
from anabranch.operators.formats.addresses import is_named_as_folder
from anabranch.operators.formats.partial_output import PARTIAL, is_partial
from anabranch.operators.sinks import Collect, ForEach, SinkDefinition, WriteFile, WriteTcp

T = TypeVar("T")
Target = str | PathLike[str]


class SinkOperators(StreamBase[T]):
    """Ends of a stream. A file appears, whole, at its path when the run has succeeded.

    `ordered=False` says that the order of what arrives does not matter, so that the sink can be parallel.
    """

    def write_csv(self, path: Target, *, header: bool = True, delimiter: str = ",", ordered: bool = True) -> Sink:
        """Write tuples as rows of a CSV file, by default below a row with the attributes' names.

        >>> import anabranch as ab, tempfile, pathlib
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     sensor: str
        ...     value: float
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.csv"
        >>> _ = ab.run(ab.from_items(Reading, [Reading("a", 1.5)]).write_csv(path))
        >>> print(path.read_text(), end="")
        sensor,value
        a,1.5
        """
        where = caller()
        return self._file("csv", path, ordered, where, header=header, delimiter=delimiter)

    def write_jsonl(self, path: Target, *, ordered: bool = True) -> Sink:
        """Write tuples as lines of JSON objects.

        >>> import anabranch as ab, tempfile, pathlib
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     sensor: str
        ...     value: float
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.jsonl"
        >>> _ = ab.run(ab.from_items(Reading, [Reading("a", 1.5)]).write_jsonl(path))
        >>> print(path.read_text(), end="")
        {"sensor":"a","value":1.5}
        """
        return self._file("jsonl", path, ordered, caller())

    def write_parquet(self, path: Target, *, ordered: bool = True) -> Sink:
        """Write tuples as rows of a Parquet file.

        >>> import anabranch as ab, tempfile, pathlib
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.parquet"
        >>> _ = ab.run(ab.from_items(Reading, [Reading(1.5)]).write_parquet(path))
        >>> ab.run(ab.read_parquet(path, Reading).collect("back")).items("back")
        [Reading(value=1.5)]
        """
        return self._file("parquet", path, ordered, caller())

    def write_lines(self, path: Target, *, ordered: bool = True) -> Sink:
        """Write tuples of one `str` attribute as lines of text.

        >>> import anabranch as ab, tempfile, pathlib
        >>> from typing import NamedTuple
        >>> class Line(NamedTuple):
        ...     text: str
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.txt"
        >>> _ = ab.run(ab.from_items(Line, [Line("one"), Line("two")]).write_lines(path))
        >>> path.read_text().splitlines()
        ['one', 'two']
        """
        return self._file("lines", path, ordered, caller())

    def write_tcp(self, port: int, *, host: str = "localhost", format: str = "jsonl", ordered: bool = True) -> Sink:
        """Send every tuple as a line to a server: `format` is "jsonl", "csv" or "lines".

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> ab.from_items(Reading, [Reading(1.0)]).write_tcp(9999)
        <Sink write_tcp>
        """
        where = caller()
        with where.blamed():
            return self._sink(WriteTcp(host, port, format, ordered), where)

    def collect(self, name: str, *, ordered: bool = True) -> Sink:
        """Keep the tuples in memory: `ab.run(program).items(name)` gives them.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> ab.run(ab.from_items(Reading, [Reading(1.0)]).collect("out")).items("out")
        [Reading(value=1.0)]
        """
        where = caller()
        if not isinstance(name, str) or not name.isidentifier():
            raise BuildError(
                f"{name!r} cannot name what is collected",
                location=where.location,
                hint="use letters, digits and underscores, as for a variable",
            )
        return self._sink(Collect(name, ordered), where).named(name)

    def for_each(self, fn: Callable[[T], object], *, ordered: bool = True, on_error: str = "stop") -> Sink:
        """Call a function with every tuple.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> _ = ab.run(ab.from_items(Reading, [Reading(1.0)]).for_each(print))
        Reading(value=1.0)
        """
        where = caller()
        check_takes("the function of for_each", fn, (self._schema(),), where)
        if on_error == "dead_letter":
            raise BuildError(
                "for_each is a sink and has no output for dead letters",
                location=where.location,
                hint='use on_error="skip", or do the failing part in a map before',
            )
        return self._sink(ForEach(fn, ordered), where, on_error)

    def _file(self, format: str, path: Target, ordered: bool, where: Caller, **options: Any) -> Sink:
        place = checked_path(path, where)
        if is_partial(place.name):
            raise BuildError(
                f"{path}: the name says that a run did not complete it",
                location=where.location,
                hint=f"leave {PARTIAL} out: what a run writes before an error is kept under such a name",
            )
        with where.blamed():
            return self._sink(WriteFile(format, place, options, ordered, is_named_as_folder(path)), where)

    def _sink(self, definition: SinkDefinition, where: Caller, on_error: str = "stop") -> Sink:
        with where.blamed():
            definition.check_schema(self._schema())
        return Sink(add_node(definition, [self._output()], [], location=where.location, on_error=on_error))
