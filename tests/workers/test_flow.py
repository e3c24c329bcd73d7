"""Stretches leave a flow in their order and whole, whoever does what when."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.workers.flow import Flow
from anabranch.workers.parcels import Parcel
from anabranch.workers.rehearsal import AnyStage, Rehearsal
from tests.examples_drawn import drawn


class Numbers:
    """A feed: of each stretch a few numbers, each to the unit of the first level that it falls to."""

    def __init__(self, stretches: int, units: int, most: int, *, is_known: bool) -> None:
        self.first = 5
        self.most = most
        self.stretches = stretches
        self.units = units
        self.count: int | None = stretches if is_known else None

    def read(self, stretch: int) -> list[Parcel]:
        at = stretch - self.first
        if at >= self.stretches:
            self.count = self.stretches
            return []
        return [Parcel(1, number % self.units, 1, (number,)) for number in range(at * 3, at * 3 + at % 4)]


class Keeping:
    """A unit with state: it gives what it was given with how many it has seen, to the next level or past it."""

    def __init__(self, level: int, units: int, last: int) -> None:
        self.level, self.units, self.last = level, units, last
        self.seen = 0
        self.stretches: list[int] = []

    def process(self, stretch: int, given: list[Parcel]) -> Iterable[Parcel]:
        self.stretches.append(stretch)
        for parcel in sorted(given, key=lambda each: each.what):  # what comes from several units has its own order
            self.seen += 1
            if self.seen % 5 == 4:
                continue  # nothing comes of it
            to = self.last if self.seen % 3 == 0 else self.level + 1
            unit = 0 if to == self.last else parcel.what[0] % self.units
            yield Parcel(to, unit, 1, (*parcel.what, self.seen))


def flow_of(stretches: int, levels: int, units: int, most: int, seed: int, *, is_known: bool = True) -> Flow:
    places = [
        {f"stage {level}": {number: Keeping(level, units, levels + 1) for number in range(units)}}
        for level in range(1, levels + 1)
    ]
    feed = Numbers(stretches, units, most, is_known=is_known)
    return Flow(feed, places, AnyStage(seed), most_begun=1 + seed % 4, slice_seconds=seed % 3 * 1e-6)


def left(flow: Flow, workers: int, seed: int) -> list[tuple[int, list[object]]]:
    taken = Rehearsal(flow, workers, seed).run()
    return [(stretch, sorted(parcel.what for parcel in parcels)) for stretch, parcels in taken]


@drawn(200)
@given(st.integers(0, 9), st.integers(0, 3), st.integers(1, 3), st.integers(1, 4), st.integers(0, 999), st.booleans())
def test_every_schedule_gives_what_one_worker_gives(
    stretches: int, levels: int, units: int, workers: int, seed: int, is_known: bool
) -> None:
    alone = left(flow_of(stretches, levels, units, 1, 0), 1, 0)
    found = left(flow_of(stretches, levels, units, workers, seed, is_known=is_known), workers, seed)
    assert [each for each in found if each[1]] == [each for each in alone if each[1]]
    assert [stretch for stretch, _ in found] == sorted(stretch for stretch, _ in found)


@pytest.mark.parametrize("seed", range(20))
def test_a_unit_is_run_by_one_worker_at_a_time_in_the_order_of_stretches(seed: int) -> None:
    flow = flow_of(30, 2, 2, 3, seed)
    list(Rehearsal(flow, 4, seed).run())
    units = [queued.unit for stage in flow.stages for queued in stage.units.values()]
    for unit in units:
        assert isinstance(unit, Keeping)
        assert unit.stretches == sorted(set(unit.stretches))


def test_no_more_is_read_than_may_be_on_its_way() -> None:
    flow = flow_of(100, 1, 1, 1, 0)  # one stretch at a time
    read: list[int] = []
    inner = flow.feed.read
    flow.feed.read = lambda stretch: (read.append(stretch), inner(stretch))[1]  # type: ignore[method-assign,func-returns-value]
    for number, _ in enumerate(Rehearsal(flow, 1, 0).run()):
        assert len(read) <= number + 2


def test_a_unit_that_holds_back_a_stretch_holds_back_what_comes_behind_it() -> None:
    """The second stretch of a fast unit may not leave before the first of a slow one."""
    flow = flow_of(8, 1, 2, 1, 3)
    grants = []
    while (grant := flow.grant(0.0)) is not None:  # the feed, then each unit that has something
        task = flow.next(grant)
        if task is None:
            flow.release(grant)
            break
        if grant.queued is None:
            flow.give(grant, task, task.run(), 0.0)
            flow.release(grant)
        else:
            grants.append((grant, task))
    assert grants, "units have work"
    held = min(task.stretch for _, task in grants)
    for grant, task in grants:
        if task.stretch != held:
            flow.give(grant, task, task.run(), 0.0)
    taken = []
    while (found := flow.take()) is not None:
        taken.append(found[0])
    assert all(stretch < held for stretch in taken)
