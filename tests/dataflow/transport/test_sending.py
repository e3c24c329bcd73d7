"""What goes to which channel."""

from __future__ import annotations

import numpy as np
import pytest

from anabranch.dataflow.transport.sending import by_channel


@pytest.mark.parametrize("count", [1, 2, 7, 300, 70_000])
@pytest.mark.parametrize("tuples", [0, 1, 500])
def test_every_channel_has_its_tuples_in_their_order(count: int, tuples: int) -> None:
    channels = np.random.default_rng(count).integers(0, count, tuples)
    found = by_channel(channels, count)
    assert len(found) == count
    assert [each.tolist() for each in found] == _one_by_one(channels.tolist(), count)


def _one_by_one(channels: list[int], count: int) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(count)]
    for at, channel in enumerate(channels):
        found[channel].append(at)
    return found
