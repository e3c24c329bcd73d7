"""The documented form of stores, word for word: the same whichever form of generated code it was made from."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.python import python_form
from anabranch.codegen.stores.schema import schema_of
from anabranch.codegen.stores.store import Record, Store
from tests.codegen.comparing import Comparison
from tests.codegen.stores.keeping import keeping

pytestmark = pytest.mark.usefixtures("own_cache")


class Reading(NamedTuple):
    room: str
    heat: float
    at: int


class Summary(NamedTuple):
    room: str
    n: int
    mean: float
    highest: float
    spread: float
    heats: int


READINGS = [Reading("hall", 1.5, 1), Reading("", 2.0, 1), Reading("hall", 3.0, 2), Reading("attic", 4.0, 5)]


def windows(window: Any) -> Comparison:
    stream = ab.from_items(Reading, READINGS).window(window, key="room")
    summaries = stream.aggregate(
        Summary, n=ab.count(), mean=ab.mean("heat"), highest=ab.max_("heat"), spread=ab.std("heat"),
        heats=ab.count_distinct("heat"),
    )  # fmt: skip
    return Comparison(summaries.collect("out"))


def stores(comparison: Comparison, count: int) -> list[Store]:
    """Of both forms, behind so many tuples."""
    found = []
    for element in (python_form(comparison.part), comparison.element()):
        element.process(comparison.batch(comparison.items()[:count]))
        found.append(element.stores()["aggregate"])
    return found


def test_a_store_of_windows_by_time() -> None:
    comparison = windows(ab.tumbling(delta=4, on="at"))
    python, native = stores(comparison, 3)
    hall = ("hall",), (2,), (4.5, 2), (3.0,), (2, 2.25, 1.125, 1.0), ({1.5, 3.0},)
    attic = ("",), (1,), (2.0, 1), (2.0,), (1, 2.0, 0.0, 1.0), ({2.0},)
    assert python.tables == {
        "windows": (Record("hall", (1, *hall)), Record("", (1, *attic))),
        "clocks": (Record(None, (0, None)),),
    }
    assert native == python
    after = stores(comparison, 4)
    assert [each.table("clocks") for each in after] == [(Record(None, (1, None)),)] * 2
    assert [[record.key for record in each.table("windows")] for each in after] == [["attic"]] * 2
    assert str(python.schema) == (
        "aggregate keeps tumbling windows by room: end: int, room: any_(room) of str, n: count(), mean: mean(heat) of "
        "float, highest: max_(heat) of float, spread: std(heat) of float, heats: count_distinct(heat) of float, "
        "reached: int | None, has_zone: bool | None"
    )


def test_a_store_of_windows_by_count() -> None:
    python, native = stores(windows(ab.tumbling(count=3)), 4)
    assert [(record.key, record.values[0], record.values[3]) for record in python.table("windows")] == [
        ("hall", 2, (4.5, 2)),
        ("", 1, (2.0, 1)),
        ("attic", 1, (4.0, 1)),
    ]
    assert native == python


def test_ends_of_inputs_are_kept() -> None:
    comparison = windows(ab.tumbling(count=3))
    assert [each.ended_inputs for each in stores(comparison, 4)] == [0, 0]
    assert [each.ended_inputs for each in stores(comparison, 5)] == [1, 1]


SCHEMAS = {
    "connect": "Both keeps a Both by phone: calls: any object, largest: float | None",
    "join by time": "join keeps tuples that may be met by phone: number: int, tuple.phone: int",
    "sort": "sort keeps tuples in their order: tuple.phone: int, tuple.area: str | None",
    "barrier": "barrier keeps tuples that wait: input: int, tuple.phone: int",
    "distinct in the last seconds": "distinct keeps what was seen by phone: times: int, time: datetime",
    "feedback": "feedback keeps a loop: entered: int, open_inputs: int, is_closed: bool",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_of_what_only_python_keeps(name: str) -> None:
    comparison = Comparison(keeping(name, 0))
    found = [str(schema_of(comparison.part.operator(each))) for each in comparison.part.operators]
    assert SCHEMAS[name] in " ".join(found)
