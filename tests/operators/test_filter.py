"""`filter`: the tuples for which a predicate holds."""

from __future__ import annotations

import operator
from typing import NamedTuple

import anabranch as ab


class Reading(NamedTuple):
    n: int
    name: str = ""


def kept(predicate: object, *ns: int) -> list[int]:
    stream = ab.from_items(Reading, [Reading(n, "x" * n) for n in ns]).filter(predicate)
    return [reading.n for reading in ab.run(stream.collect("out")).items("out")]


def test_the_tuples_that_hold_pass_unchanged_and_in_order() -> None:
    assert kept(lambda r: r.n % 2 == 1, 3, 2, 1, 5, 4) == [3, 1, 5]


def test_whatever_is_true_for_python_is_true() -> None:
    assert kept(lambda r: r.name, 0, 1, 2) == [1, 2]
    assert kept(lambda r: [] if r.n == 1 else [0], 0, 1, 2) == [0, 2]
    assert kept(operator.itemgetter(0), 0, 7) == [7]


def test_punctuations_pass_even_where_no_tuple_does() -> None:
    class Size(NamedTuple):
        n: int

    class AtPunctuation:
        def process(self, reading: Reading) -> None: ...

        def punctuation(self) -> Reading:
            return Reading(-1)

    stream = ab.from_items(Reading, [Reading(1), Reading(2)]).punctuate(count=1).filter(lambda r: False)
    out = ab.run(stream.process(AtPunctuation).collect("out")).items("out")
    assert [reading.n for reading in out] == [-1, -1]
