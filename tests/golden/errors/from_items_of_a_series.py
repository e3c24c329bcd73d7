"""A column of a frame where tuples are expected."""

from typing import NamedTuple

import pandas as pd

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, pd.Series([1.0, 2.0])).collect("out")
