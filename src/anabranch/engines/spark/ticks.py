"""The time of a stream that is in many channels: tuples that may end a window go to all of them, for their time.

Who sends a stream sees neither the epochs before nor the tuples that others send. So of each epoch it takes the tuples
whose time is the largest so far and passes a boundary of windows; a channel lets those go by that its clock has passed.
They may be too many, never too few. They go as whole tuples, since an error names the tuple that it came with.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.engines.spark.chunk_rows import Piece
from anabranch.engines.spark.meeting import order_of, taken
from anabranch.graph.schema import Schema
from anabranch.operators.windows import Window, microseconds

_ROUNDING = 1e-9  # of a quotient, relative: more than floats can be wrong by


def ticks(piece: Piece, window: Window) -> Piece:
    """The tuples of a piece whose times may end windows."""
    chunk = piece.chunk
    assert window.on is not None
    at = chunk.schema.names.index(window.on)
    positions = _crossing(_times(chunk, at), _slide(window, chunk.schema))
    return Piece(taken(chunk, positions), tuple(column[positions] for column in order_of(piece)), piece.end)


def _slide(window: Window, schema: Schema) -> float:
    length = float(window.slide or window.length)
    assert window.on is not None
    return length * 1e6 if schema[window.on].kind in ("date", "datetime") else length


def _times(chunk: Chunk, at: int) -> npt.NDArray[np.float64]:
    """About when tuples are, in the unit of the axis."""
    kind = chunk.schema.attributes[at].type.kind
    if kind in ("int", "float") and chunk.has_batch:
        return _as_floats(chunk.batch.column(at))
    if chunk.has_batch:
        column = chunk.batch.column(at).cast(pa.timestamp("us"))  # with a zone it is in UTC as it is
        return _as_floats(column.cast(pa.int64()))
    values = [row[at] for row in chunk.rows]
    if kind in ("date", "datetime"):
        values = [microseconds(value) for value in values]
    return np.array(values, np.float64)


def _as_floats(column: pa.Array) -> npt.NDArray[np.float64]:
    floats: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return floats


def _crossing(times: npt.NDArray[np.float64], slide: float) -> npt.NDArray[np.int64]:
    """Where times are larger than all before, and perhaps behind another boundary than the last of these."""
    known = np.where(np.isfinite(times), times, -np.inf)
    largest = np.maximum.accumulate(known)
    rises = np.flatnonzero(known > np.concatenate([[-np.inf], largest[:-1]])) if len(times) else np.empty(0, np.int64)
    quotients = known[rises] / slide
    margin = np.abs(quotients) * _ROUNDING + _ROUNDING
    # Certainly behind the same boundary is a time whose highest guess is the lowest one of the time before.
    low, high = np.floor(quotients - margin), np.floor(quotients + margin)
    is_new = np.ones(len(rises), bool)
    is_new[1:] = high[1:] != low[:-1]
    return rises[is_new]
