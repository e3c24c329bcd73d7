"""`punctuate`: a window punctuation after the tuples of the user's choice."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Item(NamedTuple):
    n: int


class Ns(NamedTuple):
    ns: list[int]


def items(*ns: int) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n) for n in ns])


def windows(stream: ab.Stream[Item]) -> list[list[int]]:
    out = stream.window(ab.punctuated()).aggregate(Ns, ns=ab.collect("n"))
    return [window.ns for window in ab.run(out.collect("out")).items("out")]


def test_after_every_tuple_for_which_the_predicate_holds() -> None:
    assert windows(items(1, 2, 0, 3, 0, 0, 4).punctuate(lambda i: i.n == 0)) == [[1, 2, 0], [3, 0], [0], [4]]


def test_after_every_count_tuples() -> None:
    assert windows(items(1, 2, 3, 4, 5).punctuate(count=2)) == [[1, 2], [3, 4], [5]]


def test_the_tuples_themselves_pass_unchanged() -> None:
    stream = items(1, 2, 3).punctuate(count=2)
    assert [item.n for item in ab.run(stream.collect("out")).items("out")] == [1, 2, 3]


def test_punctuations_the_stream_had_before_are_replaced() -> None:
    assert windows(items(1, 2, 3, 4).punctuate(count=1).punctuate(count=3)) == [[1, 2, 3], [4]]


def test_nothing_between_two_punctuations_gives_no_window() -> None:
    punctuated = items(1, 2, 3, 4).punctuate(count=1).filter(lambda i: i.n in (1, 4))
    assert windows(punctuated) == [[1], [4]]
