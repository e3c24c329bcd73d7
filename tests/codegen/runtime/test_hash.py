"""The hash that routes keys: the same in every process, in Python and in compiled code."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from anabranch.codegen import runtime
from anabranch.codegen.runtime import key_hash
from tests.codegen.runtime.columns import EDGE_FLOATS, EDGE_INTS, plain, random_floats, random_ints


class Place(NamedTuple):
    area: str
    number: int


# Worked out from the description in hash.py. If one of these changes, saved state is found on the wrong channel.
KNOWN = [
    (0, 0xE220A8397B1DCDAF),
    (1, 0x910A2DEC89025CC1),
    (-1, 0xE4D971771B652C20),
]


@pytest.mark.parametrize(("value", "expected"), KNOWN)
def test_hashes_never_change(value: Any, expected: int) -> None:
    assert key_hash(value) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (-(2**63), -(2.0**63)),
        (0.0, -0.0),
        (math.nan, -math.nan),
        (datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12, tzinfo=UTC)),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, 14, tzinfo=timezone(timedelta(hours=2)))),
        (Place("a", 1), ("a", 1)),
        (["a", 1.0], ("a", 1)),
    ],
)
def test_equal_keys_have_equal_hashes(one: Any, other: Any) -> None:
    assert key_hash(one) == key_hash(other)


def test_different_keys_have_different_hashes() -> None:
    keys = [
        *(None, 0, 1, 2, 0.5, math.inf, -math.inf, math.nan, 2.0**63, 2.0**64, "", "a", "a\0", "ab", "abcdefgh"),
        *("abcdefgh\0", "é", (), ("a",), ("a", "b"), ("b", "a"), (("a",), "b"), ("", "ab"), (None,), (0,), (0, 0)),
        *(date(2024, 1, 1), date(2024, 1, 2), datetime(2024, 1, 1, 1)),
    ]
    assert len({key_hash(key) for key in keys}) == len(keys)


def test_what_is_no_key_has_no_hash() -> None:
    with pytest.raises(TypeError, match="a dict is no key"):
        key_hash({})


def test_consecutive_keys_fall_evenly_onto_channels() -> None:
    for keys in ([*range(8000)], [f"user{number}" for number in range(8000)], [number / 8 for number in range(8000)]):
        counts = np.bincount([key_hash(key) % 8 for key in keys])
        assert counts.min() > 850
        assert counts.max() < 1150


def unsigned(words: list[int]) -> list[int]:
    return [word % 2**64 for word in words]


def test_compiled_code_hashes_numbers_as_python_does() -> None:
    ints = np.concatenate([np.array(EDGE_INTS), random_ints(10_000, 21)])
    assert unsigned(plain(runtime.hash_int, ints, kind=int)) == [key_hash(each) for each in ints.tolist()]
    floats = np.concatenate([np.array(EDGE_FLOATS), random_floats(10_000, 22), ints.astype(np.float64)])
    assert unsigned(plain(runtime.hash_float, floats, kind=int)) == [key_hash(each) for each in floats.tolist()]


@njit(error_model="numpy")
def hash_of_place(data, stop, number):
    return runtime.hash_tuple((runtime.hash_string(data, 0, stop), runtime.hash_int(number), runtime.hash_none()))


@njit(error_model="numpy")
def hash_of_string(data, start, stop):
    return runtime.hash_string(data, start, stop)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.integers(-(2**63), 2**63 - 1))
def test_compiled_code_hashes_strings_and_composites_as_python_does(text: str, number: int) -> None:
    encoded = text.encode()
    data = np.frombuffer(b"..." + encoded, np.uint8)
    assert hash_of_string(data, 3, 3 + len(encoded)) % 2**64 == key_hash(text) == key_hash(encoded)
    assert hash_of_place(data[3:], len(encoded), number) % 2**64 == key_hash((text, number, None))
