"""DataFrames of pandas as columns: exact where pandas itself is exact, and object by object where it holds objects."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.errors import BuildError, in_words
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.sources.frames import Frame, check_names, check_type, source_for

_CASTS = {
    "int": 'frame["{name}"].astype("int64")',
    "float": 'frame["{name}"].astype("float64")',
    "bool": 'frame["{name}"].astype("bool")',
    "str": 'frame["{name}"].astype("string")',
    "datetime": 'pandas.to_datetime(frame["{name}"])',
    "date": 'frame["{name}"].dt.date',
}
# Of a column of objects Arrow looks at some only, and takes away what these have beyond them: the time of a date,
# nanoseconds, the difference between text and bytes. These kinds it tells apart.
_TOLD_APART = {"str": pa.string(), "int": pa.int64(), "bool": pa.bool_()}


def pandas_frame(frame: Any, schema: Schema) -> Frame:
    """The rows in their order; the index is no column."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise BuildError(
            f"frame= is a {type(frame).__name__}, and not a DataFrame of pandas",
            hint="series.to_frame(name) makes one of a Series" if isinstance(frame, pd.Series) else source_for(frame),
        )
    index = [name for name in frame.index.names if name is not None]
    check_names(list(frame.columns), schema, "frame", lambda name: "frame.reset_index()" if name in index else None)
    return Frame(tuple(_column(frame[each.name], each.name, each.type, schema) for each in schema.attributes))


def _column(series: Any, name: str, kind: AttributeType, schema: Schema) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):  # which Arrow does not know
        raise BuildError(
            f"column '{name}' is sparse ({series.dtype}), and columns are read that hold all their values",
            hint=f'give the values: frame["{name}"].sparse.to_dense()',
        )
    if _holds_objects(series):
        return _objects(series, kind)
    try:
        # NaN in a column of floats stays what it is; pandas has NaT and NA for what is missing. Arrays of numpy are
        # copied: they may change later.
        plain = series.to_numpy(copy=True) if isinstance(series.dtype, np.dtype) else series
        column = pa.array(plain, from_pandas=False)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as problem:
        raise BuildError(
            f"column '{name}' is of type {series.dtype}, which cannot be read as {kind}: {in_words(problem)}",
            hint=f"convert it before, or change the type of {schema.name}.{name}",
        ) from None
    check_type(name, column.type, schema, _CASTS)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _holds_objects(series: Any) -> bool:
    categories = getattr(series.dtype, "categories", None)
    dtype = series.dtype if categories is None else categories.dtype
    return isinstance(dtype, np.dtype) and dtype.kind == "O"  # those of pandas and Arrow call themselves so, too


def _objects(series: Any, kind: AttributeType) -> Any:
    """An array where it certainly holds all of these as they are; else the objects, which are looked at row by row."""
    told_apart = _TOLD_APART.get(kind.kind)
    if told_apart is not None:
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            found = pa.array(series, from_pandas=True)
            if isinstance(found, pa.DictionaryArray):
                found = found.dictionary_decode()
            if found.type == told_apart:
                return pa.chunked_array([found]) if isinstance(found, pa.Array) else found
    return series.tolist()
