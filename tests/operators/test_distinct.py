"""`distinct`: the tuples whose key has not occurred before, within a window if one is given."""

from __future__ import annotations

from typing import Any, NamedTuple

import anabranch as ab


class Visit(NamedTuple):
    user: str
    ts: int


def visits(text: str) -> list[Visit]:
    """`a1 b2`: a at 1, b at 2."""
    return [Visit(word[0], int(word[1:])) for word in text.split()]


def passed(text: str, *arguments: Any, **options: Any) -> str:
    stream = ab.from_items(Visit, visits(text)).distinct(*arguments, **options)
    return " ".join(f"{v.user}{v.ts}" for v in ab.run(stream.collect("out")).items("out"))


def test_the_first_of_every_key_passes() -> None:
    assert passed("a1 b2 a3 c4 b5", "user") == "a1 b2 c4"
    assert passed("a1 b2 a3 c4 b5", key=["user"]) == "a1 b2 c4"


def test_without_a_key_all_attributes_count() -> None:
    assert passed("a1 a2 a1 b1 a2") == "a1 a2 b1"
    assert passed("a1 a2 a1 b1 a2", ["user", "ts"]) == "a1 a2 b1"


def test_a_sliding_window_by_count_looks_back_over_that_many_tuples() -> None:
    assert passed("a1 b2 a3 c4 b5 a6", "user", window=ab.sliding(count=2)) == "a1 b2 c4 b5 a6"


def test_what_did_not_pass_counts_for_a_sliding_window_too() -> None:
    """As long as a key keeps coming it stays out."""
    assert passed("a1 a2 a3 a4", "user", window=ab.sliding(count=1)) == "a1"
    assert passed("a1 a4 a7 a13", "user", window=ab.sliding(seconds=5, on="ts")) == "a1 a13"


def test_a_sliding_window_by_time_looks_back_from_the_largest_time() -> None:
    # what is newer than (largest - 5): at 6 the 1 has just left; the late b3 is compared with what is left
    assert passed("a1 b2 a6 b3 b9", "user", window=ab.sliding(seconds=5, on="ts")) == "a1 b2 a6 b9"


def test_a_tumbling_window_forgets_when_it_ends() -> None:
    assert passed("a1 a2 a3 a4 a5", "user", window=ab.tumbling(count=2)) == "a1 a3 a5"
    assert passed("a1 a9 b9 a10 b19 a20", "user", window=ab.tumbling(seconds=10, on="ts")) == "a1 b9 a10 b19 a20"
    assert passed("a1 a9 a10", "user", window=ab.tumbling(delta=10, on="ts")) == "a1 a10"


def test_a_punctuated_window_forgets_at_punctuations() -> None:
    stream = ab.from_items(Visit, visits("a1 a2 a3 b4 a5")).punctuate(count=2).distinct("user", window=ab.punctuated())
    out = ab.run(stream.collect("out")).items("out")
    assert [v.ts for v in out] == [1, 3, 4, 5]


def test_punctuations_pass() -> None:
    class Users(NamedTuple):
        users: list[str]

    stream = ab.from_items(Visit, visits("a1 a2 a3 b4 a5 c6")).punctuate(count=2).distinct("user")
    windows = stream.window(ab.punctuated()).aggregate(Users, users=ab.collect("user"))
    assert [w.users for w in ab.run(windows.collect("out")).items("out")] == [["a"], ["b"], ["c"]]
