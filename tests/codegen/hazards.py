"""Tuples and helpers of the tests that run user code on which a careless translation would go wrong."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import anabranch as ab
from tests.codegen.comparing import Comparison, check_same

choices = random.Random(7)


class Item(NamedTuple):
    a: int
    b: int
    f: float
    p: bool
    q: bool | None
    s: str
    u: str | None
    n: int | None


class Two(NamedTuple):
    x: int
    y: int


class Maybe(NamedTuple):
    v: bool | None


class Real(NamedTuple):
    v: float


class Whole(NamedTuple):
    v: int


class Texts(NamedTuple):
    s: str
    u: str | None


class Counted(NamedTuple):
    n: int
    first: int


TEXTS = ("", "a", "ab", "é", "a" * 40)
ITEMS = [
    Item(
        a=choices.randrange(10),
        b=choices.randrange(10),
        f=choices.choice((0.0, -0.0, 1.5, float("nan"))),
        p=choices.random() < 0.5,
        q=choices.choice((None, True, False)),
        s=choices.choice(TEXTS),
        u=choices.choice((None, "", "x")),
        n=choices.choice((None, 0, 1)),
    )
    for _ in range(150)
]


def source(items: list[Item] = ITEMS) -> ab.Stream[Item]:
    return ab.from_items(Item, items)


def collected(*streams: Any) -> list[Any]:
    return [stream.collect(f"out{number}") for number, stream in enumerate(streams)]


def check_native(*streams: Any) -> None:
    """The same as the oracle, without leaving native code."""
    assert set(check_same(Comparison(*collected(*streams)))) == {"native"}


def check_left(*streams: Any) -> None:
    """The same as the oracle, though native code cannot take all tuples."""
    assert "native" not in check_same(Comparison(*collected(*streams)))


def why_not(*streams: Any) -> str:
    problem = Comparison(*collected(*streams)).refused
    assert problem is not None
    return f"{problem.operator} {problem.refusal.reason}"
