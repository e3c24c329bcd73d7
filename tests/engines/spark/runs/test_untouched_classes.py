"""An error of an operator leaves the user's classes as they are.

By itself: whoever looks into classes makes the analysis careful with all that is imported with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab


class Item(NamedTuple):
    n: int
    s: str


class Failing:
    def __init__(self) -> None:
        self.left = 20

    def process(self, item: Item) -> Iterator[Item]:
        yield item
        self.left -= 1
        yield Item(10 // self.left, item.s)


def attributes(cls: type) -> dict[str, Any]:
    """All but what Python itself adds when an instance is pickled."""
    return {name: value for name, value in vars(cls).items() if name != "__slotnames__"}


def test_errors_do_not_touch_the_users_classes(session: Any) -> None:
    before = attributes(Item), attributes(Failing)
    items = [Item(n, "ab"[n % 2]) for n in range(1_000)]
    with pytest.raises(ab.OperatorError) as caught:
        ab.run(ab.from_items(Item, items).process(Failing, key="s").collect("out"), engine="spark", spark=session)
    assert type(caught.value.item) is Item
    assert (attributes(Item), attributes(Failing)) == before
