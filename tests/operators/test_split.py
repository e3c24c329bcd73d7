"""`split`: every tuple goes to at most one of several named streams."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import anabranch as ab
from tests.tracing import Trace


class Item(NamedTuple):
    n: int


def items(*ns: int) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n) for n in ns])


def ns(result: ab.Result, name: str) -> list[int]:
    return [item.n for item in result.items(name)]


def test_by_predicates_a_tuple_goes_to_the_first_that_holds() -> None:
    parts = items(1, 12, 123, 0).split({"large": lambda i: i.n > 99, "some": lambda i: i.n > 9, "rest": lambda i: i.n})
    result = ab.run(parts.large.collect("large"), parts.some.collect("some"), parts.rest.collect("rest"))
    assert (ns(result, "large"), ns(result, "some"), ns(result, "rest")) == ([123], [12], [1])


def test_predicates_after_the_first_that_holds_are_not_asked() -> None:
    asked = []
    parts = items(1).split({"yes": lambda i: True, "unasked": lambda i: asked.append(i)})
    ab.run(parts.yes.collect("yes"), parts.unasked.collect("unasked"))
    assert asked == []


def test_by_a_function_that_names_the_stream() -> None:
    parts = items(1, 2, 3).split(lambda i: "odd" if i.n % 2 else "even", ["even", "odd"])
    result = ab.run(parts.even.collect("even"), parts.odd.collect("odd"))
    assert (ns(result, "even"), ns(result, "odd")) == ([2], [1, 3])


def test_none_drops_the_tuple() -> None:
    parts = items(1, 2, 3).split(lambda i: "odd" if i.n % 2 else None, ["odd"])
    assert ns(ab.run(parts.odd.collect("odd")), "odd") == [1, 3]


def test_an_unknown_name_is_an_error() -> None:
    parts = items(1).split(lambda i: "other", ["one", "two"])
    with pytest.raises(ab.OperatorError, match=r"'other'.* one, two"):
        ab.run(parts.one.collect("out"))


def test_streams_are_found_by_attribute_by_name_and_in_order() -> None:
    parts = items(1, 2).split({"a": lambda i: i.n == 1, "b": lambda i: True})
    a, b = parts
    assert len(parts) == 2
    result = ab.run(a.union(parts.a, parts["a"]).collect("a"), b.collect("b"))
    assert (ns(result, "a"), ns(result, "b")) == ([1, 1, 1], [2])


def test_streams_that_meet_again_are_in_the_order_of_the_source() -> None:
    parts = items(1, 2, 3, 4).split({"even": lambda i: i.n % 2 == 0, "odd": lambda i: True})
    assert ns(ab.run(parts.even.union(parts.odd).collect("out")), "out") == [1, 2, 3, 4]


def test_a_stream_nobody_takes_is_dropped() -> None:
    parts = items(1, 2).split({"even": lambda i: i.n % 2 == 0, "odd": lambda i: True})
    assert ns(ab.run(parts.even.collect("out")), "out") == [2]


def test_punctuations_go_to_every_stream() -> None:
    class Ns(NamedTuple):
        ns: list[int]

    trace = Trace()
    parts = items(1, 2, 3, 4, 5).punctuate(count=2).split({"even": lambda i: i.n % 2 == 0, "odd": lambda i: True})
    sinks = [
        part.window(ab.punctuated()).aggregate(Ns, ns=ab.collect("n")).for_each(trace(name))
        for name, part in (("even", parts.even), ("odd", parts.odd))
    ]
    ab.run(*sinks)
    assert trace.lines == ["even [2]", "odd [1]", "even [4]", "odd [3]", "odd [5]"]
