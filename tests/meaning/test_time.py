"""The row "time": "event time, an attribute `on=`. Windows have a clock: "stream" (default): the largest time so far on
the window's own input, whatever the key; "key": the largest of that key. Due windows close in order of their end,
within it in order of their group's first arrival in that window. A tuple whose windows have all closed is late: dropped
and counted, or sent to `late=`. At the end all open windows close. No operator looks at the wall clock".
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.tracing import Trace


class Call(NamedTuple):
    who: str
    ts: int


class Calls(NamedTuple):
    end: int
    who: list[str]


def calls(*pairs: tuple[str, int]) -> ab.Stream[Call]:
    return ab.from_items(Call, [Call(*pair) for pair in pairs])


def traced(source: ab.Stream[Call], window: ab.Window, **options: Any) -> tuple[list[str], ab.Result]:
    """Each call as `who ts`, each window as `end: callers` at the moment it closes, late calls as `late who ts`."""
    lines: list[str] = []
    seen = source.for_each(lambda c: lines.append(f"{c.who} {c.ts}"))
    windows = source.window(window, **options).aggregate(Calls, end=ab.window_end(), who=ab.collect("who"))
    windows.named("windows")
    sinks = [seen, windows.for_each(lambda w: lines.append(f"{w.end}: {''.join(w.who)}"))]
    if "late" in options:
        sinks.append(windows.outputs.late.for_each(lambda c: lines.append(f"late {c.who} {c.ts}")))
    return lines, ab.run(*sinks)


TEN = ab.tumbling(seconds=10, on="ts")


def test_the_clock_is_the_largest_time_so_far() -> None:
    lines, result = traced(calls(("a", 1), ("b", 8), ("c", 5), ("d", 10), ("e", 15)), TEN)
    # the 10 closes [0, 10), which has the 5 that came after the 8
    assert lines == ["a 1", "b 8", "c 5", "d 10", "10: abc", "e 15", "20: de"]
    assert result.metrics.late == 0


def test_the_stream_s_clock_closes_the_windows_of_every_key() -> None:
    lines, _ = traced(calls(("a", 1), ("b", 2), ("b", 12), ("a", 13)), TEN, key="who")
    assert lines == ["a 1", "b 2", "b 12", "10: a", "10: b", "a 13", "20: b", "20: a"]


def test_the_key_s_clock_closes_the_windows_of_that_key_only() -> None:
    own = ab.tumbling(seconds=10, on="ts", clock="key")
    lines, result = traced(calls(("a", 1), ("b", 2), ("b", 12), ("a", 3), ("a", 25), ("b", 4)), own, key="who")
    # The a of 3 is in time for a; the b of 4 is late for b, whose clock is at 12.
    assert lines == ["a 1", "b 2", "b 12", "10: b", "a 3", "a 25", "10: aa", "b 4", "20: b", "30: a"]
    assert result.metrics.late == 1


def test_the_clock_is_that_of_the_window_s_own_input_not_of_the_source() -> None:
    source = calls(("a", 1), ("x", 50), ("a", 2), ("a", 12))
    only_a = source.filter(lambda c: c.who == "a")
    lines, result = traced(only_a, TEN)
    assert lines == ["a 1", "a 2", "a 12", "10: aa", "20: a"]
    assert result.metrics.late == 0


def test_due_windows_close_in_order_of_their_end() -> None:
    window = ab.sliding(seconds=30, slide=10, on="ts")
    lines, _ = traced(calls(("a", 5), ("b", 15), ("c", 100)), window)
    # a is in the windows that end at 10, 20, 30; b in 20, 30, 40; one tuple closes them all
    assert lines == ["a 5", "b 15", "10: a", "c 100", "20: ab", "30: ab", "40: b", "110: c", "120: c", "130: c"]


def test_windows_that_end_together_close_in_order_of_first_arrival_in_that_window() -> None:
    window = ab.sliding(seconds=20, slide=10, on="ts")
    lines, _ = traced(calls(("a", 5), ("b", 6), ("b", 12), ("c", 7), ("a", 13), ("d", 40)), window, key="who")
    # [-10, 10): a, b.  [0, 20): a, b, c.  [10, 30): b before a, for there b came first.
    assert lines == [
        "a 5", "b 6",
        "b 12", "10: a", "10: b",
        "c 7", "a 13",
        "d 40", "20: aa", "20: bb", "20: c", "30: b", "30: a",
        "50: d", "60: d",
    ]  # fmt: skip


def test_a_tuple_closes_windows_before_it_enters_its_own() -> None:
    lines, _ = traced(calls(("a", 5), ("b", 10)), TEN)
    assert lines == ["a 5", "b 10", "10: a", "20: b"]


def test_a_late_tuple_is_dropped_and_counted() -> None:
    lines, result = traced(calls(("a", 5), ("b", 12), ("c", 9), ("d", 12), ("e", -3)), TEN)
    assert lines == ["a 5", "b 12", "10: a", "c 9", "d 12", "e -3", "20: bd"]
    assert result.metrics["windows"].late == 2
    assert result.metrics.late == 2


def test_a_late_tuple_is_sent_to_the_output_that_late_names() -> None:
    lines, result = traced(calls(("a", 5), ("b", 12), ("c", 9), ("d", 12), ("e", -3)), TEN, late="late")
    assert lines == ["a 5", "b 12", "10: a", "c 9", "late c 9", "d 12", "e -3", "late e -3", "20: bd"]
    assert result.metrics.late == 0


def test_a_tuple_is_not_late_while_one_of_its_windows_is_open() -> None:
    window = ab.sliding(seconds=20, slide=10, on="ts")
    lines, _ = traced(calls(("a", 12), ("b", 5), ("c", 20), ("d", 9)), window, late="late")
    # b misses the window that ended at 10, and enters the one that ends at 20; for d both have closed
    assert lines == ["a 12", "b 5", "c 20", "20: ab", "d 9", "late d 9", "30: ac", "40: c"]


def test_a_window_nobody_fell_into_is_not_shown() -> None:
    lines, _ = traced(calls(("a", 5), ("b", 95)), TEN)
    assert lines == ["a 5", "b 95", "10: a", "100: b"]


def test_a_tuple_between_two_windows_is_in_none_and_not_late() -> None:
    window = ab.sliding(seconds=2, slide=10, on="ts")  # only the last two seconds before every tenth
    lines, result = traced(calls(("a", 8), ("b", 3), ("c", 15), ("d", 19)), window, late="late")
    assert lines == ["a 8", "b 3", "c 15", "10: a", "d 19", "20: d"]
    assert result.metrics.late == 0


def test_at_the_end_all_open_windows_close_in_order_of_their_end() -> None:
    own = ab.tumbling(seconds=10, on="ts", clock="key")
    lines, _ = traced(calls(("a", 25), ("b", 5), ("c", 6), ("d", 26), ("b", 3)), own, key="who")
    assert lines == ["a 25", "b 5", "c 6", "d 26", "b 3", "10: bb", "10: c", "30: a", "30: d"]


def test_windows_are_aligned_to_zero_also_before_it() -> None:
    lines, _ = traced(calls(("a", -25), ("b", -21), ("c", -20), ("d", -1), ("e", 0)), TEN)
    assert lines == ["a -25", "b -21", "c -20", "-20: ab", "d -1", "-10: c", "e 0", "0: d", "10: e"]


# Types of time -----------------------------------------------------------------------------------------------------


class At(NamedTuple):
    at: datetime
    n: int


class AtWindow(NamedTuple):
    start: datetime
    ns: list[int]


def by_hour(*times: datetime) -> list[AtWindow]:
    source = ab.from_items(At, [At(at, n) for n, at in enumerate(times)])
    windows = source.window(ab.tumbling(hours=1, on="at"))
    return ab.run(windows.aggregate(AtWindow, start=ab.window_start(), ns=ab.collect("n")).collect("out")).items("out")


def test_windows_over_datetimes_are_aligned_to_1970() -> None:
    hour = datetime(1969, 12, 31, 23)
    assert by_hour(hour, hour + timedelta(minutes=59, seconds=59, microseconds=999_999), hour + timedelta(hours=1)) == [
        AtWindow(hour, [0, 1]),
        AtWindow(datetime(1970, 1, 1), [2]),
    ]


def test_datetimes_with_zones_are_compared_as_moments() -> None:
    noon = datetime(2024, 7, 1, 12, tzinfo=UTC)
    elsewhere = timezone(timedelta(hours=5, minutes=30))
    out = by_hour(noon, (noon + timedelta(minutes=30)).astimezone(elsewhere), noon + timedelta(hours=1))
    assert out == [AtWindow(noon, [0, 1]), AtWindow(noon + timedelta(hours=1), [2])]


class Measured(NamedTuple):
    ts: float


class Span(NamedTuple):
    start: float
    end: float
    at: list[float]


def spans(times: list[float], **length: Any) -> list[Span]:
    windows = ab.from_items(Measured, [Measured(ts) for ts in times]).window(ab.tumbling(**length, on="ts"))
    out = windows.aggregate(Span, start=ab.window_start(), end=ab.window_end(), at=ab.collect("ts"))
    return ab.run(out.collect("out")).items("out")


def test_a_float_time_at_an_edge_begins_the_next_window() -> None:
    """0.3 // 0.1 is 2.0 and 1.0 // 0.1 is 9.0, but nobody would put 0.3 before 0.3."""
    tenths = [n / 10 for n in range(-20, 100)]
    assert spans(tenths, milliseconds=100) == [Span(n / 10, (n + 1) / 10, [n / 10]) for n in range(-20, 100)]


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.7, 1 / 3, 1e-3, 2.5, 1e9])
def test_a_tuple_lies_within_the_edges_its_window_shows(seconds: float) -> None:
    times = [n * seconds for n in range(-40, 40)] + [1e9 + n / 7 for n in range(40)]
    for span in spans(sorted(times), seconds=seconds):
        assert all(span.start <= ts < span.end for ts in span.at)


@pytest.mark.parametrize("ts", [float("nan"), float("inf"), float("-inf")])
def test_a_time_that_is_no_number_is_an_error(ts: float) -> None:
    with pytest.raises(ab.OperatorError, match=f"attribute 'ts', is {ts}"):
        spans([1.0, ts], seconds=1)


def test_the_largest_floats_have_windows_too() -> None:
    assert [len(span.at) for span in spans([-1.7e308, 1.7e308], seconds=0.1)] == [1, 1]


def test_a_tick_stream_closes_windows_where_nothing_else_comes() -> None:
    """No operator looks at the wall clock: who wants ticks merges them in."""
    trace = Trace()
    quiet = ab.from_items(Call, [Call("a", 5), Call("b", 45)], order_by="ts")
    ticks = ab.from_items(Call, [Call("tick", ts) for ts in (10, 20, 30, 40)], order_by="ts")
    windows = quiet.union(ticks).window(TEN).aggregate(Calls, end=ab.window_end(), who=ab.collect("who"))
    ab.run(ticks.for_each(trace("tick")), windows.for_each(trace("closed")))
    assert trace.lines[:3] == ["closed 10 ['a']", "tick 'tick' 10", "closed 20 ['tick']"]
