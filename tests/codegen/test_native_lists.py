"""Windows in native code that overlap unevenly, or close by key, with groups or without: all as the oracle has them.

Every test builds the same elements, so that each kind of window is compiled once.
"""

from __future__ import annotations

import itertools
import math
import random
from functools import partial
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_pe
from anabranch.codegen.native import state as native_state
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.segments import decide
from anabranch.run import as_program
from tests.codegen.by_batches import batches, by_element, by_oracle, part_of_program
from tests.codegen.exactness import exact


class Trip(NamedTuple):
    city: str
    zone: int | None
    line: float
    fare: float | None
    riders: int
    ts: float
    tick: int


class Fares(NamedTuple):
    city: str
    zone: int | None
    count: int
    mean: float | None
    riders: int
    largest: float | None
    lines: int
    cities: int
    deviation: float | None


class Timed(NamedTuple):
    start: float
    end: float
    city: str
    zone: int | None
    count: int
    mean: float | None
    riders: int
    lines: int


class Ticked(NamedTuple):
    start: int
    end: int
    city: str
    riders: int
    lines: int


COMMON: dict[str, Any] = {"city": ab.last("city"), "riders": ab.sum_("riders"), "lines": ab.count_distinct("line")}
MORE: dict[str, Any] = {"zone": ab.first("zone"), "count": ab.count(), "mean": ab.mean("fare")}
EDGES: dict[str, Any] = {"start": ab.window_start(), "end": ab.window_end()}
COLUMNS: dict[type, dict[str, Any]] = {
    Fares: {
        **COMMON, **MORE, "largest": ab.max_("fare"), "cities": ab.count_distinct("city"), "deviation": ab.std("fare"),
    },
    Timed: {**EDGES, **COMMON, **MORE},
    Ticked: {**EDGES, **COMMON},
}  # fmt: skip
WINDOWS: list[tuple[ab.Window, Any, Any, Any]] = [
    (ab.tumbling(count=5), "city", "zone", Fares),
    (ab.tumbling(count=70), "city", "zone", Fares),
    (ab.tumbling(count=1), ["zone", "line"], ["city", "line"], Fares),
    (ab.tumbling(seconds=4, on="ts", clock="key"), "city", ["zone", "line"], Timed),
    (ab.sliding(seconds=4, slide=1, on="ts", clock="key"), "city", None, Timed),
    (ab.sliding(seconds=1, slide=0.3, on="ts", clock="key"), ["zone", "line"], "city", Timed),
    (ab.sliding(seconds=3, slide=2, on="ts"), None, None, Timed),
    (ab.sliding(seconds=0.5, slide=1.2, on="ts"), "city", None, Timed),
    (ab.sliding(delta=70, slide=30, on="tick"), "city", "zone", Ticked),
    (ab.sliding(count=5, slide=2), None, ["zone", "city"], Fares),
    (ab.sliding(count=6, slide=1), "city", "line", Fares),
]
element_of = partial(build_pe, form="native", tracks_changes=True)


def trips(seed: int, count: int = 400) -> list[Trip]:
    """Out of order now and then, so that some are late, and with stretches in which nothing comes."""
    chance, now, found = random.Random(seed), -10.0, []
    for _ in range(count):
        now += chance.choice([0.0, 0.1, 0.3, 0.2, 6.0 if chance.random() < 0.1 else 0.1])
        ts = now - (chance.random() * 6 if chance.random() < 0.1 else 0)
        ts = round(ts, 1) if chance.random() < 0.5 else ts  # at the edges of windows
        city, zone = chance.choice(["Ulm", "Bern", "Graz"]), chance.choice([None, 0, 1, 2])
        fare = chance.choice([0.1, 2.5, -0.0, None, math.nan if chance.random() < 0.1 else 3.3, math.inf])
        line = chance.choice([0.0, -0.0, math.nan, 2.5])
        found.append(Trip(city, zone, line, fare, chance.randrange(-100, 100), ts, int(ts * 10)))
    return found


def program(items: list[Trip], window: ab.Window, key: Any, group_by: Any, out: Any, **more: Any) -> Any:
    windowed = ab.from_items(Trip, items).window(window, key=key, **more)
    aggregated = windowed.aggregate(out, group_by=group_by, **COLUMNS[out])
    sinks = [aggregated.collect("out"), *([aggregated.outputs.late.collect("late")] if more else [])]
    return as_program(*sinks)


SHORT = (0, 3, 5, 9)  # of each kind one; the others take long to compile


