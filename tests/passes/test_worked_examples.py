"""Programs whose order is easy to get wrong: the plan, and the oracle's output worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab
from anabranch.graph.format_layout import order_key
from tests.passes.programs import joints, ordering, plan_of, region_with, shape, why_not


class Event(NamedTuple):
    k: str
    l: str  # noqa: E741
    n: int


class Sum(NamedTuple):
    k: str
    n: int


def events(text: str) -> ab.Stream[Event]:
    """`a/x:1 b/y:2` are two events."""
    rows = []
    for word in text.split():
        keys, n = word.split(":")
        k, l = keys.split("/")  # noqa: E741
        rows.append(Event(k, l, int(n)))
    return ab.from_items(Event, rows)


def shown(sink: ab.Sink) -> str:
    result = ab.run(sink)
    (items,) = result.collected.values()
    return " ".join(":".join(str(value) for value in item) for item in items)


class Numbered:
    """1:1, keeps a count."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, e: Event) -> Event:
        self.count += 1
        return e._replace(n=self.count)


class Echo:
    """Prolific: the n-th event of a key comes n times."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, e: Event) -> Iterator[Event]:
        self.count += 1
        for again in range(self.count):
            yield e._replace(n=10 * e.n + again)


def test_a_prolific_keyed_operator_between_two_shuffles() -> None:
    first = events("a/x:1 b/x:2 a/y:3").process(Numbered, key="k").named("one")
    sink = first.process(Echo, key="l").named("two").process(Numbered, key="k").named("three").collect("out")
    plan = plan_of(sink)
    assert shape(plan) == [("one",), ("two",), ("three",)]
    assert [joints(region) for region in plan.regions] == ["split -> shuffle", "shuffle -> shuffle", "shuffle -> merge"]
    assert ordering(plan.regions[-1]) == "relaxed-seqno-pulse"
    # one gives a:1 b:1 a:2; two sees x, x, y: 1 + 2 + 1 events; three numbers them per k: a, b b, a.
    assert shown(sink) == "a:x:1 b:x:1 b:x:2 a:y:2"


def test_a_union_goes_by_the_order_of_connection_not_of_its_arguments() -> None:
    source = events("a/x:1 a/x:2")
    b = source.map(lambda e: e._replace(n=e.n * 10), out=Event).named("b")
    c = source.map(lambda e: e._replace(n=e.n * 100), out=Event).named("c")
    assert shown(c.union(b).collect("out")) == "a:x:10 a:x:100 a:x:20 a:x:200"


def test_two_branches_that_are_regions_of_their_own_meet_in_order() -> None:
    source = events("a/x:1 b/y:2 a/y:3")
    left = source.process(Numbered, key="k").named("left")
    right = source.process(Echo, key="l").named("right")
    sink = right.union(left).collect("out")
    plan = plan_of(sink)
    assert shape(plan) == [("left",), ("right",)]
    # For each event first left (connected first), then right: y comes the second time with 3.
    assert shown(sink) == "a:x:1 a:x:10 b:y:1 b:y:20 a:y:2 a:y:30 a:y:31"


class Reading(NamedTuple):
    k: str
    ts: int
    keep: bool


class Count(NamedTuple):
    k: str
    n: int
    end: int


def readings(text: str) -> ab.Stream[Reading]:
    """`a3` is kept, `a3!` is not."""
    return ab.from_items(
        Reading, [Reading(word[0], int(word[1:].rstrip("!")), not word.endswith("!")) for word in text.split()]
    )


def counts(stream: ab.Stream[Reading], window: ab.Window) -> ab.Stream[Count]:
    return stream.window(window, key="k").aggregate(Count, n=ab.count(), end=ab.window_end())


def test_what_a_filter_drops_does_not_move_time() -> None:
    kept = readings("a1 b2 a19! a3 b12 a13").filter(lambda r: r.keep).named("kept")
    sink = counts(kept, ab.tumbling(seconds=10, on="ts")).named("counts").collect("out")
    plan = plan_of(sink)
    assert shape(plan) == [("kept",), ("counts",)]
    assert region_with(plan, "counts").clocks == ("counts",)
    # The dropped 19 would have closed both windows before a3 came; only b12 does.
    assert shown(sink) == "a:2:10 b:1:10 b:1:20 a:1:20"


def test_one_tuple_closes_several_sliding_windows() -> None:
    sink = counts(readings("a1 b6 a30"), ab.sliding(seconds=10, slide=5, on="ts")).named("counts").collect("out")
    assert ordering(region_with(plan_of(sink), "counts")) == "relaxed-seqno-pulse"
    # a1 is in windows ending at 5 and 10, b6 in 10 and 15; b6 closes 5, a30 closes 10 (a before b) and 15.
    assert shown(sink) == "a:1:5 a:1:10 b:1:10 b:1:15 a:1:35 a:1:40"


class AtEnd:
    def __init__(self) -> None:
        self.k = ""
        self.total = 0

    def process(self, e: Event) -> None:
        self.k = e.k
        self.total += e.n

    def finish(self) -> Sum:
        return Sum(self.k, self.total)


def test_a_keyed_operator_that_emits_at_the_end() -> None:
    sink = events("b/x:1 a/x:2 b/x:3 c/x:4").process(AtEnd, key="k").named("sums").collect("out")
    plan = plan_of(sink)
    assert region_with(plan, "sums").key == ("k",)
    assert order_key(plan, plan.graph.edges[-1]) == ("#draw", "first@sums", "index@sums")
    assert shown(sink) == "b:4 a:2 c:4", "keys in order of their first arrival"


def test_punctuations_before_a_keyed_punctuated_window() -> None:
    punctuated = events("b/x:1 a/x:2 b/.:3 a/x:4 c/.:5 b/x:6").punctuate(lambda e: e.l == ".").named("dots")
    sums = punctuated.window(ab.punctuated(), key="k").aggregate(Sum, n=ab.sum_("n")).named("sums")
    plan = plan_of(sums.collect("out"))
    assert "before the split" in why_not(plan, "dots")
    assert region_with(plan, "sums").key == ("k",)
    assert shown(sums.collect("out")) == "b:4 a:2 a:4 c:5 b:6"


def test_skipping_errors_leaves_a_gap_in_a_1_to_1_region() -> None:
    halved = events("a/x:1 a/x:0 a/x:2").map(lambda e: e._replace(n=100 // e.n), out=Event, on_error="skip")
    sink = halved.named("halved").collect("out")
    assert ordering(region_with(plan_of(sink), "halved")) == "strict-seqno-pulse"
    assert shown(sink) == "a:x:100 a:x:50"


def test_a_1_to_1_keyed_region_behind_a_filter_region_over_a_shuffle() -> None:
    filtered = events("a/x:1 b/x:2 a/y:3 b/y:4").process(Numbered, key="k").named("one").filter(lambda e: e.n == 2)
    sink = filtered.named("second").process(Numbered, key="l").named("two").collect("out")
    plan = plan_of(sink)
    assert shape(plan) == [("one", "second"), ("two",)]
    assert ordering(region_with(plan, "two")) == "strict-seqno-pulse", "1:1 by itself, but gaps accumulate"
    assert shown(sink) == "a:y:1 b:y:2"


def test_a_keyed_join_over_count_windows_is_not_partitioned() -> None:
    left, right = events("a/x:1 b/x:2 a/x:3"), events("a/y:10 a/y:20 b/y:30")

    def both(one: Event, other: Event) -> Event:
        return one._replace(n=one.n + other.n)

    joined = left.join(right, left=ab.sliding(count=1), right=ab.sliding(count=1), on="k", out=both).named("join")
    assert "all keys" in why_not(plan_of(joined.collect("out")), "join")
    # Drawn alternately: a1 | a10 meets a1 | b2 pushes a1 out | a20 meets nobody | a3 meets a20 | b30 meets nobody.
    assert shown(joined.collect("out")) == "a:x:11 a:x:23"
