"""Who needs a key that a stream is in channels by already, is in these channels: nothing is exchanged again."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.places import Layout
from anabranch.graph.settings import FUSIONS, Settings, Target
from anabranch.run import as_program
from tests.codegen.palette import Item, inverted, is_large, twice
from tests.dataflow.layout.test_layouts_exactly import Both, Pair, merged, renamed
from tests.dataflow.outcomes import expected, on_simulated
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

ITEMS = [Item(n % 9, n / 3, "abc"[n % 3], n % 4 or None, float(n)) for n in range(40)]
COUNTED, TIMED = ab.sliding(count=2, per_key=True), ab.sliding(seconds=3, on="ts")


class Adding:
    """Leaves the key as it is."""

    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.total += item.maybe or 1
        if self.total % 5:
            yield Item(item.n, item.x, item.s, self.total, item.ts)


class Closing:
    """Gives something at punctuations and at the end, for many keys at one moment; more than one of some tuples."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        if item.n % 2:
            yield item
            yield item
        self.last = item

    def finish(self) -> Iterator[Item]:
        if self.last is not None:
            yield self.last


def folded(item: Item) -> Item:
    """With another key, which is that of several."""
    return Item(item.n // 3, item.x, item.s, item.maybe, item.ts)


def items_of(seed: int, count: int) -> list[Item]:
    """Few keys, which come often."""
    random = Random(seed)
    return [
        Item(random.randrange(9), n / 3, random.choice("abc"), random.randrange(4) or None, n // 2.0)
        for n in range(count)
    ]


@st.composite
def neighbours(draw: st.DrawFn) -> Program:
    """Streams of one that parts in channels, with operators on their ways, that meet others by some key, twice."""
    key = draw(st.sampled_from(["n", "s", ["n", "s"]]))
    source = ab.from_items(Item, items_of(draw(st.integers(0, 999)), draw(st.integers(0, 60))))
    if draw(st.booleans()):
        source = source.punctuate(lambda item: item.n % 3 == 0)
    pending: list[Any] = [source, keyed(draw, source, key)]
    for _ in range(draw(st.integers(2, 4))):
        one = draw(st.sampled_from(pending[1:]))
        if draw(st.booleans()):
            pending.append(keyed(draw, one, draw(st.sampled_from([key, "n", ["s", "n"]]))))
            continue
        other = draw(st.sampled_from(pending))
        on = draw(st.sampled_from([key, "n"]))
        if draw(st.booleans()):
            met: Any = ab.connect(Both, key=on, one=one, two=other)
        else:
            window = draw(st.sampled_from([COUNTED, COUNTED, TIMED]))
            met = one.join(other, left=window, right=window, on=on, out=Pair).map(merged)
        pending.append(met)
    ends = [pending[-1], *draw(st.lists(st.sampled_from(pending[1:]), max_size=1))]
    if draw(st.booleans()) and len(ends) > 1:
        return as_program(ends[0].union(*ends[1:]).collect("met"))
    return as_program(*(end.collect(f"end{number}") for number, end in enumerate(ends)))


def keyed(draw: st.DrawFn, stream: Any, key: Any) -> Any:
    match draw(st.sampled_from(["running", "closing", "window", "map", "failing"])):
        case "running":
            return stream.process(Adding, key=key)
        case "closing":
            return stream.process(Closing, key=key)
        case "window":
            attributes: dict[str, Any] = {name: ab.last(name) for name in Item._fields}
            window = ab.tumbling(count=2) if draw(st.booleans()) else ab.tumbling(seconds=2, on="ts")
            return stream.window(window, key=key).aggregate(Item, **attributes)
        case "map":
            return stream.process(Adding, key=key).map(draw(st.sampled_from([folded, renamed])))
        case _:
            return stream.process(Adding, key=key).map(inverted).flat_map(twice, out=Item)


@drawn(100)
@given(neighbours(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_neighbours_by_some_keys(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)


# Who follows --------------------------------------------------------------------------------------------------------


def layout_of(program: Program, **channels: int) -> Layout:
    settings = Settings(Target("spark"), channels=channels or 2)
    return compile(program.graph, settings).phases[0].layout


def leading(layout: Layout, *names: str) -> list[str]:
    return [layout.leading(layout.place_of(name)).id for name in names]


def parted(key: Any = "n", other: Any = "n") -> Program:
    stream = ab.from_items(Item, ITEMS).process(Adding, key=key).named("before")
    return as_program(stream.process(Adding, key=other).named("behind").collect("one"), stream.collect("two"))


@pytest.mark.parametrize(("key", "other"), [("n", "n"), ("n", ["s", "n"]), (["n", "s"], ["s", "n"])])
def test_behind_a_parting_who_has_the_key_stays(key: Any, other: Any) -> None:
    assert leading(layout_of(parted(key, other)), "before", "behind") == ["R1", "R1"]


@pytest.mark.parametrize(("key", "other"), [("n", "s"), (["n", "s"], "n")])
def test_who_has_less_than_the_key_is_dealt_out(key: Any, other: Any) -> None:
    assert leading(layout_of(parted(key, other)), "before", "behind") == ["R1", "R2"]


def test_who_is_asked_to_have_other_channels_has_them() -> None:
    assert leading(layout_of(parted(), R1=2, R2=3), "before", "behind") == ["R1", "R2"]


def test_ranges_are_not_mixed_with_hashes() -> None:
    assert leading(layout_of(parted("n", ab.ranges("n", [3]))), "before", "behind") == ["R1", "R2"]
    assert leading(layout_of(parted(ab.ranges("n", [3]), "n")), "before", "behind") == ["R1", "R2"]


def renamed_key(item: Item) -> Item:
    return Item(1, item.x, item.s, item.n, item.ts)


def test_a_key_under_another_name_is_the_same_key() -> None:
    stream = ab.from_items(Item, ITEMS).process(Adding, key="n").map(renamed_key).named("before")
    program = as_program(stream.process(Adding, key="maybe").named("behind").collect("one"), stream.collect("two"))
    assert leading(layout_of(program), "behind") == ["R1"]
    assert on_simulated(program.graph, 3, 7) == expected(program.graph)


def joined(window: Any = COUNTED) -> Program:
    """A stream in channels meets one that is dealt out."""
    source = ab.from_items(Item, ITEMS)
    running = source.process(Adding, key="n").named("before")
    return as_program(running.join(source, left=window, right=window, on="n", out=Pair).named("join").collect("out"))


def test_what_a_join_takes_from_elsewhere_is_brought_to_where_the_other_is() -> None:
    layout = layout_of(joined())
    place = layout.place_of("join")
    assert place.follows == "R1"
    assert [(each.stream.operator, each.key, layout.stays(each)) for each in layout.arriving(place.id)] == [
        ("before", (), True),
        ("from_items", ("n",), False),
    ]
    assert len(layout.levels) == 1


def test_a_join_by_the_time_of_whole_streams_begins_anew() -> None:
    assert leading(layout_of(joined(TIMED)), "before", "join") == ["R1", "R2"]


def test_nothing_waits_for_what_comes_later() -> None:
    source = ab.from_items(Item, ITEMS)
    early = source.process(Adding, key="n").named("early")
    late = source.process(Adding, key="s").process(Adding, key="n").filter(is_large).named("late")
    program = as_program(ab.connect(Both, key="n", one=early, two=late).named("both").collect("out"))
    assert leading(layout_of(program), "early", "late", "both") == ["R1", "R3", "R3"]


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_what_stays_is_not_exchanged(channels: int) -> None:
    program = joined()
    cluster = Simulated()
    run_on(cluster, compile(program.graph), Metrics(), channels=channels, stretch=10)
    assert cluster.exchanged == 2 * 4 * channels  # both streams of the source, of four epochs
    assert on_simulated(program.graph, channels, 7, seed=1) == expected(program.graph)
