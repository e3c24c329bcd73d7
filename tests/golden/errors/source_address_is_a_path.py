"""An address as a Path, which loses a slash of it."""

from pathlib import Path
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv(Path("s3://bucket/calls.csv"), Call).collect("out")
