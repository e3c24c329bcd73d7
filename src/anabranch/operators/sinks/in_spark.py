"""What a run collected, as a DataFrame of Spark.

Where Spark is on this machine, a large table goes by way of a Parquet file: Spark reads its columns as such, while of
columns that it is given it makes rows one by one, and keeps them all.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame  # also for those who know no Spark


_LARGE = 1 << 18  # rows


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
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    frame: DataFrame
    if len(table) >= _LARGE and is_on_this_machine(session):
        frame = session.read.schema(schema).parquet(_in_file(table, session))
    else:
        frame = session.createDataFrame(table, schema)
    return frame


def is_on_this_machine(session: Any) -> bool:
    """Whether workers certainly see its files."""
    try:
        return str(session.sparkContext.master).startswith("local")
    except Exception:  # over Connect there is none
        return False


def _in_file(table: pa.Table, session: Any) -> str:
    """The path of a file that is there as long as the session, which every DataFrame that is made of it keeps."""
    folder = tempfile.mkdtemp(prefix="anabranch-frame-")
    weakref.finalize(session, shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "rows.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False, store_schema=False)
    return str(path)


def _nullable(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_nullable(kind.field(at)) for at in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        kind = pa.list_(_nullable(kind.value_field))
    return pa.field(field.name, kind)
