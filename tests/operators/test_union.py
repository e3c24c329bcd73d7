"""`union`: the tuples of several streams of one type, as they come."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab


class Item(NamedTuple):
    n: int


def items(*ns: int) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n) for n in ns])


def ns(stream: ab.Stream[Item]) -> list[int]:
    return [item.n for item in ab.run(stream.collect("out")).items("out")]


def test_tuples_come_as_they_are_drawn() -> None:
    assert ns(items(1, 2, 3).union(items(10, 20), items(100))) == [1, 10, 100, 2, 20, 3]


def test_a_stream_can_meet_itself_and_its_branches() -> None:
    source = items(1, 2)
    assert ns(source.union(source, source.map(lambda i: Item(-i.n), out=Item))) == [-1, 1, 1, -2, 2, 2]


def test_punctuations_pass_where_one_input_has_them() -> None:
    class Ns(NamedTuple):
        ns: list[int]

    met = items(1, 2, 3).punctuate(count=2).union(items(10, 20, 30))
    windows = met.window(ab.punctuated()).aggregate(Ns, ns=ab.collect("n"))
    assert [w.ns for w in ab.run(windows.collect("out")).items("out")] == [[1, 10, 2], [20, 3, 30]]


def test_where_two_inputs_have_punctuations_they_are_lost() -> None:
    class Counts:
        def __init__(self) -> None:
            self.punctuations = 0

        def process(self, item: Item) -> None: ...

        def punctuation(self) -> None:
            self.punctuations += 1

        def finish(self) -> Item:
            return Item(self.punctuations)

    def counted(stream: ab.Stream[Item]) -> list[int]:
        return ns(stream.process(Counts))

    assert counted(items(1, 2).punctuate(count=1).union(items(3))) == [2]
    assert counted(items(1, 2).punctuate(count=1).union(items(3).punctuate(count=1))) == [0]
