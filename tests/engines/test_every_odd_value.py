"""Values of many kinds in attributes of every type: on each engine the same value, or the same error in words."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from tests.engines.every_engine import assert_same_everywhere


class Colour(enum.IntEnum):
    RED = 1


class Letter(enum.StrEnum):
    A = "a"


class OddInt(int):
    def __index__(self) -> int:
        return 7

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("it cannot be compared")


class OddFloat(float):
    def __float__(self) -> float:
        return 9.0


class OddText(str):
    def isascii(self) -> bool:
        return True

    def __str__(self) -> str:
        return "other"


class OddMoment(datetime):
    @property
    def year(self) -> int:  # type: ignore[override]
        return 3000


class OddList(list[int]):
    def __iter__(self) -> Iterator[int]:
        return iter([99])


class Large:
    def __index__(self) -> int:
        return 10**30


class NoIndex:
    def __index__(self) -> Any:
        return "1"


class Inner(NamedTuple):
    n: int


class MoreInner(Inner):
    pass


class OddInner(Inner):
    def __iter__(self) -> Iterator[int]:
        return iter([1, 2, 3])


EAST, WEST, NEW_YORK = timezone(timedelta(hours=5)), timezone(-timedelta(hours=5)), ZoneInfo("America/New_York")
VALUES: list[Any] = [
    None, True, 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, OddInt(5), Colour.RED, Large(), NoIndex(),
    1.5, -0.0, float("nan"), float("-inf"), OddFloat(1.5), Decimal("1.5"), Fraction(1, 3), 1j,
    np.float16(1.5), np.float32(0.1), np.longdouble("0.1"), np.int8(3), np.uint64(2**64 - 1), np.bool_(True),
    np.array(3), np.array([3]), np.array(2.5), np.complex128(1), np.str_("n"), np.bytes_(b"n"), np.datetime64("NaT"),
    "a", "é", "\ud800", "\x00", "a\r\nb", "", OddText("x"), OddText("é"), Letter.A,
    b"\xff", bytearray(b"q"), memoryview(b"m"),
    datetime(1, 1, 1), datetime.max, datetime(2024, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=EAST),
    datetime.max.replace(tzinfo=WEST), datetime(2024, 1, 1, fold=1), OddMoment(2024, 1, 1),
    datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK), datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=NEW_YORK),
    datetime(2024, 3, 10, 2, 30, tzinfo=NEW_YORK), date(2024, 1, 1), time(1),
    pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 1, 1, tz="UTC"), pd.Timestamp(1), pd.NaT, pd.NA, pd.Timedelta(1),
    [], [1], [True], [None], [1.5], ["a"], (1,), OddList([1]), [np.int64(3)], [[1]], [pd.NA], {1}, {"n": 1}, range(2),
    Inner(1), MoreInner(2), OddInner(3), Inner("x"), Inner(None), object(), int, len, ...,  # type: ignore[arg-type]
]  # fmt: skip
TYPES = [
    int, float, bool, str, bytes, datetime, date, list[int], list[float | None], Inner,
    int | None, float | None, datetime | None, date | None, str | None, Inner | None,
]  # fmt: skip


class Number(NamedTuple):
    n: int


@pytest.mark.parametrize("attribute", TYPES, ids=str)
def test_every_value_is_the_same_value_or_the_same_error_everywhere(attribute: Any) -> None:
    kind: Any = NamedTuple("Kind", [("value", attribute), ("n", int)])
    items = [kind(value, number) for number, value in enumerate(VALUES)]
    given = ab.from_items(kind, items, on_error="dead_letter")
    numbers = ab.from_items(Number, [Number(n) for n in range(len(VALUES))])
    made = numbers.map(lambda number: kind(VALUES[number.n], number.n), out=kind, on_error="dead_letter")
    for stream in (given, made):
        letters = stream.outputs.dead_letter.collect("letters")
        outputs, _, error = assert_same_everywhere(stream.outputs.out.collect("out"), letters)
        assert error is None
        assert len(outputs["out"][1]) + len(outputs["letters"][1]) == len(VALUES)
        assert len(outputs["out"][1]) > 0
