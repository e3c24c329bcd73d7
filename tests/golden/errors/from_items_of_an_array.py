"""The rows of an array where tuples are expected."""

from typing import NamedTuple

import numpy as np

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, np.array([[1, 2, 3], [4, 5, 6]])).collect("out")
