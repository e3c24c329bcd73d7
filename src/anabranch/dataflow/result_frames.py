"""What a run collected, as frames: tables of Arrow, DataFrames of pandas and Polars."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from anabranch.codegen.columns import NoColumns, batch_of
from anabranch.errors import UsageError
from anabranch.operators.sinks.collect import CollectMeaning


def arrow_table(sink: CollectMeaning) -> pa.Table:
    """All tuples in order; datetimes with a zone are in UTC."""
    batches = [chunk.batch for chunk in sink.chunks or () if len(chunk)]
    if batches and len({batch.schema for batch in batches}) == 1:
        return pa.Table.from_batches(batches)
    try:
        return pa.Table.from_batches([batch_of(sink.operator.inputs[0].schema, sink.items)])
    except NoColumns as problem:
        raise UsageError(
            f"what was collected as '{sink.operator.definition.label}' has no columns: {problem}",
            hint="give all datetimes of an attribute a zone, or none; .items(name) gives the tuples as they are",
        ) from None


def pandas_frame(sink: CollectMeaning) -> Any:
    """Columns that may hold None have the nullable types of pandas: others would make floats of ints."""
    import pandas as pd

    nullable = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}
    table = arrow_table(sink)
    columns = {
        field.name: column.to_pandas(types_mapper=nullable.get if field.nullable else None)
        for field, column in zip(table.schema, table.columns, strict=True)
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))


def polars_frame(sink: CollectMeaning) -> Any:
    try:
        import polars as pl
    except ImportError:
        problem = UsageError("Polars is not installed", hint="pip install polars; .to_arrow(name) needs nothing else")
        raise problem from None
    return pl.from_arrow(arrow_table(sink))
