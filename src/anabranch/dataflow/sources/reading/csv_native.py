"""A block of a CSV file as columns, read by compiled code (`codegen/runtime/csv_rows.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from anabranch.codegen.runtime.csv_rows import FLOAT, INT, PADDING, SKIPPED, TEXT, read_rows
from anabranch.codegen.runtime.intrinsics import Array
from anabranch.graph.schema import AttributeType

_NUMBERS = {"int": (INT, pa.int64()), "float": (FLOAT, pa.float64())}


class NativeRows:
    """Reads blocks of one file, or of files with the same columns."""

    def __init__(self, types: Sequence[AttributeType], width: int, positions: Sequence[int], delimiter: str) -> None:
        self._delimiter = ord(delimiter)
        self._kinds = np.full(width, SKIPPED)
        self._optional = np.zeros(width, np.bool_)
        self._places = np.zeros(width, np.int64)
        self._columns: list[tuple[pa.DataType, int, bool]] = []  # its type, its place among those alike, optional
        self._numbers = self._texts = 0
        for position, kind in zip(positions, types, strict=True):
            self._kinds[position], as_read = _NUMBERS.get(kind.kind, (TEXT, pa.string()))
            self._optional[position] = kind.optional
            place = self._texts if as_read == pa.string() else self._numbers
            self._places[position] = place
            self._columns.append((as_read, place, kind.optional))
            self._texts += as_read == pa.string()
            self._numbers += as_read != pa.string()
        # A row has at least its delimiters, its newline, and a digit where a number has to be.
        self._least_row = width + int(((self._kinds != SKIPPED) & (self._kinds != TEXT) & ~self._optional).sum())

    def columns(self, data: bytes) -> list[pa.Array] | None:
        """The columns in the order of the positions; None where something is not plain."""
        if not data.endswith(b"\n"):
            return None
        most = len(data) // self._least_row + 1
        words = np.empty((self._numbers, most), np.int64)
        missing = np.zeros((self._numbers, most if self._optional.any() else 0), np.bool_)
        texts = np.empty((self._texts, len(data)), np.uint8)
        ends = np.empty((self._texts, most + 1), np.int32)
        ends[:, 0] = 0
        padded = np.frombuffer(data + bytes(PADDING), np.uint8)
        rows = read_rows(
            padded, len(data), self._delimiter, self._kinds, self._optional, self._places, words, missing, texts, ends
        )
        if rows < 0:
            return None
        return [
            _texts(rows, texts[place], ends[place])
            if kind == pa.string()
            else _numbers(rows, kind, words[place], missing[place] if optional else None)
            for kind, place, optional in self._columns
        ]


def _numbers(rows: int, kind: pa.DataType, words: Array, missing: Array | None) -> pa.Array:
    valid = None
    if missing is not None and missing[:rows].any():
        valid = pa.py_buffer(np.packbits(~missing[:rows], bitorder="little"))
    return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(words[:rows])])


def _texts(rows: int, texts: Array, ends: Array) -> pa.Array:
    return pa.Array.from_buffers(
        pa.string(), rows, [None, pa.py_buffer(ends[: rows + 1]), pa.py_buffer(texts[: ends[rows]])]
    )
