"""Windows with groups in native code: by count, and with a key. Groups close in the oracle's order."""

from __future__ import annotations

import itertools
import math
import random
from functools import partial
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_pe
from anabranch.codegen.pe import ProcessingElement
from anabranch.run import as_program
from tests.codegen.by_batches import by_element, by_oracle
from tests.codegen.comparing import Comparison, check_same


class Trip(NamedTuple):
    city: str
    zone: int | None
    line: float
    fare: float
    riders: int
    ts: float


class Fares(NamedTuple):
    city: str
    zone: int | None
    line: float
    count: int
    mean: float
    riders: int
    lines: int
    deviation: float


FARES: dict[str, Any] = {
    "city": ab.first("city"), "zone": ab.last("zone"), "line": ab.any_("line"), "count": ab.count(),
    "mean": ab.mean("fare"), "riders": ab.sum_("riders"), "lines": ab.count_distinct("line"),
    "deviation": ab.std("fare"),
}  # fmt: skip
WINDOWS: list[tuple[ab.Window, dict[str, Any], Any]] = [
    (ab.tumbling(count=1), {}, "zone"),
    (ab.tumbling(count=12), {}, ["city", "zone"]),
    (ab.tumbling(seconds=4, on="ts"), {"key": "city"}, "line"),
    (ab.tumbling(delta=4, on="ts"), {"key": ["zone", "line"]}, ["city"]),
    (ab.tumbling(seconds=4, on="ts"), {"key": "city"}, ["zone", "city"]),
]
native = partial(build_pe, form="native")
tracking = partial(build_pe, form="native", tracks_changes=True)


def trips(seed: int, count: int = 400) -> list[Trip]:
    """Out of order now and then, so that some are late."""
    chance, now, found = random.Random(seed), 0.0, []
    for _ in range(count):
        now += chance.choice([0.0, 0.1, 0.3, 0.2, 6.0 if chance.random() < 0.1 else 0.1])
        ts = now - (chance.random() * 6 if chance.random() < 0.1 else 0)
        city, zone = chance.choice(["Ulm", "Bern", "Graz"]), chance.choice([None, 0, 1, 2])
        fare = chance.choice([0.1, 2.5, -0.0, math.nan if chance.random() < 0.05 else 3.3])
        line = chance.choice([0.0, -0.0, math.nan, 2.5])
        found.append(Trip(city, zone, line, fare, chance.randrange(100), ts))
    return found


def program(items: list[Trip], window: ab.Window, key: dict[str, Any], group_by: Any) -> Any:
    windowed = ab.from_items(Trip, items).window(window, **key)
    return as_program(windowed.aggregate(Fares, group_by=group_by, **FARES).collect("out"))


def of_windows(function: Any) -> Any:
    return pytest.mark.parametrize(
        ("window", "key", "group_by"), WINDOWS, ids=[f"{window} {key} {group}" for window, key, group in WINDOWS]
    )(function)


@of_windows
def test_chunks_do_not_show(window: ab.Window, key: dict[str, Any], group_by: Any) -> None:
    for seed, sizes in ((1, [1]), (2, [7, 100]), (3, [1000])):
        made = program(trips(seed), window, key, group_by)
        assert by_element(made, native, itertools.cycle(sizes)) == by_oracle(made)


@of_windows
def test_another_element_goes_on_from_a_save_and_its_changes(
    window: ab.Window, key: dict[str, Any], group_by: Any
) -> None:
    saves: list[bytes] = []

    def saved(element: ProcessingElement) -> ProcessingElement:
        saves.append(element.save_changes() if saves else element.save())
        other = tracking(element.part)  # type: ignore[attr-defined]
        other.restore(saves[0], saves[1:])
        return other

    made = program(trips(4), window, key, group_by)
    assert by_element(made, tracking, itertools.repeat(13), saved).items == by_oracle(made).items


@of_windows
def test_the_python_form_goes_on_in_the_middle_of_a_window(
    window: ab.Window, key: dict[str, Any], group_by: Any
) -> None:
    for at in (100, 105, 111):
        items = trips(5)
        items[at : at + 2] = [items[at]._replace(riders=2**63 - 1)] * 2
        made = program(items, window, key, group_by)
        assert by_element(made, native, itertools.repeat(40)) == by_oracle(made)


@of_windows
def test_tables_grow_in_the_middle_of_a_window(window: ab.Window, key: dict[str, Any], group_by: Any) -> None:
    items = [Trip(f"city {at % 2000}", at % 7, float(at % 1900), 1.0, 1, at * 0.001) for at in range(6000)]
    longer = ab.tumbling(count=5000) if window.measure == "count" else window
    made = program(items, longer, key, group_by)
    assert by_element(made, native, itertools.repeat(2500)) == by_oracle(made)


def test_a_punctuation_closes_the_groups_of_one_key_after_those_of_another() -> None:
    marked = ab.from_items(Trip, trips(6)).punctuate(lambda trip: trip.riders % 20 == 0)
    made = marked.window(ab.punctuated(), key="city").aggregate(Fares, group_by="zone", **FARES)
    assert set(check_same(Comparison(made.collect("out")))) == {"native"}


def doubled(fares: Fares) -> Fares:
    return fares._replace(count=fares.count * 2)


def test_what_comes_behind_such_windows_is_native_too() -> None:
    made = ab.from_items(Trip, trips(7)).window(ab.tumbling(count=9)).aggregate(Fares, group_by="zone", **FARES)
    assert set(check_same(Comparison(made.map(doubled).filter(lambda t: t.count > 4).collect("out")))) == {"native"}
