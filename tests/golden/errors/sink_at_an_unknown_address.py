"""A sink at an address that nothing is written to."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(1, "425", 0.0)]).write_parquet("webdav://host/calls.parquet")
