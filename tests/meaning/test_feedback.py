"""The row "feedback": "a feedback tuple waits until the current traversal has finished and is processed before the next
source tuple, first in first out; feedback from `finish` or `punctuation` likewise."
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import anabranch as ab
from tests.tracing import Trace


class Item(NamedTuple):
    text: str
    left: int  # how often it may still come around


def items(*pairs: tuple[str, int]) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(*pair) for pair in pairs])


Loop = ab.Stream[Item]
Ways = tuple[Loop, Loop]


def texts(result: ab.Result, name: str = "out") -> list[str]:
    return [item.text for item in result.items(name)]


class Fork:
    """Shows every tuple, and sends two children of it around while there is something left."""

    def process(self, item: Item) -> Iterator[Item | ab.To]:
        if item.left:
            yield ab.to("back", Item(item.text + "0", item.left - 1))
            yield ab.to("back", Item(item.text + "1", item.left - 1))
        yield item


def forking(loop: Loop) -> Ways:
    forked = loop.process(Fork, outputs={"back": Item})
    return forked, forked.outputs.back


def test_what_is_fed_back_first_is_processed_first() -> None:
    out = ab.run(items(("x", 2)).feedback(forking).collect("out"))
    assert texts(out) == ["x", "x0", "x1", "x00", "x01", "x10", "x11"]


def test_what_is_fed_back_comes_before_the_next_source_tuple() -> None:
    out = ab.run(items(("x", 1), ("y", 2), ("z", 0)).feedback(forking).collect("out"))
    assert texts(out) == ["x", "x0", "x1", "y", "y0", "y1", "y00", "y01", "y10", "y11", "z"]


def test_it_comes_before_the_next_tuple_of_any_source_and_before_any_end() -> None:
    trace = Trace()

    class Ends:
        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> Item:
            return Item("end", 0)

    one = items(("x", 1))
    other = items(("y", 0)).process(Ends)
    ab.run(one.feedback(forking).for_each(trace("loop")), other.for_each(trace("other")))
    assert trace.lines == ["loop 'x' 1", "loop 'x0' 0", "loop 'x1' 0", "other 'y' 0", "other 'end' 0"]


def test_it_waits_until_the_whole_current_traversal_has_finished() -> None:
    trace = Trace()

    def body(loop: Loop) -> Ways:
        back = loop.filter(lambda item: item.left > 0).map(lambda i: Item(i.text + "'", i.left - 1), out=Item)
        return loop.map(lambda item: item, out=Item), back

    source = items(("x", 1))
    onward = source.feedback(body)
    first, second = onward.for_each(trace("first")), onward.for_each(trace("second"))
    beside = source.for_each(trace("beside the loop"))
    ab.run(first, second, beside)
    assert trace.lines == [
        "first 'x' 1", "second 'x' 1", "beside the loop 'x' 1",
        "first \"x'\" 0", "second \"x'\" 0",
    ]  # fmt: skip


def test_the_output_of_a_loop_feeds_the_rest_of_the_program_depth_first() -> None:
    doubled = items(("x", 1)).feedback(forking).flat_map(lambda i: [i, i._replace(text=i.text + "!")], out=Item)
    assert texts(ab.run(doubled.collect("out"))) == ["x", "x!", "x0", "x0!", "x1", "x1!"]


# From finish and punctuation ---------------------------------------------------------------------------------------


class Parting:
    """Feeds one tuple back when it finishes; what then still comes is passed on."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def process(self, item: Item) -> Item:
        self.seen.append(item.text)
        return item

    def finish(self) -> Iterator[Item | ab.To]:
        yield ab.to("back", Item("again " + "+".join(self.seen), 0))
        yield Item("finished", 0)


def test_what_finish_feeds_back_is_processed_after_it_and_before_the_end_leaves_the_loop() -> None:
    def body(loop: Loop) -> Ways:
        parting = loop.process(Parting, outputs={"back": Item})
        return parting, parting.outputs.back

    class After:
        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> Item:
            return Item("after", 0)

    out = items(("x", 0), ("y", 0)).feedback(body).process(After)
    assert texts(ab.run(out.collect("out"))) == ["x", "y", "finished", "again x+y", "after"]


