"""`barrier`: the n-th tuples of all inputs make the n-th output."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Left(NamedTuple):
    l: int  # noqa: E741  # two letters that look like the sides they stand for


class Right(NamedTuple):
    r: int


class Both(NamedTuple):
    r: int
    l: int  # noqa: E741


class Pair(NamedTuple):
    left: Left
    right: Right


LEFTS, RIGHTS = [Left(1), Left(2), Left(3)], [Right(10), Right(20)]


def streams() -> tuple[ab.Stream[Left], ab.Stream[Right]]:
    return ab.from_items(Left, LEFTS), ab.from_items(Right, RIGHTS)


def test_a_type_is_filled_by_attribute_name() -> None:
    assert ab.run(ab.barrier(*streams(), out=Both).collect("out")).items("out") == [Both(10, 1), Both(20, 2)]


def test_a_type_of_the_tuples_themselves_is_filled_with_them() -> None:
    assert ab.run(ab.barrier(*streams(), out=Pair).collect("out")).items("out") == [
        Pair(Left(1), Right(10)),
        Pair(Left(2), Right(20)),
    ]


def test_a_function_makes_the_output() -> None:
    def add(left: Left, right: Right) -> Left:
        return Left(left.l + right.r)

    assert ab.run(ab.barrier(*streams(), out=add).collect("out")).items("out") == [Left(11), Left(22)]


def test_branches_of_one_stream_meet_tuple_by_tuple() -> None:
    class Three(NamedTuple):
        a: Left
        b: Left
        c: Left

    source = ab.from_items(Left, LEFTS)
    slow = source.sort("l", count=3)  # holds back two tuples
    met = ab.barrier(source, slow, source.map(lambda x: Left(-x.l), out=Left), out=Three)
    assert [(t.a.l, t.b.l, t.c.l) for t in ab.run(met.collect("out")).items("out")] == [
        (1, 1, -1),
        (2, 2, -2),
        (3, 3, -3),
    ]
