"""What a run collected, as a DataFrame of Spark."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from anabranch.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame  # also for those who know no Spark


def spark_frame(table: pa.Table, session: Any) -> DataFrame:
    """The table in this session, or in the active one."""
    if session is None and "pyspark" in sys.modules:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
    if session is None:
        raise UsageError("there is no Spark session to make a DataFrame in", hint="to_spark(name, spark=session)")
    from pyspark.sql.pandas.types import from_arrow_schema

    # Spark takes no struct that may be missing, and whose members may not.
    table = table.cast(pa.schema([_nullable(field) for field in table.schema]))
    # By itself it would take times without a zone for those of the session's zone.
    frame: DataFrame = session.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))
    return frame


def _nullable(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_nullable(kind.field(at)) for at in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        kind = pa.list_(_nullable(kind.value_field))
    return pa.field(field.name, kind)
