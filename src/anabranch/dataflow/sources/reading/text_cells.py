"""Columns of text to columns of values, by the grammar of `text_values`; Arrow is given only what it reads the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.codegen.columns import batch_of
from anabranch.dataflow.sources.reading.chunks import Doubt
from anabranch.graph.schema import Attribute, AttributeType, Schema
from anabranch.operators.formats.text_values import Parse, parse_float

ColumnReader = Callable[[pa.Array], pa.Array]

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?"
_ZONE = "(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
# A day away from the first and the last that Python has: a zone moves a time by less.
_FIRST_DAY, _LAST_DAY = datetime.min + timedelta(days=1), datetime.max - timedelta(days=1)


def column_reader(kind: AttributeType, parse: Parse) -> ColumnReader:
    """A function from texts to values; `parse` gives the value of one text. Null stays null.

    Where Arrow does not take the texts, they are parsed one by one: a `ValueProblem` says that one is wrong, or a
    `NoColumns` that together they are no column.
    """
    read_all = _READERS.get(kind.kind)
    as_tuple = Schema(tuple, (Attribute("value", kind),))

    def read(texts: pa.Array) -> pa.Array:
        if read_all is not None:
            try:
                return read_all(texts)
            except (Doubt, pa.ArrowInvalid):
                pass
        values = [(None if text is None else parse(text),) for text in texts.to_pylist()]
        return batch_of(as_tuple, values).column(0)

    return read


def empty_as_null(texts: pa.Array) -> pa.Array:
    """What an empty cell means where None is allowed."""
    is_empty = pc.equal(pc.binary_length(texts), 0)
    return pc.if_else(is_empty, pa.scalar(None, texts.type), texts) if is_empty.true_count else texts


def _ints(texts: pa.Array) -> pa.Array:
    _allow(texts, b"0123456789-")  # not x: Arrow reads hexadecimal
    return texts.cast(pa.int64())


def _floats(texts: pa.Array) -> pa.Array:
    _allow(texts, b"0123456789.-eEnaNAifIFtTyY")  # of words only those made of these letters: nan, inf, infinity
    floats = texts.cast(pa.float64())
    if has_infinite(floats):
        for text in texts.filter(pc.is_inf(floats)).to_pylist():
            parse_float(text)  # for Arrow, what is too large is infinite
    return floats


def has_infinite(floats: pa.Array) -> bool:
    return pc.any(pc.is_inf(floats)).as_py() is True


def _bools(texts: pa.Array) -> pa.Array:
    _allow(texts, b"01trueTRUEfalsFALS")
    return texts.cast(pa.bool_())


def _dates(texts: pa.Array) -> pa.Array:
    return in_range(texts.cast(pa.date32()))


def _datetimes(texts: pa.Array) -> pa.Array:
    if _all_match(texts, f"{_DAY}(?:{_TIME})?"):
        return in_range(texts.cast(pa.timestamp("us")))
    if _all_match(texts, f"{_DAY}{_TIME}{_ZONE}"):
        return in_range(texts.cast(pa.timestamp("us", tz="UTC")))
    raise Doubt


def _allow(texts: pa.Array, characters: bytes) -> None:
    _, offsets, data = texts.buffers()
    if data is None:
        return
    ends = np.frombuffer(offsets, np.int32)
    start, stop = int(ends[texts.offset]), int(ends[texts.offset + len(texts)])
    if data[start:stop].to_pybytes().translate(None, characters):
        raise Doubt


def _all_match(texts: pa.Array, pattern: str) -> bool:
    """Whether every text that is not null is of the pattern, from its first to its last character."""
    return pc.all(pc.match_substring_regex(texts, rf"\A(?:{pattern})\z")).as_py() is not False


def in_range(column: pa.Array) -> pa.Array:
    """Python's years are 1 to 9999."""
    if column.null_count < len(column):
        zone = None if pa.types.is_date(column.type) or column.type.tz is None else UTC
        first, last = (pa.scalar(each.replace(tzinfo=zone), column.type) for each in (_FIRST_DAY, _LAST_DAY))
        ends = pc.min_max(column)
        if pc.less(ends["min"], first).as_py() or pc.greater(ends["max"], last).as_py():
            raise Doubt
    return column


def _texts(texts: pa.Array) -> pa.Array:
    return texts


_READERS: dict[str, ColumnReader] = {
    "int": _ints,
    "float": _floats,
    "bool": _bools,
    "str": _texts,
    "date": _dates,
    "datetime": _datetimes,
}