def of_windows(function: Any, windows: list[tuple[ab.Window, Any, Any, Any]] = WINDOWS) -> Any:
    cases = [
        pytest.param(
            *each,
            id=f"{each[0]} key {each[1]} groups {each[2]}",
            marks=() if WINDOWS.index(each) in SHORT else pytest.mark.slow,
        )
        for each in windows
    ]
    return pytest.mark.parametrize(("window", "key", "group_by", "out"), cases)(function)


@of_windows
def test_chunks_do_not_show(window: ab.Window, key: Any, group_by: Any, out: Any) -> None:
    for seed, sizes in ((1, [1]), (2, [7, 100]), (3, [1000]), (4, [60, 1, 9])):
        made = program(trips(seed), window, key, group_by, out)
        assert by_element(made, element_of, itertools.cycle(sizes)) == by_oracle(made)


@of_windows
def test_another_element_goes_on_from_a_save_and_its_changes(
    window: ab.Window, key: Any, group_by: Any, out: Any
) -> None:
    saves: list[bytes] = []

    def saved(element: ProcessingElement) -> ProcessingElement:
        saves.append(element.save_changes() if saves else element.save())
        other = element_of(element.part)  # type: ignore[attr-defined]
        other.restore(saves[0], saves[1:])
        return other

    made = program(trips(5), window, key, group_by, out)
    assert by_element(made, element_of, itertools.repeat(23), saved).items == by_oracle(made).items


@of_windows
def test_the_python_form_goes_on_in_the_middle_of_windows(window: ab.Window, key: Any, group_by: Any, out: Any) -> None:
    for at in (100, 105, 111, 250):
        items = trips(6)
        items[at : at + 2] = [items[at]._replace(riders=2**63 - 1)] * 2
        made = program(items, window, key, group_by, out)
        assert by_element(made, element_of, itertools.repeat(40)) == by_oracle(made)


BAD_TIMES = {"ts": [math.nan, math.inf, 1e300, -1e300, 2.0**52], "tick": [2**63 - 1, -(2**63), 2**63 - 60]}


@partial(of_windows, windows=[each for each in WINDOWS if each[0].is_by_time])
def test_times_beyond_those_of_native_code_are_the_oracles(
    window: ab.Window, key: Any, group_by: Any, out: Any
) -> None:
    assert window.on is not None
    for value in BAD_TIMES[window.on]:
        items = trips(7, 120)
        items[60:60] = [items[60]._replace(**{window.on: value})]
        made = program(items, window, key, group_by, out)
        assert by_element(made, element_of, itertools.repeat(33)) == by_oracle(made)


def with_many_groups(key: Any, count: int) -> list[Trip]:
    """Few keys; what is not in the key comes for a while, and then never again."""
    found = []
    for at in range(count):
        few, many = at % 7, at // 50 * 10 + at % 9
        city, zone, line = (few if name in (key or ()) else many for name in ("city", "zone", "line"))
        found.append(Trip(f"city {city}", zone, float(line), 1.5, 1, at * 0.1, at * 2))
    return found


@of_windows
def test_what_closed_windows_held_takes_no_room_for_long(
    window: ab.Window, key: Any, group_by: Any, out: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_state, "_FORGET_AFTER", 500)  # strings
    made = program(with_many_groups(key, 6000), window, key, group_by, out)
    part = part_of_program(made.graph)
    element: Any = element_of(part)
    found: list[Any] = []
    saves: list[bytes] = []
    for number, batch in enumerate(batches(part, itertools.repeat(400))):
        found += element.process(batch)[0].rows
        saves.append(element.save_changes() if saves else element.save())
        if number == 9:
            element = element_of(part)
            element.restore(saves[0], saves[1:])
    assert exact(found) == exact(ab.run(made).items("out"))
    rooms = [each.room for each in element.state.operators.values() if each.record.shape != "seen"]
    assert max(rooms) == 1024, "though there were some 6,000 groups of keys"
    assert element.state.pool.count < 1000, "of more than 1,000 names, if there are as many"


@pytest.mark.parametrize(("window", "key", "group_by", "out"), [WINDOWS[3], WINDOWS[5]], ids=["one", "other"])
def test_late_tuples_go_to_their_output(window: ab.Window, key: Any, group_by: Any, out: Any) -> None:
    made = program(trips(8), window, key, group_by, out, late="late")
    outcome = by_element(made, element_of, itertools.repeat(50))
    assert outcome == by_oracle(made)
    assert outcome.items["late"]


def test_what_is_left_to_the_python_form_says_why() -> None:
    class Collected(NamedTuple):
        fares: list[float | None]

    windowed = ab.from_items(Trip, []).window(ab.tumbling(count=3))
    made = as_program(windowed.aggregate(Collected, fares=ab.collect("fare")).collect("out"))
    (stage,) = decide(part_of_program(made.graph))
    assert stage.why is not None
    assert stage.why.reason == "computes collect of a float"
