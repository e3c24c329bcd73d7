"""The row "the end": "a source's final punctuation flows at the moment its next tuple would have been drawn, like a
tuple, depth-first. An operator with several inputs finishes when the last of them has. `finish` of a keyed operator
runs over its keys in order of their first arrival".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import anabranch as ab
from tests.tracing import Trace


class Item(NamedTuple):
    text: str


def items(*texts: str) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(text) for text in texts])


class Ends:
    """Passes tuples on, and at the end says its name once for every tuple it saw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen = 0

    def process(self, item: Item) -> Item:
        self.seen += 1
        return item

    def finish(self) -> Iterator[Item]:
        for number in range(1, self.seen + 1):
            yield Item(f"{self.name} ends {number}")


def ends(name: str) -> partial[Ends]:
    return partial(Ends, name)


def texts(result: ab.Result, name: str = "out") -> list[str]:
    return [item.text for item in result.items(name)]


def test_the_final_punctuation_flows_when_the_next_tuple_would_have_been_drawn() -> None:
    trace = Trace()
    a = items("a1").process(ends("a"))
    b = items("b1", "b2").process(ends("b"))
    ab.run(a.for_each(trace("a")), b.for_each(trace("b")))
    assert trace.lines == [
        "a 'a1'", "b 'b1'",  # the first turn
        "a 'a ends 1'", "b 'b2'",  # the second: a has no more
        "b 'b ends 1'", "b 'b ends 2'",
    ]  # fmt: skip


def test_what_finish_emits_goes_all_the_way_down_before_downstream_finishes() -> None:
    trace = Trace()

    class Upper:
        def process(self, item: Item) -> Item:
            trace.lines.append(f"upper {item.text}")
            return item

        def finish(self) -> Iterator[Item]:
            for number in "12":
                trace.lines.append(f"upper gives {number}")
                yield Item(number)

    class Lower:
        def process(self, item: Item) -> Item:
            trace.lines.append(f"lower {item.text}")
            return item

        def finish(self) -> Item:
            trace.lines.append("lower gives end")
            return Item("end")

    ab.run(items("a").process(Upper).process(Lower).for_each(trace("got")))
    assert trace.lines == [
        "upper a", "lower a", "got 'a'",
        "upper gives 1", "lower 1", "got '1'",
        "upper gives 2", "lower 2", "got '2'",
        "lower gives end", "got 'end'",
    ]  # fmt: skip


def test_at_a_fan_out_one_branch_ends_altogether_before_the_next() -> None:
    trace = Trace()
    source = items("x")
    left = source.process(ends("left")).process(ends("below left"))
    right = source.process(ends("right"))
    ab.run(right.for_each(trace("right")), left.for_each(trace("left")))
    assert trace.lines == [
        "left 'x'", "right 'x'",
        "left 'left ends 1'", "left 'below left ends 1'", "left 'below left ends 2'",
        "right 'right ends 1'",
    ]  # fmt: skip


def test_an_operator_with_several_inputs_finishes_when_the_last_has_ended() -> None:
    a, b = items("a1"), items("b1", "b2", "b3")
    met = a.union(b).process(ends("met"))
    assert texts(ab.run(met.collect("out"))) == ["a1", "b1", "b2", "b3", *[f"met ends {n}" for n in range(1, 5)]]


def test_a_connected_operator_finishes_once_whichever_input_ends_last() -> None:
    class Both:
        def short(self, item: Item) -> Item:
            return Item("short " + item.text)

        def long(self, item: Item) -> Item:
            return Item("long " + item.text)

        def finish(self) -> Item:
            return Item("end")

    for declared in ("short first", "long first"):
        if declared == "short first":
            short, long = items("1"), items("1", "2", "3")
        else:
            long, short = items("1", "2", "3"), items("1")
        out = texts(ab.run(ab.connect(Both, short=short, long=long).collect("out")))
        assert out[-2:] == ["long 3", "end"]
        assert out.count("end") == 1


def test_an_operator_without_key_finishes_even_if_nothing_came() -> None:
    class Says:
        def process(self, item: Item) -> None: ...

        def finish(self) -> Item:
            return Item("nothing came")

    assert texts(ab.run(items().process(Says).collect("out"))) == ["nothing came"]
    assert texts(ab.run(items().process(Says, key="text").collect("out"))) == []


