"""`count_distinct` in native code: the oracle's numbers, whatever the windows, the chunks, the saves and the end."""

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
from tests.codegen.comparing import Comparison, check_same


class Visit(NamedTuple):
    key: str
    group: int
    page: int
    value: float
    flag: bool
    name: str
    maybe: float | None
    perhaps: str | None
    ts: float


class Distinct(NamedTuple):
    pages: int
    maybes: int
    total: int
    names: int


class Numbers(NamedTuple):
    pages: int
    maybes: int
    total: int


class Others(NamedTuple):
    values: int
    flags: int
    perhaps: int
    keys: int


def visits(seed: int, keys: int, count: int = 400) -> list[Visit]:
    """Out of order now and then; among the floats are those of which Python has several that are equal."""
    chance, now, found = random.Random(seed), 0.0, []
    for _ in range(count):
        now += chance.choice([0.0, 0.1, 0.3, 1.0, 5.0 if chance.random() < 0.2 else 0.1])
        ts = now - (chance.random() * 6 if chance.random() < 0.2 else 0)
        value = chance.choice([1.5, -0.0, 0.0, math.nan, -math.nan, math.inf, 0.1, 0.1 + 2**-56, 5e-324])
        maybe = chance.choice([None, None, -0.0, 0.0, math.nan, 2.5])
        text = chance.choice(["", "a", "ab\0", "é", "x" * 40, "x" * 41])
        page, perhaps = chance.choice([0, 1, -1, 2**63 - 1, 7]), chance.choice([None, "a", text])
        key, group, flag = f"k{chance.randrange(keys)}", chance.randrange(3), chance.random() < 0.7
        found.append(Visit(key, group, page, value, flag, text, maybe, perhaps, ts))
    return found


NUMBERS: dict[str, Any] = {
    "pages": ab.count_distinct("page"), "maybes": ab.count_distinct("maybe"), "total": ab.sum_("group"),
}  # fmt: skip
WITH_NAMES: dict[str, Any] = {**NUMBERS, "names": ab.count_distinct("name")}
WINDOWS: list[tuple[ab.Window, dict[str, Any]]] = [
    (ab.tumbling(count=7), {}),
    (ab.tumbling(count=7), {"key": "key"}),
    (ab.tumbling(count=70), {"key": "key"}),
    (ab.tumbling(seconds=2, on="ts"), {}),
    (ab.tumbling(seconds=2, on="ts"), {"key": ["key", "group"]}),
    (ab.tumbling(seconds=2, on="ts", clock="key"), {"key": "key"}),
    (ab.sliding(seconds=4, slide=1, on="ts"), {}),
    (ab.sliding(seconds=4, slide=1, on="ts"), {"key": "key"}),
    (ab.sliding(count=5, slide=2), {}),
    (ab.sliding(count=5, slide=2), {"key": "key"}),
]
native = partial(build_pe, form="native")
tracking = partial(build_pe, form="native", tracks_changes=True)


def program(items: list[Visit], window: ab.Window, key: dict[str, Any], group_by: str | None = None) -> Any:
    windowed = ab.from_items(Visit, items).window(window, **key)
    return as_program(windowed.aggregate(Distinct, group_by=group_by, **WITH_NAMES).collect("out"))


def of_windows(function: Any) -> Any:
    ids = [f"{window} {'by key' if key else ''}" for window, key in WINDOWS]
    return pytest.mark.parametrize(("window", "key"), WINDOWS, ids=ids)(function)


@of_windows
def test_chunks_do_not_show(window: ab.Window, key: dict[str, Any]) -> None:
    for seed, sizes in ((1, [1]), (2, [7, 100]), (3, [1000])):
        made = program(visits(seed, 3 if seed == 1 else 60), window, key)
        assert by_element(made, native, itertools.cycle(sizes)) == by_oracle(made)


def test_values_of_every_type_are_the_same_where_keys_would_be() -> None:
    columns: dict[str, Any] = {
        "values": ab.count_distinct("value"), "flags": ab.count_distinct("flag"),
        "perhaps": ab.count_distinct("perhaps"), "keys": ab.count_distinct("key"),
    }  # fmt: skip
    items = ab.from_items(Visit, visits(4, 5))
    counted = items.window(ab.tumbling(count=9), key="group").aggregate(Others, **columns)
    made = as_program(counted.collect("out"))
    assert by_element(made, native, itertools.repeat(30)) == by_oracle(made)


def test_groups_of_a_window_see_values_of_their_own() -> None:
    made = program(visits(5, 9), ab.tumbling(seconds=2, on="ts"), {}, "key")
    assert by_element(made, native, itertools.repeat(30)) == by_oracle(made)


