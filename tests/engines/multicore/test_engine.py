"""`engine="multicore"`: what it is told, and what it says."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab


class Reading(NamedTuple):
    sensor: str
    value: float
    ts: float


class Sum:
    def __init__(self) -> None:
        self.sum = 0.0

    def process(self, reading: Reading) -> Iterator[Reading]:
        self.sum += reading.value
        yield reading._replace(value=self.sum)


def readings(count: int) -> list[Reading]:
    return [Reading("abc"[n % 3], n / 4, float(n)) for n in range(count)]


def test_regions_have_as_many_channels_as_there_are_workers() -> None:
    summed = ab.from_items(Reading, readings(100)).process(Sum, key="sensor").collect("out")
    result = ab.run(summed, engine="multicore", workers=2)
    assert [place.channels for place in result.plan.phases[0].layout.places if place.region] == [2]
    assert result.items("out") == ab.run(summed, engine="sequential").items("out")
    assert result.metrics["Sum"].received == 100


def test_an_error_is_the_first_in_the_order_and_what_comes_before_it_is_kept() -> None:
    def inverse(reading: Reading) -> Reading:
        return reading._replace(value=1 / (reading.ts - 70) / (reading.ts - 20))

    mapped = ab.from_items(Reading, readings(100)).process(Sum, key="sensor").map(inverse).collect("out")
    with pytest.raises(ab.OperatorError) as caught:
        ab.run(mapped, engine="multicore", workers=3)
    with pytest.raises(ab.OperatorError) as wanted:
        ab.run(mapped, engine="sequential")
    assert str(caught.value) == str(wanted.value)
    assert caught.value.result.items("out") == wanted.value.result.items("out")
    assert len(caught.value.result.items("out")) == 20


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_a_number_of_workers_that_is_none_is_refused(workers: Any) -> None:
    sink = ab.from_items(Reading, []).collect("out")
    with pytest.raises(ab.UsageError, match="is no number of workers"):
        ab.run(sink, engine="multicore", workers=workers)


def test_more_workers_than_cores_are_said(caplog: pytest.LogCaptureFixture) -> None:
    sink = ab.from_items(Reading, readings(3)).process(Sum, key="sensor").collect("out")
    with caplog.at_level(logging.WARNING, "anabranch.notes"):
        ab.run(sink, engine="multicore", workers=999)
    assert "999 workers share" in caplog.text


def test_other_engines_have_no_use_for_workers() -> None:
    sink = ab.from_items(Reading, []).collect("out")
    with pytest.raises(ab.UsageError, match=r"'fused' has no use for workers=.*\n.*multicore"):
        ab.run(sink, engine="fused", workers=2)


def test_what_arrives_as_it_comes_is_taken(tmp_path: Path) -> None:
    def source() -> Iterator[Reading]:
        yield from readings(500)

    program = ab.generate(Reading, source).process(Sum, key="sensor").write_csv(str(tmp_path / "out.csv"))
    ab.run(program, engine="sequential")
    wanted = (tmp_path / "out.csv").read_bytes()
    ab.run(program, engine="multicore", workers=2)
    assert (tmp_path / "out.csv").read_bytes() == wanted
