"""`feedback`: a loop that the user closes by returning what goes on and what comes around."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Number(NamedTuple):
    n: int


class Text(NamedTuple):
    text: str


def numbers(*ns: int) -> ab.Stream[Number]:
    return ab.from_items(Number, [Number(n) for n in ns])


def halve(loop: ab.Stream[Number]) -> tuple[ab.Stream[Number], ab.Stream[Number]]:
    parts = loop.split({"even": lambda x: x.n % 2 == 0 and x.n, "odd": lambda x: True})
    return parts.odd, parts.even.map(lambda x: Number(x.n // 2), out=Number)


def ns(stream: ab.Stream[Number]) -> list[int]:
    return [number.n for number in ab.run(stream.collect("out")).items("out")]


def test_what_comes_around_is_processed_like_what_comes_in() -> None:
    assert ns(numbers(12, 5, 64).feedback(halve)) == [3, 5, 1]


def test_what_goes_on_may_have_another_type() -> None:
    def body(loop: ab.Stream[Number]) -> tuple[ab.Stream[Text], ab.Stream[Number]]:
        shown = loop.map(lambda x: Text(str(x.n)), out=Text)
        return shown, loop.filter(lambda x: x.n > 0).map(lambda x: Number(x.n - 1), out=Number)

    out = numbers(2, 1).feedback(body)
    assert [t.text for t in ab.run(out.collect("out")).items("out")] == ["2", "1", "0", "1", "0"]


def test_loops_can_follow_one_another_and_be_used_twice() -> None:
    assert ns(numbers(12).feedback(halve).map(lambda x: Number(x.n * 16), out=Number).feedback(halve)) == [3]


def test_keyed_state_in_a_loop() -> None:
    class Visits:
        def __init__(self) -> None:
            self.count = 0

        def process(self, number: Number) -> Iterator[Number | ab.To]:
            self.count += 1
            if number.n < 10:
                yield ab.to("back", Number(number.n + 5))
            yield Number(number.n * 100 + self.count)

    def body(loop: ab.Stream[Number]) -> tuple[ab.Stream[Number], ab.Stream[Number]]:
        visits = loop.process(Visits, key="n", outputs={"back": Number})
        return visits, visits.outputs.back

    # 1 6 11 | 6 11 | 11
    assert ns(numbers(1, 6, 11).feedback(body)) == [101, 601, 1101, 602, 1102, 1103]


def test_rounds_compute_until_nothing_changes() -> None:
    """Connected components: every node takes the smallest label among its neighbours, round by round."""

    class Label(NamedTuple):
        node: int
        label: int

    neighbours = {1: [2], 2: [1, 3], 3: [2], 4: [5], 5: [4]}

    class Spread:
        def __init__(self) -> None:
            self.labels: dict[int, int] = {}
            self.changed: dict[int, None] = {}

        def process(self, label: Label) -> None:
            if label.label < self.labels.get(label.node, label.node + 1):
                self.labels[label.node] = label.label
                self.changed[label.node] = None

        def punctuation(self) -> Iterator[ab.To]:
            for node in self.changed:
                for neighbour in neighbours[node]:
                    yield ab.to("back", Label(neighbour, self.labels[node]))
            self.changed = {}

        def finish(self) -> Iterator[Label]:
            for node, label in sorted(self.labels.items()):
                yield Label(node, label)

    def body(loop: ab.Stream[Label]) -> tuple[ab.Stream[Label], ab.Stream[Label]]:
        spread = loop.process(Spread, outputs={"back": Label})
        return spread, spread.outputs.back

    out = ab.from_items(Label, [Label(n, n) for n in neighbours]).feedback(body, rounds=True)
    assert [tuple(label) for label in ab.run(out.collect("out")).items("out")] == [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 4),
        (5, 4),
    ]
