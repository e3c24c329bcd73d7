"""Sources: where streams begin.

`order_by` names the attribute by which several sources are drawn in order; where not all of them say it, they are
drawn alternately. `partition_by` makes a source parallel: its partitions count as several sources, and a value of
that key must occur in one of them only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, TypeVar

from anabranch.api.base import check_attributes, checked_path
from anabranch.api.draft import add_node
from anabranch.api.signatures import check_arity, checked_schema
from anabranch.api.stream import Stream
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError
from anabranch.graph.schema import Schema
from anabranch.operators.base import SourceDefinition
from anabranch.operators.sources import Beacon, FromItems, Generate, ReadFiles, ReadTcp

T = TypeVar("T")
Names = str | list[str] | tuple[str, ...] | None
Source = str | PathLike[str]


def from_items(
    type: type[T],
    items: Iterable[T],
    *,
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """Tuples that are at hand. With `partition_by`, each value of the key is a partition.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> ab.run(ab.from_items(Reading, [Reading(1.0)]).collect("out")).items("out")
    [Reading(value=1.0)]
    """
    where = caller()
    schema, order, partition = source_schema(type, order_by, partition_by, where)
    with where.blamed():
        return stream_from(FromItems(schema, items, order, partition), schema, where, on_error)


def read_csv(
    path: Source,
    type: type[T],
    *,
    header: bool = True,
    delimiter: str = ",",
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """The rows of a CSV file, or of all files a glob matches, in order of their names.

    Columns are found by the names in the header, or by position with `header=False`. With `partition_by`, each file
    is a partition. A row that cannot be read stops the run with its file and line; `on_error="skip"` counts it,
    `"dead_letter"` sends it to `.outputs.dead_letter`.

    >>> import anabranch as ab, tempfile, pathlib
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     sensor: str
    ...     value: float
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.csv"
    >>> _ = path.write_text("sensor,value\\na,1.5\\n")
    >>> ab.run(ab.read_csv(path, Reading).collect("out")).items("out")
    [Reading(sensor='a', value=1.5)]
    """
    where = caller()
    options = {"header": header, "delimiter": delimiter}
    return _files("csv", path, type, options, order_by, partition_by, on_error, where)


def read_jsonl(
    path: Source,
    type: type[T],
    *,
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """Lines of JSON objects, from a file or all files a glob matches.

    >>> import anabranch as ab, tempfile, pathlib
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     sensor: str
    ...     value: float
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.jsonl"
    >>> _ = path.write_text('{"value": 1.5, "sensor": "a"}\\n')
    >>> ab.run(ab.read_jsonl(path, Reading).collect("out")).items("out")
    [Reading(sensor='a', value=1.5)]
    """
    return _files("jsonl", path, type, {}, order_by, partition_by, on_error, caller())


def read_parquet(
    path: Source,
    type: type[T],
    *,
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """The rows of a Parquet file, or of all files a glob matches.

    >>> import anabranch as ab, tempfile, pathlib
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "readings.parquet"
    >>> _ = ab.run(ab.from_items(Reading, [Reading(1.5)]).write_parquet(path))
    >>> ab.run(ab.read_parquet(path, Reading).collect("out")).items("out")
    [Reading(value=1.5)]
    """
    return _files("parquet", path, type, {}, order_by, partition_by, on_error, caller())


def read_lines(
    path: Source,
    type: type[T],
    *,
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """The lines of a text file, or of all files a glob matches, as tuples of one `str` attribute.

    A type with an `int` besides is also told the number of the line in its file.

    >>> import anabranch as ab, tempfile, pathlib
    >>> from typing import NamedTuple
    >>> class Line(NamedTuple):
    ...     text: str
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.txt"
    >>> _ = path.write_text("one\\ntwo\\n")
    >>> ab.run(ab.read_lines(path, Line).collect("out")).items("out")
    [Line(text='one'), Line(text='two')]
    """
    return _files("lines", path, type, {}, order_by, partition_by, on_error, caller())


def generate(
    type: type[T],
    fn: Callable[..., Iterator[T]],
    *,
    partitions: Sequence[Any] | None = None,
    order_by: str | None = None,
    partition_by: Names = None,
    on_error: str = "stop",
) -> Stream[T]:
    """A user-defined source: `fn()` gives an iterator of tuples, anew for every run.

    With `partition_by`, `fn(value)` gives one partition for every value in `partitions`.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Log(NamedTuple):
    ...     server: str
    ...     line: int
    >>> def log_of(server):
    ...     for line in range(2):
    ...         yield Log(server, line)
    >>> logs = ab.generate(Log, log_of, partition_by="server", partitions=["a", "b"])
    >>> [tuple(log) for log in ab.run(logs.collect("out")).items("out")]
    [('a', 0), ('b', 0), ('a', 1), ('b', 1)]
    """
    where = caller()
    schema, order, partition = source_schema(type, order_by, partition_by, where)
    with where.blamed():
        definition = Generate(schema, fn, order, partition, partitions)
    taken = "no argument" if partitions is None else "one value of partitions="
    check_arity("the function of generate", fn, 0 if partitions is None else 1, taken, where)
    return stream_from(definition, schema, where, on_error)


def read_tcp(
    port: int,
    type: type[T],
    *,
    host: str = "localhost",
    format: str = "jsonl",
    timeout: float | None = None,
    order_by: str | None = None,
    on_error: str = "stop",
) -> Stream[T]:
    """The lines a server sends until it closes the connection: `format` is "jsonl", "csv" or "lines".

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> ab.read_tcp(9999, Reading)
    <Stream of Reading from read_tcp>
    """
    where = caller()
    schema, order, _ = source_schema(type, order_by, None, where)
    with where.blamed():
        return stream_from(ReadTcp(host, port, schema, format, order, timeout), schema, where, on_error)


def beacon(
    type: type[T],
    fn: Callable[[int], T],
    *,
    count: int | None = None,
    rate: float | None = None,
    order_by: str | None = None,
    on_error: str = "stop",
) -> Stream[T]:
    """`fn(0)`, `fn(1)`, … : `count` tuples or without end, at most `rate` a second.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Tick(NamedTuple):
    ...     number: int
    >>> ab.run(ab.beacon(Tick, Tick, count=2).collect("out")).items("out")
    [Tick(number=0), Tick(number=1)]
    """
    where = caller()
    schema, order, _ = source_schema(type, order_by, None, where)
    with where.blamed():
        definition = Beacon(schema, fn, count, rate, order)
    check_arity("the function of beacon", fn, 1, "one int", where)
    return stream_from(definition, schema, where, on_error)


def source_schema(
    type: object, order_by: str | None, partition_by: Names, where: Caller
) -> tuple[Schema, str | None, tuple[str, ...]]:
    schema = checked_schema(type, where)
    order = check_attributes(order_by, schema, where.location, "order_by=", suitable="order")
    if len(order) > 1:
        raise BuildError(
            f"order_by= names one attribute, not {len(order)}",
            location=where.location,
            hint=f'for example order_by="{order[0]}"',
        )
    partition = check_attributes(partition_by, schema, where.location, "partition_by=", suitable="key")
    return schema, (order[0] if order else None), partition


def _files(
    format: str,
    path: Source,
    type: object,
    options: dict[str, Any],
    order_by: str | None,
    partition_by: Names,
    on_error: str,
    where: Caller,
) -> Stream[Any]:
    schema, order, partition = source_schema(type, order_by, partition_by, where)
    place = checked_path(path, where)
    with where.blamed():
        return stream_from(ReadFiles(format, schema, place, options, order, partition), schema, where, on_error)


def stream_from(definition: SourceDefinition, schema: Schema, where: Caller, on_error: str) -> Stream[Any]:
    node = add_node(definition, [], [("out", schema)], location=where.location, on_error=on_error)
    return Stream(node)
