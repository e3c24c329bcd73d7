"""The pool of strings gives equal strings the same number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from anabranch.codegen import runtime
from anabranch.codegen.native.kernel import TEXTS
from anabranch.codegen.runtime import string_pool, strings
from anabranch.codegen.runtime.string_pool import StringPool

TEXT = st.text(max_size=24) | st.text("ab\0", max_size=20) | st.sampled_from(["", "é", "x" * 100, "x" * 99 + "y"])


def numbers(values: list[str | None]) -> list[int]:
    """What a dictionary would give: numbers in order of first appearance."""
    known: dict[str, int] = {}
    return [-1 if value is None else known.setdefault(value, len(known)) for value in values]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.none() | TEXT, max_size=60))
def test_compiled_code_numbers_strings_as_a_dictionary_would(values: list[str | None]) -> None:
    pool = StringPool()
    found = pool.add_all(pa.array(values, pa.string()))
    assert found.tolist() == numbers(values)
    assert pool.to_arrow(found, found >= 0).to_pylist() == values


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=60))
def test_strings_added_one_by_one_have_the_numbers_that_compiled_code_finds(values: list[str]) -> None:
    pool = StringPool()
    assert [pool.add(value) for value in values] == numbers(values)
    assert pool.add_all(pa.array(values, pa.string())).tolist() == numbers(values)
    assert [pool.value(number).decode() for number in numbers(values)] == values


def test_a_pool_grows_and_keeps_its_numbers() -> None:
    values = [f"{'long ' * (number % 7)}{number % 5000}" for number in range(20_000)]
    pool = StringPool()
    assert pool.add_all(pa.array(values)).tolist() == numbers(values)
    assert [pool.add(value) for value in values[::500]] == numbers(values)[::500]
    assert pool.strings().cast(pa.string()).to_pylist() == list(dict.fromkeys(values))


def test_a_string_longer_than_the_pool_finds_room() -> None:
    pool = StringPool()
    values = ["a", "b" * 100_000, "a", "c" * 1_000_000]
    assert pool.add_all(pa.array(values)).tolist() == [0, 1, 0, 2]
    assert pool.add("d" * 5_000_000) == 3
    assert len(pool.value(3)) == 5_000_000


def test_a_slice_of_a_column_is_numbered_from_its_own_rows() -> None:
    column = pa.array(["a", "b", None, "c", "b"]).slice(1, 4)
    pool = StringPool()
    assert pool.add_all(column).tolist() == [0, -1, 1, 0]
    assert pool.to_arrow(np.array([1, 0])).to_pylist() == ["c", "b"]


def test_values_of_type_bytes_are_numbered_too() -> None:
    pool = StringPool()
    assert pool.add(b"\xff\x00") == 0
    assert pool.add_all(pa.array([b"\xff", b"\xff\x00"])).tolist() == [1, 0]
    assert pool.strings().to_pylist() == [b"\xff\x00", b"\xff"]


def test_a_compacted_pool_forgets_what_is_not_live() -> None:
    values = [f"{'much longer than sixteen bytes' if number % 2 else ''}{number}" for number in range(3000)]
    pool = StringPool()
    pool.add_all(pa.array(values))
    live = np.array([2500, 7, 7, 8, 2999])
    renumbered = pool.compact(live)
    assert renumbered[live].tolist() == [2, 0, 0, 1, 3]
    assert np.count_nonzero(renumbered >= 0) == 4
    assert pool.to_arrow(renumbered[live]).to_pylist() == [values[number] for number in live]
    assert pool.add(values[2500]) == 2
    assert pool.add_all(pa.array([values[9], values[2999], values[10]])).tolist() == [4, 3, 5]
    assert pool.compact(np.array([], np.int64)).tolist() == [-1] * 6
    assert pool.add_all(pa.array(["", values[7]])).tolist() == [0, 1]


@pytest.mark.parametrize("form", ["{}", "{:03}", "k{}", "sym-{:08}", "{0}{0}", "a string of more than {:05} bytes"])
def test_strings_of_any_regularity_are_spread(form: str) -> None:
    pool = StringPool()
    pool.add_all(pa.array([form.format(number) for number in range(500)]))
    entries = pool.table.reshape(-1, strings.ENTRY)
    used = np.flatnonzero(entries[:, 3])
    homes = [string_pool._scatter_string(*(int(word) % 2**64 for word in entries[at, :3])) % 1024 for at in used]
    assert len(set(homes)) > 350  # 395 of 500, if they fell at random


def test_without_room_nothing_is_interned() -> None:
    @njit(error_model="numpy")
    def run(table, offsets, held, meta, data):
        first = runtime.intern(table, offsets, held, meta, data, 0, 5)
        second = runtime.intern(table, offsets, held, meta, data, 5, 10)
        return first, second, runtime.intern(table, offsets, held, meta, data, 0, 5)

    data = np.frombuffer(b"helloworld", np.uint8)
    meta = np.zeros(strings.COUNT + 1, np.int64)
    assert run(np.zeros(64, np.int64), np.zeros(10, np.int64), np.zeros(9, np.uint8), meta, data) == (0, -1, 0)
    assert meta[strings.COUNT] == 1


def test_repetitions_of_a_byte_are_not_the_same_string() -> None:
    """The words of "a", "aa" and "aaa" are the same; a table of eight entries makes them meet."""

    @njit(error_model="numpy")
    def run(table, offsets, held, meta, data):
        return [runtime.intern(table, offsets, held, meta, data, 0, stop) for stop in (1, 2, 3)]

    for byte in range(256):
        arrays = np.zeros(8 * strings.ENTRY, np.int64), np.zeros(10, np.int64), np.zeros(10, np.uint8)
        assert run(*arrays, np.zeros(strings.COUNT + 1, np.int64), np.full(3, byte, np.uint8)) == [0, 1, 2]


def test_kernels_keep_the_number_of_strings_where_the_pool_looks_for_it() -> None:
    assert TEXTS == strings.COUNT


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 40])
def test_a_string_equals_a_constant_only_if_every_byte_does(length: int) -> None:
    constant = np.arange(1, length + 1, dtype=np.uint8)

    @njit(error_model="numpy")
    def equals(data, start, stop):
        return runtime.equals(data, start, stop, constant)

    data = np.concatenate([np.full(3, 9, np.uint8), constant])
    assert equals(data, 3, 3 + length)
    assert not equals(np.append(data, np.uint8(0)), 3, 4 + length)
    for at in range(length):
        other = data.copy()
        other[3 + at] ^= 1
        assert not equals(other, 3, 3 + length)
        assert not equals(data, 3, 3 + at)
