"""`join` against its definition: for every tuple, its partners are worked out anew from everything that came before.

"A tuple arriving on one input meets the other's window, oldest first, then enters its own. Windows by time hold what
is newer than (largest time on either input - length); by count, the last n; count=0: only the arriving tuple."
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from tests.tracing import Trace, line

QUICK = settings(max_examples=70, deadline=None)
THOROUGH = settings(max_examples=4000, deadline=None)

EPOCH = datetime(1970, 1, 1)


class IntEvent(NamedTuple):
    is_left: bool
    key: float
    ts: int
    number: int


class FloatEvent(NamedTuple):
    is_left: bool
    key: float
    ts: float
    number: int


class MomentEvent(NamedTuple):
    is_left: bool
    key: float
    ts: datetime
    number: int


class DayEvent(NamedTuple):
    is_left: bool
    key: float
    ts: date
    number: int


class Met(NamedTuple):
    left: int
    right: int


@dataclass(frozen=True)
class Reach:
    """What one side's window holds: by time a length, by count a number, of the stream or of each key."""

    seconds: Fraction | None = None
    count: int | None = None
    per_key: bool = False

    def window(self) -> ab.Window:
        if self.seconds is not None:
            amount = int(self.seconds) if self.seconds.denominator == 1 else float(self.seconds)
            return ab.sliding(seconds=amount, on="ts")
        return ab.sliding(count=self.count, per_key=self.per_key)


def seconds_of(ts: Any) -> Fraction:
    if isinstance(ts, datetime):
        moment = ts.astimezone(UTC).replace(tzinfo=None) if ts.tzinfo else ts
        return Fraction((moment - EPOCH) // timedelta(microseconds=1), 1_000_000)
    if isinstance(ts, date):
        return Fraction((ts - EPOCH.date()).days * 86_400)
    return Fraction(ts)


def is_newer(ts: Any, clock: Any, length: Fraction) -> bool:
    """Newer than (clock - length); between floats that is float arithmetic."""
    if isinstance(ts, float):
        return ts > clock - float(length)
    return seconds_of(ts) > seconds_of(clock) - length


def is_equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def partners(events: list[Any], now: int, left: Reach, right: Reach, *, is_equi: bool) -> list[Any]:
    """The tuples the event number `now` finds in the other side's window, oldest first, before any match=."""
    arriving = events[now]
    reach = right if arriving.is_left else left
    others = [event for event in events[:now] if event.is_left is not arriving.is_left]
    if reach.seconds is not None:
        timed = [e for e in events[: now + 1] if (left if e.is_left else right).seconds is not None]
        clock = max([event.ts for event in timed], default=None)
        held = [event for event in others if is_newer(event.ts, clock, reach.seconds)]
    elif reach.per_key:
        same_key = [event for event in others if is_equal(event.key, arriving.key)]
        held = same_key[len(same_key) - min(reach.count, len(same_key)) :]
    else:
        held = others[len(others) - min(reach.count, len(others)) :]
    return [event for event in held if not is_equi or is_equal(event.key, arriving.key)]


def expected(events: list[Any], left: Reach, right: Reach, *, is_equi: bool, has_match: bool) -> list[str]:
    lines = []
    for now, arriving in enumerate(events):
        lines.append(line("in", arriving))
        for other in partners(events, now, left, right, is_equi=is_equi):
            one, two = (arriving, other) if arriving.is_left else (other, arriving)
            if not has_match or matches(one, two):
                lines.append(line("out", Met(one.number, two.number)))
    return lines


def matches(one: Any, two: Any) -> bool:
    return bool((one.number + 2 * two.number) % 3 != 0)


def run_join(kind: type, events: list[Any], left: Reach, right: Reach, *, is_equi: bool, has_match: bool) -> list[str]:
    trace = Trace()
    source = ab.from_items(kind, events)
    seen = source.for_each(trace("in"))
    sides = source.split({"left": lambda e: e.is_left, "right": lambda e: True})

    def together(one: Any, two: Any) -> Met:
        return Met(one.number, two.number)

    met = sides.left.join(
        sides.right,
        left=left.window(),
        right=right.window(),
        on="key" if is_equi else None,
        match=matches if has_match else None,
        out=together,
    )
    ab.run(seen, met.for_each(trace("out")))
    return trace.lines


# Inputs ------------------------------------------------------------------------------------------------------------

key_values = st.sampled_from([0.0, -0.0, 1.0, 2.5, math.nan])
TIMES: dict[type, st.SearchStrategy[Any]] = {
    IntEvent: st.integers(-8, 12),
    FloatEvent: st.sampled_from([0.5 * n for n in range(-10, 20)]) | st.floats(-5, 8),
    MomentEvent: st.integers(-5_000_000, 9_000_000).map(lambda us: EPOCH + timedelta(microseconds=us)),
    DayEvent: st.integers(-4, 9).map(lambda n: EPOCH.date() + timedelta(days=n)),
}
LENGTHS: dict[type, st.SearchStrategy[Fraction]] = {
    IntEvent: st.integers(1, 8).map(Fraction),
    FloatEvent: st.sampled_from([1, 2, 3, 5, 8, 16]).map(lambda n: Fraction(n, 2)),
    MomentEvent: st.sampled_from([1, 3, 10, 25, 60]).map(lambda n: Fraction(n, 10)),
    DayEvent: st.integers(1, 5).map(lambda n: Fraction(n * 86_400)),
}


def events_of(kind: type) -> st.SearchStrategy[list[Any]]:
    rows = st.lists(st.tuples(st.booleans(), key_values, TIMES[kind]), max_size=14)
    return rows.map(lambda found: [kind(*row, number) for number, row in enumerate(found)])


def reaches(kind: type, *, may_be_per_key: bool) -> st.SearchStrategy[Reach]:
    by_time = LENGTHS[kind].map(lambda length: Reach(seconds=length))
    by_count = st.builds(
        lambda count, per_key: Reach(count=count, per_key=per_key),
        st.integers(0, 4),
        st.booleans() if may_be_per_key else st.just(False),
    )
    return by_time | by_count


def check_random_joins(kind: type, how_many: settings) -> None:
    @how_many
    @given(st.data(), events_of(kind), st.booleans(), st.booleans())
    def check(data: st.DataObject, events: list[Any], is_equi: bool, has_match: bool) -> None:
        left = data.draw(reaches(kind, may_be_per_key=is_equi))
        right = data.draw(reaches(kind, may_be_per_key=is_equi))
        has_match = has_match or not is_equi
        got = run_join(kind, events, left, right, is_equi=is_equi, has_match=has_match)
        assert got == expected(events, left, right, is_equi=is_equi, has_match=has_match)

    check()


@pytest.mark.parametrize("kind", TIMES)
def test_every_tuple_meets_what_the_whole_prefix_says(kind: type) -> None:
    check_random_joins(kind, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TIMES)
def test_many_more_tuples_meet_what_the_whole_prefix_says(kind: type) -> None:
    check_random_joins(kind, THOROUGH)