def test_what_a_punctuation_feeds_back_waits_for_the_rest_of_the_traversal() -> None:
    trace = Trace()

    class Sum:
        def __init__(self) -> None:
            self.texts: list[str] = []

        def process(self, item: Item) -> Item:
            self.texts.append(item.text)
            return item

        def punctuation(self) -> Iterator[Item | ab.To]:
            yield ab.to("back", Item("sum " + "".join(self.texts), 0))
            yield Item("punctuation", 0)
            self.texts = []

    def body(loop: Loop) -> Ways:
        summed = loop.process(Sum, outputs={"back": Item})
        return summed, summed.outputs.back

    source = items(("a", 0), ("b", 0), ("c", 0)).punctuate(count=2)
    onward = source.feedback(body)
    ab.run(onward.for_each(trace("loop")), source.for_each(trace("beside")))
    assert trace.lines == [
        "loop 'a' 0", "beside 'a' 0",
        "loop 'b' 0", "beside 'b' 0", "loop 'punctuation' 0", "loop 'sum ab' 0",
        "loop 'c' 0", "beside 'c' 0",
    ]  # fmt: skip


# Rounds ------------------------------------------------------------------------------------------------------------


class Halve:
    """In every round, collects; when it closes, shows the round and sends back what can be halved."""

    def __init__(self) -> None:
        self.round = 0
        self.held: list[int] = []

    def process(self, item: Item) -> None:
        self.held.append(item.left)

    def punctuation(self) -> Iterator[Item | ab.To]:
        self.round += 1
        yield Item(f"round {self.round}: {self.held}", 0)
        for number in self.held:
            if number > 1:
                yield ab.to("back", Item("", number // 2))
        self.held = []

    def finish(self) -> Item:
        return Item(f"end with {self.held}", 0)


def halving(loop: Loop) -> Ways:
    halved = loop.process(Halve, outputs={"back": Item})
    return halved, halved.outputs.back


def test_the_end_of_the_input_closes_the_first_round_and_an_empty_round_ends_the_loop() -> None:
    out = ab.run(items(("", 9), ("", 2)).feedback(halving, rounds=True).collect("out"))
    assert texts(out) == ["round 1: [9, 2]", "round 2: [4, 1]", "round 3: [2]", "round 4: [1]", "end with []"]


def test_a_punctuation_of_the_input_closes_a_round_too() -> None:
    out = ab.run(items(("", 2), ("", 4)).punctuate(count=1).feedback(halving, rounds=True).collect("out"))
    # Rounds 1 and 2 belong to the first tuple, 3 to 5 to the second; at the end no round is open.
    assert texts(out) == [
        "round 1: [2]", "round 2: [1]",
        "round 3: [4]", "round 4: [2]", "round 5: [1]",
        "end with []",
    ]  # fmt: skip


def test_without_tuples_there_is_no_round() -> None:
    out = ab.run(items().feedback(halving, rounds=True).collect("out"))
    assert texts(out) == ["end with []"]


def test_a_window_of_rounds_closes_with_each_round() -> None:
    class Size(NamedTuple):
        n: int

    def body(loop: Loop) -> tuple[ab.Stream[Size], Loop]:
        sizes = loop.window(ab.punctuated()).aggregate(Size, n=ab.count())
        halved = loop.process(Halve, outputs={"back": Item})
        return sizes, halved.outputs.back

    out = ab.run(items(("", 5), ("", 2), ("", 1)).feedback(body, rounds=True).collect("out"))
    assert [size.n for size in out.items("out")] == [3, 2, 1]


# Several loops, several inputs -------------------------------------------------------------------------------------


def test_nested_loops_share_one_queue() -> None:
    class Step:
        """Sends a tuple around the inner loop (i) while its text is short, then once around the outer (o)."""

        def process(self, item: Item) -> Iterator[Item | ab.To]:
            if item.text.count("i") < 2 and "o" not in item.text:
                yield ab.to("inner", Item(item.text + "i", 0))
            elif "o" not in item.text:
                yield ab.to("outer", Item(item.text + "o", 0))
            yield item

    def outer(outer_loop: Loop) -> Ways:
        outer_back: list[Loop] = []

        def inner(inner_loop: Loop) -> Ways:
            stepped = inner_loop.process(Step, outputs={"inner": Item, "outer": Item})
            outer_back.append(stepped.outputs.outer)
            return stepped, stepped.outputs.inner

        return outer_loop.feedback(inner), outer_back[0]

    class After:
        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> Item:
            return Item("end", 0)

    out = items(("x", 0), ("y", 0)).feedback(outer).process(After)
    assert texts(ab.run(out.collect("out"))) == ["x", "xi", "xii", "xiio", "y", "yi", "yii", "yiio", "end"]


def test_a_loop_ends_only_when_everything_that_enters_it_has() -> None:
    long = items(("a", 0), ("b", 1), ("c", 0), ("d", 1))

    def body(loop: Loop) -> Ways:
        forked = loop.union(long).process(Fork, outputs={"back": Item})
        return forked, forked.outputs.back

    class After:
        def process(self, item: Item) -> Item:
            return item

        def finish(self) -> Item:
            return Item("end", 0)

    short = items(("x", 1))
    out = texts(ab.run(short.feedback(body).process(After).collect("out")))
    # `long` was declared first; the loop of `short` goes on after `short` has ended.
    assert out == ["a", "x", "x0", "x1", "b", "b0", "b1", "c", "d", "d0", "d1", "end"]


def test_one_loop_after_another_ends_after_it() -> None:
    def ending(name: str) -> Any:
        class Ends:
            def process(self, item: Item) -> Item:
                return item

            def finish(self) -> Item:
                return Item(name, 1)

        def body(loop: Loop) -> Ways:
            forked = loop.process(Fork, outputs={"back": Item})
            return forked.process(Ends), forked.outputs.back

        return body

    out = items(("x", 0)).feedback(ending("first")).feedback(ending("second"))
    # What the first loop gives at its end still goes around the second.
    assert texts(ab.run(out.collect("out"))) == ["x", "first", "first0", "first1", "second"]


def test_loops_that_may_end_at_the_same_time_end_in_order_of_declaration() -> None:
    def ended(names: tuple[str, str]) -> list[str]:
        trace = Trace()
        source = items(("x", 0))
        sinks = []
        for number, name in enumerate(names, 1):

            def body(loop: Loop, number: int = number, name: str = name) -> Ways:
                parting = loop.process(Parting, outputs={"back": Item}).named(name)
                return parting, parting.outputs.back

            sinks.append(source.feedback(body).named(f"{name}_loop").for_each(trace(f"loop {number}")))
        ab.run(*sinks)
        return trace.lines

    expected = [
        "loop 1 'x' 0", "loop 2 'x' 0",
        "loop 1 'finished' 0", "loop 1 'again x' 0",
        "loop 2 'finished' 0", "loop 2 'again x' 0",
    ]  # fmt: skip
    assert ended(("a", "b")) == expected
    assert ended(("b", "a")) == expected  # names have no meaning


def test_lists_that_come_around_are_copied() -> None:
    class Path(NamedTuple):
        steps: list[int]

    class Walk:
        def __init__(self) -> None:
            self.kept: list[Path] = []

        def process(self, path: Path) -> Iterator[Path | ab.To]:
            self.kept.append(path)
            if len(path.steps) < 3:
                path.steps.append(len(path.steps))
                yield ab.to("back", path)
                path.steps.append(99)
            yield path

    def body(loop: ab.Stream[Path]) -> tuple[ab.Stream[Path], ab.Stream[Path]]:
        walked = loop.process(Walk, outputs={"back": Path})
        return walked, walked.outputs.back

    out = ab.run(ab.from_items(Path, [Path([])]).feedback(body).collect("out"))
    assert [path.steps for path in out.items("out")] == [[0, 99], [0, 1, 99], [0, 1, 2, 99], [0, 1, 2]]
