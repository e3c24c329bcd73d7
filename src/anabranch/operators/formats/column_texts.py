"""Arrow columns as columns of text: the characters that `cells.py` and `json_values.py` give for each value.

Arrow's own casts do most of it. Where they write a value differently than Python does (floats, datetimes), it is known
which values these are, and their texts are put in afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.json_values import dump_json
from anabranch.operators.formats.text_values import show_bytes

Piece: TypeAlias = str | pa.Array  # of a line: the same in every row, or a column of texts
Mask = npt.NDArray[np.bool_]

_TEXT = pa.string()


def joined(pieces: list[Piece], rows: int) -> pa.Array:
    """The pieces of each row behind one another."""
    merged = _merged(pieces)
    match merged:
        case [str(text)]:
            return pa.array([text] * rows, _TEXT)
        case [column]:
            return column
        case _:
            return pc.binary_join_element_wise(*merged, "")


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Texts that follow each other become one: joining takes time for each piece."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if isinstance(piece, str) and isinstance(last, str):
            merged[-1] = last + piece
        else:
            merged.append(piece)
    return merged


def data_of(texts: pa.Array) -> memoryview:
    """The bytes of all texts behind one another."""
    bounds, data = bounds_of(texts), texts.buffers()[2]
    return memoryview(b"" if data is None else data).cast("B")[bounds[0] : bounds[-1]]


def bounds_of(texts: pa.Array) -> npt.NDArray[np.int32]:
    """Where the first text starts in the buffer of all of them, and where each ends."""
    if len(texts) == 0:
        return np.zeros(1, np.int32)
    return np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]


def with_replaced(texts: pa.Array, places: Mask | pa.Array, replacements: pa.Array) -> pa.Array:
    """The texts, with others at some of the places."""
    return pc.replace_with_mask(texts, pa.array(places), replacements)


# Cells of CSV files -------------------------------------------------------------------------------------------------


def cell_texts(kind: AttributeType, column: pa.Array) -> pa.Array:
    """The text of each value, null for None."""
    match kind.kind:
        case "str":
            return column
        case "float":
            return _float_texts(column, repr)
        case "list" | "tuple":
            texts = joined(_present_json(kind, column), len(column))
            return pc.if_else(column.is_valid(), texts, pa.scalar(None, _TEXT)) if column.null_count else texts
        case _:
            return _scalar_texts(kind.kind, column)


def _scalar_texts(kind: str, column: pa.Array) -> pa.Array:
    """What is written alike everywhere but for quotes."""
    match kind:
        case "datetime":
            return _datetime_texts(column)
        case "bytes":
            return pa.array([None if each is None else show_bytes(each) for each in column.to_pylist()], _TEXT)
        case _:  # an int, bool or date
            return pc.cast(column, _TEXT)


# JSON ---------------------------------------------------------------------------------------------------------------


def json_members(schema: Schema, columns: list[pa.Array]) -> list[Piece]:
    """The pieces of an object that has a member for each column."""
    pieces: list[Piece] = []
    opening = "{"
    for attribute, column in zip(schema.attributes, columns, strict=True):
        pieces += [f"{opening}{dump_json(attribute.name)}:", *_json(attribute.type, column)]
        opening = ","
    return [*pieces, "}" if schema.attributes else "{}"]


def _json(kind: AttributeType, column: pa.Array) -> list[Piece]:
    if not column.null_count:
        return _present_json(kind, column)
    texts = joined(_present_json(kind, column), len(column))
    return [pc.if_else(column.is_valid(), texts, "null")]


def _present_json(kind: AttributeType, column: pa.Array) -> list[Piece]:
    """The same where the values are not None; elsewhere anything."""
    match kind.kind:
        case "list":
            assert kind.element is not None
            return ["[", _list_elements(kind.element, column), "]"]
        case "tuple":
            assert kind.nested is not None
            return json_members(kind.nested, column.flatten())
        case "str":
            return ['"', _escaped(column), '"']
        case "float":
            return [_float_texts(column, dump_json)]
        case "int" | "bool":
            return [_scalar_texts(kind.kind, column)]
        case text:
            return ['"', _scalar_texts(text, column), '"']


def _list_elements(element: AttributeType, column: pa.Array) -> pa.Array:
    inner = column.flatten()  # without what may be behind lists that are None
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(column) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    texts = joined(_json(element, inner), len(inner))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), texts), ",")


_ESCAPED = {'"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b"}
_ESCAPES = {chr(code): f"\\u{code:04x}" for code in range(32)} | _ESCAPED


def _escaped(texts: pa.Array) -> pa.Array:
    found = frozenset(data_of(texts))
    if ord("\\") in found:  # first: the other escapes have one
        texts = pc.replace_substring(texts, "\\", "\\\\")
    for character, escape in _ESCAPES.items():
        if ord(character) in found:
            texts = pc.replace_substring(texts, character, escape)
    return texts


# Floats -------------------------------------------------------------------------------------------------------------


def _float_texts(column: pa.Array, show: Callable[[float], str]) -> pa.Array:
    """With `repr` null for None, with another function anything.

    Arrow finds the same shortest digits as `repr`, but puts the point and the exponent at other places.

    It writes 335 for 335.0, turns to exponents at 1e10 instead of 1e16 and below 1e-6 instead of 1e-4, and
    writes 1e-7 for 1e-07.
    """
    values = column.to_numpy(zero_copy_only=False)  # NaN for None
    size = np.abs(values)
    with np.errstate(invalid="ignore"):  # some kinds of NaN
        whole = (size < 1e16) & (np.trunc(values) == values)
    by_python = whole & (size == 0) & np.signbit(values)
    by_python |= (size >= 1e-9) & (size < 1e-4)
    by_python |= (size >= 1e10) & (size < 1e16) & ~whole
    if show is not repr:
        by_python |= ~np.isfinite(values)
    whole &= ~by_python
    if whole.all():
        return _whole_texts(values)
    texts = pc.cast(column, _TEXT)
    if whole.any():
        texts = with_replaced(texts, whole, _whole_texts(values[whole]))
    if by_python.any():
        shown = pa.array([show(value) for value in values[by_python].tolist()], _TEXT)
        texts = with_replaced(texts, by_python, shown)
    return texts


def _whole_texts(values: npt.NDArray[Any]) -> pa.Array:
    return pc.binary_join_element_wise(pc.cast(pa.array(values.astype(np.int64)), _TEXT), ".0", "")


# Datetimes ----------------------------------------------------------------------------------------------------------


def _datetime_texts(column: pa.Array) -> pa.Array:
    """As `isoformat`, which leaves out microseconds that are 0."""
    ticks = column.view(pa.int64())
    texts = pc.utf8_replace_slice(pc.cast(column.view(pa.timestamp("us")), _TEXT), 10, 11, "T")
    seconds = pc.utf8_slice_codeunits(texts, 0, 19)
    has_fraction = pc.not_equal(pc.multiply(pc.divide(ticks, 1_000_000), 1_000_000), ticks)
    texts = pc.if_else(has_fraction, texts, seconds)
    return texts if column.type.tz is None else pc.binary_join_element_wise(texts, "+00:00", "")
