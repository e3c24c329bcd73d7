"""What native code did not keep is never taken for a zero: stores say so, whoever goes on with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.python import python_form
from anabranch.codegen.stores.store import NotKept, Store, WrongStore
from anabranch.run import as_program
from tests.codegen.by_batches import part_of_program
from tests.codegen.comparing import Comparison

pytestmark = pytest.mark.usefixtures("own_cache")


class Call(NamedTuple):
    phone: int
    area: str
    at: float


class Visit(NamedTuple):
    phone: int
    before: str
    hours: float


class Latest:
    """Nothing reads `last.phone`."""

    def __init__(self) -> None:
        self.last: Call | None = None
        self.count = 0

    def process(self, call: Call) -> Iterator[Visit]:
        self.count += 1
        if self.last is not None:
            yield Visit(call.phone, self.last.area, call.at - self.last.at)
        self.last = call


class Reading(Latest):
    """The same fields, and another reader of them."""

    def process(self, call: Call) -> Iterator[Visit]:
        self.count += 1
        if self.last is not None:
            yield Visit(self.last.phone, self.last.area, call.at - self.last.at)
        self.last = call


class Named(Latest):
    def __init__(self) -> None:
        self.last: Call | None = None
        self.count = "none"

    def process(self, call: Call) -> Iterator[Visit]:  # type: ignore[override]  # of another type
        self.count += "!"
        if self.last is not None:
            yield Visit(call.phone, self.last.area, call.at - self.last.at)
        self.last = call


CALLS = [Call(number % 3, f"area {number}", number / 2) for number in range(9)]


def sink(operator: type[Any] = Latest) -> Any:
    return ab.from_items(Call, CALLS).process(operator, key="area", out=Visit).named("latest").collect("out")


def from_native() -> tuple[Comparison, Store]:
    """What native code keeps behind a few tuples."""
    comparison = Comparison(sink())
    element = comparison.element()
    element.process(comparison.batch(comparison.items()[:4]))
    assert element.form == "native"
    return comparison, element.stores()["latest"]


def kept(element: ProcessingElement) -> list[str]:
    return [repr(record.values) for record in element.stores()["latest"].table("instances")]


def test_a_store_shows_what_is_not_kept() -> None:
    comparison, store = from_native()
    assert store.schema is not None
    assert [str(each) for each in store.schema.not_kept] == ["last.phone"]
    first = store.table("instances")[0]
    assert first.key == "area 0"
    assert repr(first.values) == "(Call(phone=<not kept>, area='area 0', at=0.0), 1)"
    assert first.values[0].phone == NotKept("int | None")
    # It goes on with zeros in their place, natively and in Python, and still says what was not kept.
    for element in (comparison.element(), python_form(comparison.part)):
        element.take_stores({"latest": store})
        assert kept(element) == [repr(record.values) for record in store.table("instances")]


def test_a_save_of_the_python_form_says_what_native_code_did_not_keep() -> None:
    comparison, store = from_native()
    element, other = python_form(comparison.part), python_form(comparison.part)
    element.take_stores({"latest": store})
    other.restore(element.save())
    assert kept(other) == kept(element)
    assert "<not kept>" in kept(other)[0]


def test_code_that_reads_it_does_not_take_the_store() -> None:
    _, store = from_native()
    reading = python_form(part_of_program(as_program(sink(Reading)).graph))
    with pytest.raises(WrongStore, match=r"'latest' reads 'last\.phone' now, which was not kept"):
        reading.take_stores({"latest": store})
    whole = python_form(part_of_program(as_program(sink()).graph))
    reading.take_stores(whole.stores())  # of the Python form, which keeps everything


def test_a_store_of_other_types_is_refused() -> None:
    store = python_form(part_of_program(as_program(sink()).graph)).stores()["latest"]
    named = python_form(part_of_program(as_program(sink(Named)).graph))
    with pytest.raises(
        WrongStore, match=r"the store of 'latest' has int as 'instances\.count', where there is str now"
    ):
        named.take_stores({"latest": store})
    assert store.schema is not None
    later = replace(store, schema=replace(store.schema, format=99))
    with pytest.raises(WrongStore, match="has format 99"):
        named.take_stores({"latest": later})
