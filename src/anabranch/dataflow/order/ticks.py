"""The time of a stream that is in many channels: tuples that move it go to others than their own, for their time.

Who sends a stream sees neither the stretches before nor the tuples that others send. So of each stretch it takes tuples
whose time is the largest so far; a channel lets those go by that its clock has passed. They may be too many, never too
few. Windows that close at boundaries need those behind another boundary; where each tuple asks for the time, a channel
needs those that were the latest when one of its own came. They go as whole tuples: an error names the tuple that it
came with. A join, which closes nothing, needs only the times, and whether they have a zone.

Where datetimes with a zone and without are mixed, those of one kind are errors, but who sends them does not know which:
that is decided by the first time of the stream. So the times of each kind go as if they were alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Chunk, Positions, take_tuples
from anabranch.dataflow.order.pieces import Piece
from anabranch.graph.schema import Attribute, AttributeType, Schema
from anabranch.graph.windows import Window
from anabranch.operators.windows import microseconds

_ROUNDING = 1e-9  # of a quotient, relative: more than floats can be wrong by


def ticks(piece: Piece, window: Window) -> Piece:
    """The tuples of a piece whose times may end windows."""
    times, rises = _rises(piece, window)
    if _zones(piece.chunk, _at(piece, window)) is not None:
        return _only(piece, rises)
    quotients = times[rises] / _slide(window, piece.chunk.schema)
    margin = np.abs(quotients) * _ROUNDING + _ROUNDING
    # Certainly behind the same boundary is a time whose highest guess is the lowest one of the time before.
    low, high = np.floor(quotients - margin), np.floor(quotients + margin)
    is_new = np.ones(len(rises), bool)
    is_new[1:] = high[1:] != low[:-1]
    return _only(piece, rises[is_new])


def latest(piece: Piece, window: Window, mine: Positions | None) -> Piece:
    """The tuples of a piece that were the latest when one of `mine` came, and the latest of all.

    Where others send tuples of the same stretch too, it is not known when those of a channel come: then all that ever
    were the latest.
    """
    _, rises = _rises(piece, window)
    if mine is None or not len(rises) or _zones(piece.chunk, _at(piece, window)) is not None:
        return _only(piece, rises)
    at = np.searchsorted(rises, mine, side="right") - 1
    needed = np.unique(np.append(rises[at[at >= 0]], rises[-1]))
    return _only(piece, needed[~np.isin(needed, mine)])


class Time(NamedTuple):
    """A time by itself, as a number of the axis, and whether it is a datetime with a zone."""

    time: Any
    has_zone: bool


def schema_of_times(known: Schema, window: Window) -> Schema:
    """What the times of a stream are, where they go by themselves."""
    assert window.on is not None
    kind = AttributeType("float" if known[window.on].kind == "float" else "int")
    return Schema(Time, (Attribute("time", kind), Attribute("has_zone", AttributeType("bool"))))


def bare_times(piece: Piece, window: Window) -> Piece:
    """The times of a piece that are larger than all before, by themselves."""
    times, rises = _rises(piece, window)
    zones = _zones(piece.chunk, _at(piece, window))
    if zones is None:
        zones = np.full(len(times), _has_zone(piece.chunk, _at(piece, window)))
    batch = pa.record_batch([pa.array(times[rises]), pa.array(zones[rises])], ["time", "has_zone"])
    chunk = Chunk.of_batch(schema_of_times(piece.chunk.schema, window), batch)
    return Piece(chunk, tuple(column[rises] for column in piece.order))


def _only(piece: Piece, positions: Positions) -> Piece:
    return Piece(take_tuples(piece.chunk, positions), tuple(column[positions] for column in piece.order), piece.end)


def _rises(piece: Piece, window: Window) -> tuple[npt.NDArray[Any], Positions]:
    """The times of a piece, and the positions of those that are larger than all before that are of their kind."""
    times = _times(piece.chunk, _at(piece, window))
    if not len(times):
        return times, np.empty(0, np.int64)
    is_known = np.isfinite(times)  # a tuple whose time is no number fails, and moves nothing
    times = np.where(is_known, times, times.dtype.type(0))
    zones = _zones(piece.chunk, _at(piece, window))
    if zones is None:
        return times, _rises_among(times, is_known)
    return times, np.sort(np.concatenate([_rises_among(times, zones), _rises_among(times, ~zones)]))


def _rises_among(times: npt.NDArray[Any], is_known: npt.NDArray[np.bool_]) -> Positions:
    largest = np.maximum.accumulate(np.where(is_known, times, times[is_known].min() if is_known.any() else 0))
    is_first = np.cumsum(is_known) == 1
    before = np.concatenate([largest[:1], largest[:-1]])
    return np.flatnonzero(is_known & (is_first | (times > before)))


def _at(piece: Piece, window: Window) -> int:
    assert window.on is not None
    return piece.chunk.schema.names.index(window.on)


def _slide(window: Window, schema: Schema) -> float:
    assert window.on is not None
    try:
        length = float(window.slide or window.length)
    except OverflowError:
        return math.inf
    return length * 1e6 if schema[window.on].kind in ("date", "datetime") else length


def _times(chunk: Chunk, at: int) -> npt.NDArray[Any]:
    """When tuples are, in the unit of the axis."""
    kind = chunk.schema.attributes[at].type.kind
    if chunk.has_batch:
        column = chunk.batch.column(at)
        if kind in ("date", "datetime"):
            column = column.cast(pa.timestamp("us")).cast(pa.int64())  # with a zone it is in UTC as it is
        times: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return times
    values = [row[at] for row in chunk.rows]
    if kind in ("date", "datetime"):
        values = [microseconds(value) for value in values]
    return np.array(values, np.float64 if kind == "float" else np.int64)


def _zones(chunk: Chunk, at: int) -> npt.NDArray[np.bool_] | None:
    """Which of the times have a zone, where some have one and some have not; columns hold one kind."""
    if chunk.has_batch or chunk.schema.attributes[at].type.kind != "datetime":
        return None
    zones = np.array([row[at].tzinfo is not None for row in chunk.rows], bool)
    return zones if zones.any() and not zones.all() else None


def _has_zone(chunk: Chunk, at: int) -> bool:
    """The same where all times are of one kind."""
    if chunk.schema.attributes[at].type.kind != "datetime":
        return False
    if chunk.has_batch:
        return chunk.batch.column(at).type.tz is not None
    return bool(chunk.rows) and chunk.rows[0][at].tzinfo is not None
