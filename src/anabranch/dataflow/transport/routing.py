"""Which channel a tuple goes to: by the hash of its key, the same in every process, or by its range (`ab.ranges`)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.runtime.hash import FIRST, FLOAT, GAMMA, NAN_BITS, NONE, SECOND, TUPLE, key_hash, mix
from anabranch.graph.schema import Schema
from anabranch.graph.values import key_reader

Hashes = npt.NDArray[np.uint64]
_END_OF_INT = 2.0**63


def channels_of(
    chunk: Chunk, key: tuple[str, ...], channels: int, bounds: tuple[Any, ...] = ()
) -> npt.NDArray[np.int64]:
    """The channel of every tuple of a chunk."""
    if bounds:
        # Neighbouring ranges share a channel where there are more of them than channels.
        return _ranges_of(chunk, key, bounds) * channels // (len(bounds) + 1)
    hashes = _by_columns(chunk, key) if chunk.has_batch else None
    if hashes is None:
        hashes = _by_rows(chunk.schema, chunk.rows, key)
    return (hashes % np.uint64(channels)).astype(np.int64)


def _ranges_of(chunk: Chunk, key: tuple[str, ...], bounds: tuple[Any, ...]) -> npt.NDArray[np.int64]:
    """The range of each tuple: below the first bound, from it up to the next, and so on. NaN is above all."""
    [name] = key
    column = chunk.batch.column(chunk.schema.names.index(name)) if chunk.has_batch else None
    if column is not None and not column.null_count and pa.types.is_float64(column.type):
        found: npt.NDArray[np.int64] = np.searchsorted(np.array(bounds, float), column.to_numpy(), side="right")
        return found
    key_of = key_reader(chunk.schema, key)
    return np.array([_range_of(key_of(row), bounds) for row in chunk.rows], np.int64)


def _range_of(value: Any, bounds: tuple[Any, ...]) -> int:
    if value is None:
        return 0
    return len(bounds) if value != value else bisect_right(bounds, value)


def _by_rows(schema: Schema, rows: list[Any], key: tuple[str, ...]) -> Hashes:
    key_of = key_reader(schema, key)
    known: dict[Any, int] = {}
    found = np.empty(len(rows), np.uint64)
    for at, row in enumerate(rows):
        value = key_of(row)
        hashed = known.get(value)
        if hashed is None:
            # Equal keys have equal hashes, so whichever of them was here first will do.
            hashed = known[value] = key_hash(value)
        found[at] = hashed
    return found


def _by_columns(chunk: Chunk, key: tuple[str, ...]) -> Hashes | None:
    """The same by columns; None where a column is of a type for which that is not known."""
    parts = [_of_column(chunk.batch.column(chunk.schema.names.index(name))) for name in key]
    if any(part is None for part in parts):
        return None
    if len(parts) == 1:
        return parts[0]
    combined = np.full(len(chunk), mix(TUPLE ^ len(parts)), np.uint64)
    for part in parts:
        assert part is not None
        combined = _mix(combined ^ part)
    return combined


def _mix(x: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        z = x + np.uint64(GAMMA)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
        return z ^ (z >> np.uint64(31))


def _of_column(column: pa.Array) -> Hashes | None:
    if column.null_count:
        hashes = _of_column(column.fill_null(_filling(column.type))) if _filling(column.type) is not None else None
        if hashes is not None:
            hashes = np.where(column.is_null().to_numpy(zero_copy_only=False), np.uint64(mix(NONE)), hashes)
        return hashes
    if pa.types.is_int64(column.type):
        return _mix(column.to_numpy().view(np.uint64))
    if pa.types.is_boolean(column.type):
        return _mix(column.to_numpy(zero_copy_only=False).astype(np.uint64))
    if pa.types.is_float64(column.type):
        return _of_floats(column.to_numpy())
    if pa.types.is_string(column.type):
        return _of_strings(column)
    return None


def _filling(kind: pa.DataType) -> Any:
    if pa.types.is_int64(kind):
        return 0
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_float64(kind):
        return 0.0
    return "" if pa.types.is_string(kind) else None


def _of_floats(values: npt.NDArray[np.float64]) -> Hashes:
    is_int = (values >= -_END_OF_INT) & (values < _END_OF_INT) & (values == np.trunc(values))
    as_ints = np.where(is_int, values, 0.0).astype(np.int64).view(np.uint64)
    bits = np.where(np.isnan(values), np.uint64(NAN_BITS), values.view(np.uint64))
    return np.where(is_int, _mix(as_ints), _mix(bits ^ np.uint64(FLOAT)))


def _of_strings(column: pa.Array) -> Hashes:
    """Each distinct string once."""
    encoded = column.dictionary_encode()
    hashes = np.fromiter(map(_of_string, encoded.dictionary.to_pylist()), np.uint64, len(encoded.dictionary))
    return hashes[encoded.indices.to_numpy()] if len(hashes) else np.empty(0, np.uint64)


_known: dict[str, int] = {}
_MOST_KNOWN = 1 << 18


def _of_string(text: str) -> int:
    hashed = _known.get(text)
    if hashed is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        hashed = _known[text] = key_hash(text)
    return hashed
