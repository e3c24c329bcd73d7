"""A part is cut where that lets more of it be native: around what cannot be, and before what is reached repeatedly."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_pe, staged
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import Stopped
from anabranch.codegen.segments import decide, stages_of
from anabranch.codegen.stages import cut_into
from anabranch.errors import BuildError, RunError
from anabranch.run import as_program


class Line(NamedTuple):
    text: str


class Order(NamedTuple):
    shop: int
    price: float
    ts: float


class Sum(NamedTuple):
    shop: int
    total: float
    n: int


class Largest(NamedTuple):
    shop: int
    largest: float


def parse(line: Line) -> Order:
    return Order(**json.loads(line.text))


def program(lines: list[Line]) -> ab.Sink:
    return (
        ab.from_items(Line, lines)
        .map(parse)
        .filter(lambda order: order.price > 1.0)
        .window(ab.tumbling(seconds=5, on="ts"), key="shop")
        .aggregate(Sum, total=ab.sum_("price"), n=ab.count())
        .window(ab.tumbling(count=3), key="shop")
        .aggregate(Largest, largest=ab.max_("total"))
        .collect("out")
    )


def lines(count: int) -> list[Line]:
    orders = [{"shop": number % 4, "price": float(number % 7), "ts": number * 0.4} for number in range(count)]
    return [Line(json.dumps(order)) for order in orders]


def part_of_program(sink: ab.Sink) -> Part:
    graph = as_program(sink).graph
    return part_of(graph, tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink))


def test_the_rest_is_native_behind_an_operator_that_cannot_be() -> None:
    forms = [(stage.form, stage.part.operators) for stage in stages_of(part_of_program(program([])))]
    assert forms == [
        ("python", ("parse",)),
        ("native", ("filter", "aggregate")),
        ("native", ("aggregate_2",)),
    ]


def test_what_is_native_throughout_stays_so_in_however_many_stages() -> None:
    def twice(orders: list[Order]) -> ab.Sink:
        sums = ab.from_items(Order, orders).window(ab.tumbling(seconds=5, on="ts"), key="shop")
        totals = sums.aggregate(Sum, total=ab.sum_("price"), n=ab.count())
        return (
            totals.window(ab.tumbling(count=3), key="shop").aggregate(Largest, largest=ab.max_("total")).collect("out")
        )

    assert [stage.form for stage in decide(part_of_program(twice([])))] == ["native", "native"]


def test_native_code_hands_a_loop_one_tuple_at_most_for_each_that_comes() -> None:
    def around(loop: ab.Stream[Order]) -> tuple[ab.Stream[Order], ab.Stream[Order]]:
        return loop, loop.filter(lambda order: order.price < 1.0)

    source = ab.from_items(Order, []).filter(lambda order: order.price > 0.0)
    several = source.flat_map(lambda order: [order, order], out=Order)
    for stream, found in (
        (source, [("native", ("filter",)), ("python", ("feedback", "filter_2"))]),
        (several, [("python", ("filter", "flat_map", "feedback", "filter_2"))]),
    ):
        stages = stages_of(part_of_program(stream.feedback(around).collect("out")))
        assert [(stage.form, stage.part.operators) for stage in stages] == found


def test_a_part_is_not_cut_where_a_loop_would_take_other_turns() -> None:
    loop = (
        ab.from_items(Line, []).flat_map(lambda line: [line, line], out=Line).feedback(lambda around: (around, around))
    )
    part = part_of_program(loop.collect("out"))
    with pytest.raises(BuildError, match="flat_map cannot be cut off from what is behind"):
        cut_into(part, [("flat_map",), part.operators[1:]])


def test_the_reason_names_the_call_and_its_line() -> None:
    first = decide(part_of_program(program([])))[0]
    assert str(first).startswith("Python form: `parse` calls json.loads (")
    assert first.why is not None
    assert first.why.location is not None
    assert first.why.location.line == parse.__code__.co_firstlineno + 1


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_stages_give_what_the_oracle_gives(size: int) -> None:
    items = lines(300)
    part = part_of_program(program([]))
    element = staged(part)
    assert element.form == "python and native"
    found = []
    for start in range(0, len(items), size):
        chunk = Chunk.of_rows(part.schema(part.inputs[0]), items[start : start + size], is_last=start + size >= 300)
        found += element.process(Batch((chunk,)))[0].rows
    expected = ab.run(program(items))
    assert found == expected.items("out")
    assert element.metrics == {name: expected.metrics[name] for name in part.operators}


def test_an_error_in_a_stage_comes_after_what_was_before_it_in_the_order() -> None:
    items = [*lines(200), Line("{"), *lines(50)]
    with pytest.raises(RunError) as expected:
        ab.run(program(items))
    part = part_of_program(program([]))
    with pytest.raises(Stopped) as stopped:
        staged(part).process(Batch((Chunk.of_rows(part.schema(part.inputs[0]), items),)))
    assert str(stopped.value.error) == str(expected.value)
    assert stopped.value.outputs[0].rows == expected.value.result.items("out")  # type: ignore[attr-defined]
    assert stopped.value.begun == 201


def test_stages_are_saved_and_restored_together() -> None:
    items = lines(300)
    part = part_of_program(program([]))
    element = staged(part, tracks_changes=True)
    schema = part.schema(part.inputs[0])
    found = list(element.process(Batch((Chunk.of_rows(schema, items[:150]),)))[0].rows)
    other = staged(part, tracks_changes=True)
    other.restore(element.save())
    found += other.process(Batch((Chunk.of_rows(schema, items[150:], is_last=True),)))[0].rows
    assert found == ab.run(program(items)).items("out")


def test_native_can_be_insisted_on() -> None:
    with pytest.raises(ab.UsageError, match=r"cannot be had: `parse` calls json\.loads"):
        build_pe(part_of_program(program([])), "native")


SHARED = {"orders": 0}


def noted(order: Order) -> Order:
    SHARED["orders"] += 1
    return order


def shared(order: Order) -> Order:
    return order._replace(ts=float(SHARED["orders"]))


def test_operators_that_share_something_are_not_cut_apart() -> None:
    def sharing(items: list[Line]) -> ab.Sink:
        orders = ab.from_items(Line, items).map(parse).map(shared)
        return orders.filter(lambda order: order.price > 1.0).map(noted).collect("out")

    SHARED["orders"] = 0
    part = part_of_program(sharing([]))
    found = staged(part).process(Batch((Chunk.of_rows(part.schema(part.inputs[0]), lines(50)),)))[0].rows
    SHARED["orders"] = 0
    assert found == ab.run(sharing(lines(50))).items("out")


def test_an_error_behind_a_window_that_closes_at_the_end_was_begun_by_the_end() -> None:
    def fails_at_the_end(total: Sum) -> Sum:
        json.dumps(total)
        return total if total.n == 9 else total._replace(n=1 // 0)

    orders = [Order(1, 1.0, 0.0)] * 40
    window = ab.from_items(Order, orders).window(ab.tumbling(count=9))
    sink = window.aggregate(Sum, shop=ab.first("shop"), total=ab.sum_("price"), n=ab.count()).map(fails_at_the_end)
    part = part_of_program(sink.collect("out"))
    element = staged(part)
    assert element.form == "native and python"
    schema = part.schema(part.inputs[0])
    element.process(Batch((Chunk.of_rows(schema, orders[:35]),)))
    with pytest.raises(Stopped) as stopped:
        element.process(Batch((Chunk.of_rows(schema, orders[35:], is_last=True),)))
    assert stopped.value.begun == 6  # five tuples, and the end
