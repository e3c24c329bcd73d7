"""A program with operators of its own and windows, which may be native and may be cut between any two of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab
from anabranch.graph.model import Program
from anabranch.run import as_program


class Call(NamedTuple):
    phone: int
    area: str
    at: float


class Wait(NamedTuple):
    phone: int
    area: str
    seconds: float
    at: float


class Waits(NamedTuple):
    area: str
    longest: float
    n: int


class Latest:
    def __init__(self) -> None:
        self.at: float | None = None
        self.area = "nowhere"

    def process(self, call: Call) -> Iterator[Wait]:
        if self.at is not None:
            yield Wait(call.phone, self.area, call.at - self.at, call.at)
        self.at = call.at
        self.area = call.area


def waits(seed: int) -> Program:
    choices = random.Random(seed)
    calls = [
        Call(choices.randrange(5), choices.choice(("", "north", "østlig")), number / 4 - choices.choice((0, 0, 2)))
        for number in range(150)
    ]
    found = ab.from_items(Call, calls).filter(lambda call: call.phone != 3).process(Latest, key="phone")
    windows = found.filter(lambda wait: wait.seconds < 9).window(ab.tumbling(seconds=3, on="at"), key="area")
    return as_program(windows.aggregate(Waits, longest=ab.max_("seconds"), n=ab.count()).collect("out"))