@pytest.mark.parametrize("key", [{}, {"key": "key"}], ids=["no key", "one key"])
def test_what_a_window_saw_before_a_punctuation_is_new_behind_it(key: dict[str, Any]) -> None:
    marked = ab.from_items(Visit, visits(6, 4)).punctuate(lambda visit: visit.page == 7)
    counted = marked.window(ab.punctuated(), **key).aggregate(Distinct, **WITH_NAMES)
    assert set(check_same(Comparison(counted.collect("out")))) == {"native"}


def check_saves(made: Any, size: int) -> None:
    """The same, though after every batch another element goes on from a save and its changes."""
    saves: list[bytes] = []

    def saved(element: ProcessingElement) -> ProcessingElement:
        saves.append(element.save_changes() if saves else element.save())
        other = tracking(element.part)  # type: ignore[attr-defined]
        other.restore(saves[0], saves[1:])
        return other

    assert by_element(made, tracking, itertools.repeat(size), saved).items == by_oracle(made).items


@of_windows
def test_another_element_goes_on_from_a_save_and_its_changes(window: ab.Window, key: dict[str, Any]) -> None:
    check_saves(program(visits(7, 40), window, key), 50)


@of_windows
def test_the_python_form_goes_on_with_the_values_that_were_seen(window: ab.Window, key: dict[str, Any]) -> None:
    items = visits(8, 8)
    too_large = items[150]._replace(group=2**63 - 1)
    made = program([*items[:150], too_large, too_large, *items[150:]], window, key)
    assert by_element(made, native, itertools.repeat(40)) == by_oracle(made)


# Tables -----------------------------------------------------------------------------------------------------------


def with_many_values(count: int, keys: int = 300, often: int = 700) -> list[Visit]:
    """Most windows of a key see a value several times."""
    found = []
    for at in range(count):
        key, value = f"k{at % keys}", at // often
        found.append(Visit(key, 0, value, 0.0, True, f"{key} {value}", float(value), None, at * 0.001))
    return found


@of_windows
def test_tables_grow_in_the_middle_of_a_chunk(window: ab.Window, key: dict[str, Any]) -> None:
    made = program(with_many_values(6000), window, key)
    assert by_element(made, native, itertools.repeat(3000)) == by_oracle(made)


@pytest.mark.parametrize(
    "window",
    [
        ab.tumbling(count=70),
        ab.tumbling(seconds=0.5, on="ts"),
        ab.tumbling(seconds=0.5, on="ts", clock="key"),
        ab.sliding(seconds=0.4, slide=0.1, on="ts"),
    ],
    ids=str,
)
def test_what_closed_windows_saw_takes_no_room_for_long(window: ab.Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_state, "_FORGET_AFTER", 1000)  # strings
    items = with_many_values(20_000, 40, 60) if window.measure == "count" else with_many_values(20_000)
    made = program(items, window, {"key": "key"})
    part = part_of_program(made.graph)
    element: Any = tracking(part)
    found: list[Any] = []
    saves: list[bytes] = []
    for number, batch in enumerate(batches(part, itertools.repeat(500))):
        found += element.process(batch)[0].rows
        saves.append(element.save_changes() if saves else element.save())
        if number == 25:
            element = tracking(part)
            element.restore(saves[0], saves[1:])
    assert found == ab.run(made).items("out")
    rooms = [each.room for each in element.state.operators.values() if each.record.shape == "seen"]
    assert len(rooms) == 3
    assert max(rooms) <= 8192, "though windows saw more than 10,000 values"
    assert element.state.pool.count < 6_000, "of 9,000 names or more"


def test_a_save_of_changes_holds_values_that_moved_when_others_were_forgotten() -> None:
    windowed = ab.from_items(Visit, with_many_values(8000, 40, 60)).window(ab.tumbling(count=70), key="key")
    check_saves(as_program(windowed.aggregate(Numbers, **NUMBERS).collect("out")), 450)


def test_a_tuple_may_be_in_more_windows_than_a_table_has_room_for_at_first() -> None:
    class Pages(NamedTuple):
        pages: int

    items = [visit._replace(ts=at * 30.0) for at, visit in enumerate(visits(9, 2, 40))]
    windowed = ab.from_items(Visit, items).window(ab.sliding(seconds=1500, slide=1, on="ts"))
    made = as_program(windowed.aggregate(Pages, pages=ab.count_distinct("page")).collect("out"))
    assert by_element(made, native, itertools.repeat(10)) == by_oracle(made)


def test_values_that_are_no_numbers_or_strings_are_left_to_the_python_form() -> None:
    class Tagged(NamedTuple):
        tags: list[int]

    class Tags(NamedTuple):
        tags: int

    counted = ab.from_items(Tagged, []).window(ab.tumbling(count=2)).aggregate(Tags, tags=ab.count_distinct("tags"))
    (stage,) = decide(part_of_program(as_program(counted.collect("out")).graph))
    assert stage.why is not None
    assert stage.why.reason == "computes count_distinct of a list"