def test_keys_finish_in_order_of_their_first_arrival() -> None:
    class Remember:
        def __init__(self) -> None:
            self.item: Item | None = None
            self.count = 0

        def process(self, item: Item) -> None:
            self.item, self.count = item, self.count + 1

        def finish(self) -> Iterator[Item]:
            assert self.item is not None
            yield Item(f"{self.item.text}:{self.count}")
            yield Item(f"{self.item.text}.")

    out = ab.run(items("b", "a", "b", "c", "a", "b").process(Remember, key="text").collect("out"))
    assert texts(out) == ["b:3", "b.", "a:2", "a.", "c:1", "c."]


def test_each_key_s_finish_goes_all_the_way_down_before_the_next_key_s() -> None:
    trace = Trace()

    class Last:
        def process(self, item: Item) -> None:
            self.item = item

        def finish(self) -> Iterator[Item]:
            trace.lines.append(f"finish {self.item.text}")
            yield self.item

    ab.run(items("b", "a").process(Last, key="text").for_each(trace("got")))
    assert trace.lines == ["finish b", "got 'b'", "finish a", "got 'a'"]


def test_all_outputs_of_an_operator_end() -> None:
    class Sides:
        def process(self, item: Item) -> Iterator[Item | ab.To]:
            yield item
            yield ab.to("side", item)

    both = items("x").process(Sides, outputs={"side": Item})
    trace = Trace()
    main, side = both.process(ends("main")), both.outputs.side.process(ends("side"))
    ab.run(main.for_each(trace("main")), side.for_each(trace("side")))
    assert trace.lines == ["main 'x'", "side 'x'", "main 'main ends 1'", "side 'side ends 1'"]


def test_windows_close_at_the_end_before_what_follows_them_finishes() -> None:
    class Count(NamedTuple):
        n: int

    class Total:
        def __init__(self) -> None:
            self.total = 0

        def process(self, count: Count) -> Count:
            self.total += count.n
            return count

        def finish(self) -> Count:
            return Count(self.total)

    windows = items("a", "b", "c").window(ab.tumbling(count=2)).aggregate(Count, n=ab.count())
    assert [c.n for c in ab.run(windows.process(Total).collect("out")).items("out")] == [2, 1, 3]


def test_the_end_of_one_input_of_merge_by_lets_the_others_go_at_that_moment() -> None:
    trace = Trace()
    a, b, c = items("a"), items("b", "d"), items("c", "e", "f")
    ab.run(
        a.for_each(trace("a")), b.for_each(trace("b")), c.for_each(trace("c")),
        ab.merge_by("text", a, b, c).for_each(trace("out")),
    )  # fmt: skip
    assert trace.lines == [
        "a 'a'", "b 'b'", "c 'c'", "out 'a'",  # with a gone, the merge waits for a
        "out 'b'",  # a ended: b and c are there, b leaves; now b is waited for
        "b 'd'", "out 'c'", "c 'e'", "out 'd'",
        "out 'e'",  # b ended
        "c 'f'", "out 'f'",
    ]  # fmt: skip


def test_a_loop_ends_after_its_last_tuple_has_come_around() -> None:
    def body(loop: ab.Stream[Item]) -> tuple[ab.Stream[Item], ab.Stream[Item]]:
        parts = loop.split({"again": lambda item: len(item.text) < 3, "done": lambda item: True})
        return parts.done.process(ends("loop")), parts.again.map(lambda item: Item(item.text + "'"), out=Item)

    assert texts(ab.run(items("a", "b").feedback(body).process(ends("after")).collect("out"))) == [
        "a''", "b''", "loop ends 1", "loop ends 2",
        "after ends 1", "after ends 2", "after ends 3", "after ends 4",
    ]  # fmt: skip


def twice(item: Item) -> list[Item]:
    return [item, Item(item.text + "'")]


def test_what_merge_by_lets_go_at_an_end_comes_before_its_own() -> None:
    """The end reaches it twice, first on the way that was connected first."""
    source = items("a", "b")
    around = source.flat_map(twice, out=Item)
    merged = ab.merge_by("text", source, around)
    assert texts(ab.run(merged.process(ends("after")).collect("out"))) == [
        "a", "a", "a'", "b", "b", "b'", *[f"after ends {number}" for number in range(1, 7)],
    ]  # fmt: skip


def test_an_operator_finishes_when_the_end_comes_on_its_last_way() -> None:
    source = items("a")
    around = source.map(lambda item: item, out=Item)
    before = source.process(ends("before"))
    met = around.union(source).process(ends("met"))
    trace = Trace()
    ab.run(before.for_each(trace("out")), met.for_each(trace("out")))
    assert trace.lines[3:] == ["out 'before ends 1'", "out 'met ends 1'", "out 'met ends 2'"]
