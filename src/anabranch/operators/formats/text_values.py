"""Scalar values as text and back.

The grammar is strict and written out here, because a vectorised reader must accept the same text and no
other: no surrounding spaces, no underscores, no digits but 0 to 9.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from anabranch.graph.schema import AttributeType
from anabranch.graph.values import LARGEST_INT, SMALLEST_INT, ValueProblem, value_normalizer

Parse = Callable[[str], Any]
Show = Callable[[Any], str]

_INT = re.compile(r"([+-]?)0*([0-9]+)", re.ASCII)
_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DATETIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?",
    re.ASCII,
)
_BOOLS = {"true": True, "1": True, "false": False, "0": False}
_LONGEST_INT = 19  # digits

TOO_LARGE = "is too large for a float"
_LONGEST_SHOWN = 80


def shown(text: str) -> str:
    """Text as a message quotes it: short, and safe to print."""
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}…"


def parse_int(text: str) -> int:
    match = _INT.fullmatch(text)
    if match is None:
        raise _not("an int", text)
    if len(match[2]) > _LONGEST_INT:
        raise ValueProblem(f"{shown(text)} does not fit into 64 bits")
    value = -int(match[2]) if match[1] == "-" else int(match[2])
    if not SMALLEST_INT <= value <= LARGEST_INT:
        raise ValueProblem(f"{text} does not fit into 64 bits")
    return value


def parse_float(text: str) -> float:
    if _FLOAT.fullmatch(text) is None:
        raise _not("a float", text)
    value = float(text)
    if math.isinf(value) and text[-1] in "0123456789.":  # not one of the words
        raise ValueProblem(f"{shown(text)} {TOO_LARGE}")
    return value if value == value else math.nan


def parse_bool(text: str) -> bool:
    value = _BOOLS.get(text) if text in _BOOLS else _BOOLS.get(text.lower()) if text.isascii() else None
    if value is None:
        raise ValueProblem(f"{shown(text)} is not a bool (true, false, 1 or 0)")
    return value


def parse_bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _not("base64", text) from None


def parse_datetime(text: str) -> datetime:
    """ISO 8601, extended form; less than `fromisoformat` takes, which differs between versions of Python."""
    if _DATETIME.fullmatch(text) is None:
        raise _not("an ISO 8601 datetime such as 2024-05-31T23:59:59.123456", text)
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise ValueProblem(f"{shown(text)} is not a datetime: there is no such day or time") from None
    normal: datetime = _normal_datetime(value)
    return normal


def parse_date(text: str) -> date:
    if _DATE.fullmatch(text) is None:
        raise _not("an ISO 8601 date such as 2024-05-31", text)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueProblem(f"{shown(text)} is not a date: there is no such day") from None


def show_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _not(what: str, text: str) -> ValueProblem:
    return ValueProblem(f"{shown(text)} is not {what}")


_normal_datetime = value_normalizer(AttributeType("datetime"))

PARSERS: dict[str, Parse] = {
    "int": parse_int,
    "float": parse_float,
    "bool": parse_bool,
    "str": lambda text: text,
    "bytes": parse_bytes,
    "datetime": parse_datetime,
    "date": parse_date,
}
WRITERS: dict[str, Show] = {
    "int": repr,
    "float": repr,  # the shortest text that is read back as the same float
    "bool": lambda value: "true" if value else "false",
    "str": lambda value: value,
    "bytes": show_bytes,
    "datetime": datetime.isoformat,
    "date": date.isoformat,
}
