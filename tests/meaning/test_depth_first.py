"""The law: "Take the next source tuple; run it depth-first through the graph to completion (an operator's outputs go
downstream in the order it emits them; at a fan-out, consumers in the order they were connected); take the next."
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import anabranch as ab
from tests.tracing import Trace


class Item(NamedTuple):
    text: str


def items(*texts: str) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(text) for text in texts])


def append(suffix: str):
    def appended(item: Item) -> Item:
        return Item(item.text + suffix)

    return appended


def texts(result: ab.Result, name: str = "out") -> list[str]:
    return [item.text for item in result.items(name)]


def test_a_tuple_runs_to_completion_before_the_next_is_taken() -> None:
    trace = Trace()

    def source() -> Iterator[Item]:
        for text in "ab":
            trace.lines.append(f"take {text}")
            yield Item(text)

    def noted(name: str):
        def note(item: Item) -> Item:
            trace.lines.append(f"{name} {item.text}")
            return item

        return note

    ab.run(ab.generate(Item, source).map(noted("first")).map(noted("second")).collect("out"))
    assert trace.lines == ["take a", "first a", "second a", "take b", "first b", "second b"]


def test_every_output_goes_all_the_way_down_before_the_next_is_made() -> None:
    trace = Trace()

    def two(item: Item) -> Iterator[Item]:
        for number in "12":
            trace.lines.append(f"make {item.text}{number}")
            yield Item(item.text + number)

    ab.run(items("a").flat_map(two).flat_map(two).for_each(trace("got")))
    assert trace.lines == [
        "make a1",
        "make a11", "got 'a11'",
        "make a12", "got 'a12'",
        "make a2",
        "make a21", "got 'a21'",
        "make a22", "got 'a22'",
    ]  # fmt: skip


def test_at_a_fan_out_consumers_come_in_the_order_they_were_connected() -> None:
    trace = Trace()
    source = items("a", "b")
    third = source.for_each(trace("first connected"))
    first = source.for_each(trace("second connected"))
    second = source.for_each(trace("third connected"))
    ab.run(first, second, third)  # the order in which sinks are named does not matter
    assert trace.lines == [
        "first connected 'a'", "second connected 'a'", "third connected 'a'",
        "first connected 'b'", "second connected 'b'", "third connected 'b'",
    ]  # fmt: skip


def test_branches_that_meet_again_keep_the_order_of_connection_not_of_the_arguments() -> None:
    source = items("x", "y")
    b = source.map(append("b"))
    c = source.map(append("c"))
    assert texts(ab.run(c.union(b).collect("out"))) == ["xb", "xc", "yb", "yc"]


def test_a_stream_that_meets_its_own_branch_comes_after_it_if_it_was_connected_after_it() -> None:
    source = items("x", "y")
    branch = source.map(append("b"))  # source -> branch is connected first
    assert texts(ab.run(source.union(branch).collect("out"))) == ["xb", "x", "yb", "y"]


def test_a_stream_joined_with_itself_arrives_twice() -> None:
    source = items("x", "y")
    assert texts(ab.run(source.union(source).collect("out"))) == ["x", "x", "y", "y"]


def test_all_outputs_of_one_branch_come_before_those_of_the_next() -> None:
    def thrice(item: Item) -> list[Item]:
        return [Item(item.text + number) for number in "123"]

    source = items("a", "b")
    many = source.flat_map(thrice)
    one = source.map(append("!"))
    assert texts(ab.run(many.union(one).collect("out"))) == ["a1", "a2", "a3", "a!", "b1", "b2", "b3", "b!"]


def test_named_outputs_go_downstream_in_the_order_of_emission() -> None:
    class Weave:
        def process(self, item: Item) -> Iterator[Item | ab.To]:
            yield ab.to("right", Item(item.text + "1"))
            yield Item(item.text + "2")
            yield ab.to("left", Item(item.text + "3"))
            yield ab.to("right", Item(item.text + "4"))

    woven = items("a", "b").process(Weave, outputs={"left": Item, "right": Item})
    met = woven.union(woven.outputs.left, woven.outputs.right)
    assert texts(ab.run(met.collect("out"))) == ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"]


def test_nested_fan_outs_are_ordered_by_the_path_that_led_there() -> None:
    source = items("x")
    left, right = source.map(append("l")), source.map(append("r"))
    left_a, left_b = left.map(append("a")), left.map(append("b"))
    right_a = right.map(append("a"))
    met = right_a.union(left_b, left_a, right, left)
    # x -> left, then right. left -> a, b, then the union itself; right -> a, then the union itself.
    assert texts(ab.run(met.collect("out"))) == ["xla", "xlb", "xl", "xra", "xr"]


def test_a_chain_of_two_thousand_operators_is_no_problem() -> None:
    class Ends:
        """Passes everything on, and one tuple more at the end."""

        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> Item:
            return Item("end")

    stream = items("a").process(Ends)
    assert sys.getrecursionlimit() <= 2000
    for _ in range(2000):
        stream = stream.map(lambda item: item, out=Item)
    assert texts(ab.run(stream.collect("out"))) == ["a", "end"]


def test_two_thousand_operators_that_all_finish_are_no_problem() -> None:
    order: list[int] = []

    class Finishes:
        def __init__(self, number: int) -> None:
            self.number = number

        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> None:
            order.append(self.number)

    stream = items("a")
    for number in range(2000):
        stream = stream.process(partial(Finishes, number))
    assert texts(ab.run(stream.collect("out"))) == ["a"]
    assert order == list(range(2000))


def test_a_fan_out_of_two_thousand_branches_is_no_problem() -> None:
    source = items("a", "b")
    branches = [source.map(append(str(n))) for n in range(2000)]
    out = texts(ab.run(branches[0].union(*branches[1:]).collect("out")))
    assert out == [text + str(n) for text in "ab" for n in range(2000)]
