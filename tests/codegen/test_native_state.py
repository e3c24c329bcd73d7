"""The state of native processing elements: saved and restored, whole and by changes, and handed to the Python form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_pe, staged
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.native.saving import WrongState
from anabranch.codegen.part import Part, part_of
from anabranch.run import as_program


class Sale(NamedTuple):
    shop: str
    product: int
    price: float
    ts: float


class Total(NamedTuple):
    shop: str
    product: int
    paid: float
    number: int


class Summary(NamedTuple):
    shop: str
    number: int
    last: int


class Totals:
    def __init__(self) -> None:
        self.paid = 0.0
        self.number = 0
        self.last: Sale | None = None

    def process(self, sale: Sale) -> Iterator[Total]:
        self.number += 1
        if self.last is not None and self.last.price != sale.price:
            self.paid += sale.price
            yield Total(sale.shop, sale.product, self.paid, self.number)
        self.last = sale


def sales(count: int) -> list[Sale]:
    return [
        Sale(f"shop {number * 7 % 11}", number * 13 % 5, float(number * 3 % 8), number * 0.7) for number in range(count)
    ]


def part_of_program(sink: ab.Sink) -> Part:
    graph = as_program(sink).graph
    return part_of(graph, tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink))


def totals_of(items: list[Sale]) -> ab.Sink:
    return ab.from_items(Sale, items).process(Totals, key=["shop", "product"]).collect("out")


def summaries_of(items: list[Sale]) -> ab.Sink:
    return (
        ab.from_items(Sale, items)
        .window(ab.tumbling(seconds=9, on="ts"), key="shop")
        .aggregate(Summary, number=ab.count(), last=ab.last("product"))
        .collect("out")
    )


PROGRAMS = [totals_of, summaries_of]


def batch_of(part: Part, items: list[Sale], *, is_last: bool = False) -> Batch:
    return Batch((Chunk.of_rows(part.schema(part.inputs[0]), items, is_last=is_last),))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_restored_element_goes_on_where_the_saved_one_was(program: object) -> None:
    items = sales(400)
    expected = ab.run(program(items)).items("out")  # type: ignore[operator]
    part = part_of_program(program([]))  # type: ignore[operator]
    element = build_pe(part, "native", tracks_changes=True)
    found = list(element.process(batch_of(part, items[:100]))[0].rows)
    whole = element.save()
    changes = []
    for start in (100, 200):
        found += element.process(batch_of(part, items[start : start + 100]))[0].rows
        changes.append(element.save_changes())
    other = build_pe(part, "native", tracks_changes=True)
    other.restore(whole, changes)
    found += other.process(batch_of(part, items[300:], is_last=True))[0].rows
    assert found == expected
    assert other.form == "native"


def test_a_save_of_changes_holds_only_what_changed() -> None:
    part = part_of_program(totals_of([]))
    element = build_pe(part, "native", tracks_changes=True)
    element.process(batch_of(part, [Sale(f"shop {number}", 0, 1.0, 0.0) for number in range(5_000)]))
    whole = element.save()
    element.process(batch_of(part, [Sale("shop 7", 0, 2.0, 0.0)]))
    assert len(element.save_changes()) < len(whole) / 100


def test_the_state_of_a_program_whose_lines_have_moved_is_taken() -> None:
    """Comments in generated code name the lines of the program."""
    one = build_pe(part_of_program(ab.from_items(Sale, []).process(Totals, key="shop").collect("out")), "native")
    moved = part_of_program(ab.from_items(Sale, []).process(Totals, key="shop").collect("out"))
    element = build_pe(moved, "native")
    assert (one.form, element.form) == ("native", "native")
    assert one.source != element.source  # type: ignore[attr-defined]
    one.process(batch_of(moved, sales(50)))
    element.restore(one.save())
    assert element.process(batch_of(moved, sales(9)))[0].rows == one.process(batch_of(moved, sales(9)))[0].rows


def test_the_state_of_another_program_is_refused() -> None:
    one, other = part_of_program(totals_of([])), part_of_program(summaries_of([]))
    saved = build_pe(one, "native").save()
    with pytest.raises(WrongState, match="another processing element"):
        build_pe(other, "native").restore(saved)


def test_a_save_of_changes_cannot_come_first() -> None:
    part = part_of_program(totals_of([]))
    element = build_pe(part, "native", tracks_changes=True)
    with pytest.raises(WrongState, match="must be a whole one"):
        element.restore(element.save_changes())


def test_strings_that_no_state_holds_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch.codegen.native import state

    class Latest:
        def __init__(self) -> None:
            self.shop = ""

        def process(self, sale: Sale) -> Iterator[Total]:
            if sale.shop != self.shop:
                yield Total(self.shop, sale.product, 0.0, 0)
            self.shop = sale.shop

    def latest_of(items: list[Sale]) -> ab.Sink:
        return ab.from_items(Sale, items).process(Latest, key="product").collect("out")

    monkeypatch.setattr(state, "_FORGET_AFTER", 100)
    items = [Sale(f"shop {number}", number % 3, 0.0, 0.0) for number in range(2_000)]
    part = part_of_program(latest_of([]))
    element = build_pe(part, "native")
    found = []
    for start in range(0, len(items), 50):
        found += element.process(batch_of(part, items[start : start + 50]))[0].rows
    assert found == ab.run(latest_of(items)).items("out")
    assert element.state.pool.count < 400  # type: ignore[attr-defined]


class Numbered(NamedTuple):
    number: int


def up_to(total: Numbered) -> Iterator[Numbered]:
    for number in range(total.number):
        yield Numbered(number)


def test_what_is_made_of_a_window_that_closes_has_room_however_much_it_is() -> None:
    def program(items: list[Sale]) -> ab.Sink:
        marked = ab.from_items(Sale, items).punctuate(lambda sale: sale.product % 700 == 699)
        counted = marked.window(ab.punctuated()).aggregate(Numbered, number=ab.count())
        return counted.flat_map(up_to).collect("out")

    part = part_of(graph := as_program(program([])).graph, tuple(each.id for each in graph.operators[1:-1]))
    element = staged(part)
    items = [Sale("a", number, 1.0, 0.0) for number in range(3000)]
    found = element.process(Batch((Chunk.of_rows(part.schema(part.inputs[0]), items, is_last=True),)))[0].rows
    assert "native" in element.form
    assert found == ab.run(program(items)).items("out")
