"""Threads on a flow: they end with it, with an error, and when nobody wants more."""

from __future__ import annotations

import decimal
import sys
import threading
import time
from collections.abc import Iterable

import pytest

from anabranch.workers.flow import Flow
from anabranch.workers.heuristics import HEURISTICS, heuristic_by
from anabranch.workers.parcels import Parcel, Unit
from anabranch.workers.pool import Pool


class Count:
    """Stretches without an end, unless it has one."""

    first, most = 0, 2

    def __init__(self, count: int | None) -> None:
        self.count = count
        self.read_so_far = 0

    def read(self, stretch: int) -> list[Parcel]:
        self.read_so_far += 1
        return [Parcel(1, stretch % 2, 1, stretch)]


class Work:
    def __init__(self, fails_at: int | None = None) -> None:
        self.fails_at = fails_at

    def process(self, stretch: int, given: list[Parcel]) -> Iterable[Parcel]:
        if stretch == self.fails_at:
            raise OSError("out of paper")
        time.sleep(0.001 * (stretch % 3))
        return [Parcel(2, 0, 1, (each.what, decimal.getcontext().prec)) for each in given]


def pool_of(feed: Count, unit: type[Unit] | None = None, fails_at: int | None = None, heuristic: str = "CT") -> Pool:
    units: dict[int, Unit] = {number: Work(fails_at) for number in range(2)}
    return Pool(Flow(feed, [{"work": units}], heuristic_by(heuristic, 0.001), most_begun=5), 3)


def workers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("worker-")]


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_all_stretches_leave_in_order(heuristic: str) -> None:
    found = [(at, [each.what[0] for each in given]) for at, given in pool_of(Count(50), heuristic=heuristic).run()]
    assert found == [(number, [number]) for number in range(50)]
    assert not workers()


def test_what_is_set_for_the_thread_of_the_run_holds_in_its_workers() -> None:
    with decimal.localcontext(prec=7):
        found = [each.what[1] for _, given in pool_of(Count(4)).run() for each in given]
    assert found == [7, 7, 7, 7]


def test_an_error_of_a_unit_is_raised_where_the_run_is_waited_for() -> None:
    seen: list[int] = []
    run = pool_of(Count(None), fails_at=6).run()
    with pytest.raises(OSError, match="out of paper"):
        seen.extend(at for at, _ in run)
    assert seen == list(range(len(seen)))
    assert len(seen) <= 6
    assert not workers()


def test_who_wants_no_more_stops_the_workers() -> None:
    feed = Count(None)
    run = pool_of(feed).run()
    next(run)
    run.close()
    assert not workers()
    assert feed.read_so_far < 20


def test_nothing_is_read_while_nobody_takes_what_has_come() -> None:
    feed = Count(None)
    run = pool_of(feed).run()
    next(run)
    time.sleep(0.1)
    assert feed.read_so_far <= 7  # five on their way, the one that was taken, and one that is asked for
    run.close()


def test_the_interpreters_switch_interval_is_put_back() -> None:
    before = sys.getswitchinterval()
    run = pool_of(Count(None)).run()
    next(run)
    assert sys.getswitchinterval() < before
    run.close()
    assert sys.getswitchinterval() == before
