"""Tables of compiled code find the slot of a key, as a dictionary would."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from numba import njit

from anabranch.codegen import runtime
from anabranch.codegen.runtime import tables
from tests.codegen.runtime.columns import plain

FIND, INSERT, EMPTY = range(3)


@njit(error_model="numpy")
def on_one_word(table, todo, keys, slots, found):
    before = 0
    for row in range(len(todo)):
        if todo[row] == FIND:
            found[row] = max(runtime.find1(table, keys[row], before), -1)
        elif todo[row] == INSERT:
            runtime.insert1(table, keys[row], slots[row], before)
        else:
            before += slots[row]


@njit(error_model="numpy")
def on_three_words(table, words, todo, keys, slots, found):
    before = 0
    for row in range(len(todo)):
        key = (keys[row] >> 8, keys[row] & 255, keys[row] * 3)
        if todo[row] == FIND:
            found[row] = max(runtime.findw(table, words, key, before), -1)
        elif todo[row] == INSERT:
            runtime.insertw(table, words, key, slots[row], before)
        else:
            before += slots[row]


def steps(keys: list[int], seed: int, capacity: int) -> list[tuple[int, int, int, int]]:
    """(what to do, key, slot, what is to be found): a table is emptied when half of `capacity` is used, or earlier."""
    chance, present, made = random.Random(seed), {}, []
    for _ in range(20_000):
        key = chance.choice(keys)
        slot = present.get(key, -1)
        made.append((FIND, key, 0, slot))
        if slot < 0 and len(present) < capacity // 2:
            present[key] = len(present)
            made.append((INSERT, key, present[key], 0))
        elif slot < 0 or chance.random() < 0.01:
            made.append((EMPTY, 0, len(present), 0))
            present = {}
    return made


KEYS = {
    "small": [*range(-100, 100)],
    "apart": [each << 32 for each in range(-100, 100)],
    "extreme": [sign * (2**63 - 1 - each) for each in range(100) for sign in (1, -1)] + [-(2**63), 0],
    "few and many": [random.Random(5).getrandbits(63) for _ in range(1000)],
}


@pytest.mark.parametrize("which", KEYS)
def test_a_table_is_a_dictionary_of_slots_however_often_it_is_emptied(which: str) -> None:
    made = steps(KEYS[which], seed=1, capacity=256)
    todo, keys, slots, expected = (np.array(column) for column in zip(*made, strict=True))
    found = np.zeros(len(made), np.int64)
    on_one_word(tables.new_table(256), todo, keys, slots, found)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("which", ["small", "few and many"])
def test_a_table_of_composite_keys_is_a_dictionary_too(which: str) -> None:
    made = steps(KEYS[which], seed=2, capacity=256)
    todo, keys, slots, expected = (np.array(column) for column in zip(*made, strict=True))
    found = np.zeros(len(made), np.int64)
    table = tables.new_table(256)
    on_three_words(table, tables.new_keys(table, 3), todo, keys, slots, found)
    assert found.tolist() == expected.tolist()


def test_a_composite_key_is_not_another_with_the_same_words_in_another_order() -> None:
    @njit(error_model="numpy")
    def run(table, words, found):
        runtime.insertw(table, words, (1, 2), 0)
        runtime.insertw(table, words, (2, 1), 1)
        for row, key in enumerate([(1, 2), (2, 1), (1, 1), (2, 2), (0, 3)]):
            found[row] = runtime.findw(table, words, key)

    table = tables.new_table(64)
    found = np.zeros(5, np.int64)
    run(table, tables.new_keys(table, 2), found)
    assert found.tolist() == [0, 1, -1, -1, -1]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_keys_of_saved_records_are_found_again(width: int) -> None:
    @njit(error_model="numpy")
    def find1(table, rows, found):
        for slot in range(len(rows)):
            found[slot] = runtime.find1(table, rows[slot, 0])

    @njit(error_model="numpy")
    def find2(table, keys, rows, found):
        for slot in range(len(rows)):
            found[slot] = runtime.findw(table, keys, (rows[slot, 0], rows[slot, 1]))

    @njit(error_model="numpy")
    def find3(table, keys, rows, found):
        for slot in range(len(rows)):
            found[slot] = runtime.findw(table, keys, (rows[slot, 0], rows[slot, 1], rows[slot, 2]))

    rows = np.arange(400).reshape(100, 4) * 12345
    table = tables.new_table(256)
    keys = tables.new_keys(table, width) if width > 1 else None
    tables.insert_all(table, keys, rows, width)
    found = np.zeros(100, np.int64)
    {1: find1, 2: find2, 3: find3}[width](*([table] if keys is None else [table, keys]), rows, found)
    assert found.tolist() == [*range(100)]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_single_keys_are_found_and_added_without_compiled_code(width: int) -> None:
    rows = np.array([[at * 12345 - 2**62, -at, at % 7] for at in range(200)], np.int64)[:, :width]
    table = tables.new_table(1024)
    keys = tables.new_keys(table, width) if width > 1 else None
    words = [tuple(row) for row in rows.tolist()]
    tables.insert_all(table, keys, rows[:100], width)
    assert [tables.find(table, keys, each) for each in words] == [*range(100), *[-1] * 100]
    for slot in range(100, 200):
        tables.insert(table, keys, words[slot], slot)
    assert [tables.find(table, keys, each) for each in words] == [*range(200)]
    assert all(tables.find(table, keys, each, before=200) < 0 for each in words), "it counts as emptied"

    by_compiled_code = tables.new_table(1024)
    own_keys = tables.new_keys(by_compiled_code, width) if width > 1 else None
    tables.insert_all(by_compiled_code, own_keys, rows, width)
    assert by_compiled_code.tolist() == table.tolist()


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(1000),
        np.arange(1000) * 1000,
        np.arange(1000) << 40,
        np.arange(1000).astype(np.float64).view(np.int64),
        (np.arange(1000) / 10).view(np.int64),
        np.arange(1000) | np.arange(1000) << 32,
        1_700_000_000_000_000 + np.arange(1000) * 1_000_000,
        np.arange(1000) * 4096,
    ],
)
def test_keys_of_any_regularity_are_spread(keys: np.ndarray) -> None:
    homes = np.array(plain(tables.scatter, keys, kind=int)) & 2047
    assert len(np.unique(homes)) > 600  # 806 of 1000, if they fell at random


def test_float_keys_know_one_zero_and_one_nan() -> None:
    values = [0.0, -0.0, math.nan, -math.nan, 1.5, -1.5, math.inf]
    words = plain(runtime.float_key, np.array(values), kind=int)
    assert words[0] == words[1]
    assert words[2] == words[3]
    assert len(set(words)) == 5
