"""An empty path, which would be the current folder."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(1, "A", 1.0)]).write_csv("")
