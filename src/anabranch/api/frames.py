"""Sources that are frames: tables of Arrow, DataFrames of pandas, Polars and Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from anabranch.api.connectors import source_schema, stream_from
from anabranch.api.stream import Stream
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import Schema
from anabranch.operators.sources import FromFrame

T = TypeVar("T")


def from_arrow(data: Any, type: type[T], *, order_by: str | None = None, on_error: str = "stop") -> Stream[T]:
    """The rows of an Arrow table, of a record batch, or of a stream of them: anything with `__arrow_c_stream__`.

    Columns are found by name. A stream is read to its end when the source is built, as it can be read only once.

    >>> import anabranch as ab, pyarrow
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> table = pyarrow.table({"value": [1.5, 2.5]})
    >>> ab.run(ab.from_arrow(table, Reading).collect("out")).items("out")
    [Reading(value=1.5), Reading(value=2.5)]
    """

    def read(schema: Schema) -> Any:
        from anabranch.operators.sources.frames import arrow_frame  # brings Arrow, which is slow to import

        return arrow_frame(data, schema)

    return _from_frame("arrow", read, type, order_by, on_error, caller())


def from_pandas(frame: Any, type: type[T], *, order_by: str | None = None, on_error: str = "stop") -> Stream[T]:
    """The rows of a DataFrame of pandas, as it is now. Columns are found by name; the index is none.

    NaN in a column of floats is a number like others; NaT and NA, and NaN among objects, are `None`.

    >>> import anabranch as ab, pandas
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> frame = pandas.DataFrame({"value": [1.5, 2.5]})
    >>> ab.run(ab.from_pandas(frame, Reading).collect("out")).items("out")
    [Reading(value=1.5), Reading(value=2.5)]
    """

    def read(schema: Schema) -> Any:
        from anabranch.operators.sources.pandas_frames import pandas_frame

        return pandas_frame(frame, schema)

    return _from_frame("pandas", read, type, order_by, on_error, caller())


def from_polars(frame: Any, type: type[T], *, order_by: str | None = None, on_error: str = "stop") -> Stream[T]:
    """The rows of a DataFrame of Polars. Columns are found by name.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> def readings_of(frame):
    ...     return ab.from_polars(frame, Reading)
    """

    def read(schema: Schema) -> Any:
        from anabranch.operators.sources.frames import polars_frame

        return polars_frame(frame, schema)

    return _from_frame("polars", read, type, order_by, on_error, caller())


def from_spark(
    frame: Any, type: type[T], *, order_by: str | Sequence[str], ties: str = "refuse", on_error: str = "stop"
) -> Stream[T]:
    """The rows of a DataFrame of Spark, in the order of one of its columns or of several.

    Rows of Spark have no order, so one has to be given. If two rows are equal in it, theirs is not defined: that is
    refused, but with `ties="any"`, which takes them as they come. On this machine the rows stay with Spark's workers.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     ts: int
    ...     value: float
    >>> def readings_of(frame):
    ...     return ab.from_spark(frame, Reading, order_by="ts")
    """
    where = caller()
    columns = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    if not columns or not all(isinstance(name, str) for name in columns):
        raise BuildError(
            f"order_by= names columns of the DataFrame, but is {shown(order_by)}",
            location=where.location,
            hint='for example order_by="ts", or order_by=["ts", "id"]',
        )
    if ties not in ("refuse", "any"):
        raise BuildError(f"ties={shown(ties)} is neither 'refuse' nor 'any'", location=where.location)

    def read(schema: Schema) -> Any:
        from anabranch.operators.sources.spark_frames import SparkFrame

        return SparkFrame(frame, schema, columns, allows_ties=ties == "any")

    schema, _, _ = source_schema(type, None, None, where)
    is_attribute = len(columns) == 1 and columns[0] in schema and schema[columns[0]].is_orderable
    return _from_frame("spark", read, type, columns[0] if is_attribute else None, on_error, where)


def _from_frame(
    made_of: str, read: Callable[[Schema], Any], type: object, order_by: str | None, on_error: str, where: Caller
) -> Stream[Any]:
    schema, order, _ = source_schema(type, order_by, None, where)
    with where.blamed():
        return stream_from(FromFrame(made_of, schema, read(schema), order), schema, where, on_error)
