"""What an operator keeps depends on its own code only, and its schema says what that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.native.assemble import Assembled, assemble
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.stores.schema import schema_of
from anabranch.run import as_program


class Call(NamedTuple):
    phone: int
    area: str
    at: float


class Visit(NamedTuple):
    phone: int
    before: str
    hours: float


class Latest:
    """Nothing reads `last.phone`; `last.area` is only emitted."""

    def __init__(self) -> None:
        self.last: Call | None = None
        self.count = 0

    def process(self, call: Call) -> Iterator[Visit]:
        self.count += 1
        if self.last is not None and self.count > 2:
            yield Visit(call.phone, self.last.area, (call.at - self.last.at) / 3600)
        self.last = call


class Total(NamedTuple):
    n: int


def program() -> Any:
    """What follows reads neither `before` nor `phone`."""
    return (
        ab.from_items(Call, [])
        .filter(lambda call: call.area != "")
        .process(Latest, key="phone")
        .filter(lambda visit: visit.hours > 1.0)
        .window(ab.tumbling(count=7))
        .aggregate(Total, n=ab.count())
        .collect("out")
    )


def inside(sink: Any) -> Part:
    graph = as_program(sink).graph
    return part_of(graph, tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink))


def kept(assembled: Assembled) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The words of each operator: their paths and kinds."""
    return {name: [(word.path, word.kind) for word in each.words] for name, each in assembled.records.items()}


def grouped(stream: Any) -> Any:
    window = ab.sliding(seconds=9, slide=4, on="at")
    return stream.window(window, key="phone").aggregate(Total, group_by="area", n=ab.count())


@pytest.mark.parametrize(
    "made", [program, lambda: grouped(ab.from_items(Call, [])).filter(lambda t: t.n > 3).collect("out")]
)
def test_what_is_kept_does_not_depend_on_neighbours(made: Callable[[], Any]) -> None:
    part = inside(made())
    together = assemble(part)
    owners = dict.fromkeys(each.windows_of or name for name, each in together.records.items())
    alone = [assemble(part_of(part.graph, (name,))) for name in owners]
    assert {name: words for each in alone for name, words in kept(each).items()} == kept(together)


def test_what_an_operator_emits_it_reads() -> None:
    words = kept(assemble(inside(program())))["Latest"]
    assert (("last", "area"), "str") in words
    assert (("last", "phone"), "int") not in words


def test_the_schema_lists_what_native_code_does_not_keep() -> None:
    part = inside(program())
    operator = part.operator("Latest")
    found = schema_of(operator, [path for path, _ in kept(assemble(part))["Latest"]])
    assert str(found) == (
        "Latest keeps a Latest by phone: last.area: str | None, last.at: float | None, count: int; "
        "nothing in it reads last.phone"
    )
    whole = schema_of(operator)
    assert whole is not None
    assert not whole.not_kept
    assert f"# {found}\n" in assemble(part).source


def test_the_schema_says_how_windows_and_tuples_that_wait_are_kept() -> None:
    stream = ab.from_items(Call, []).window(ab.tumbling(count=3), key=["area", "phone"])
    window = inside(stream.aggregate(Total, n=ab.count()).sort("n", count=9).collect("out"))
    assert [str(schema_of(window.operator(name))) for name in window.operators] == [
        "aggregate keeps tumbling windows by area, phone: tuples: int, n: count()",
        "sort keeps tuples in their order: tuple.n: int, zones: any object",
    ]


def test_an_operator_without_state_has_no_store() -> None:
    part = inside(program())
    assert schema_of(part.operator("filter")) is None
