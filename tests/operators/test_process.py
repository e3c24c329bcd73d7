"""`process`: a user-defined operator, with one instance for the stream or one per key."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import pytest

import anabranch as ab


class Reading(NamedTuple):
    sensor: str
    value: int
    day: date = date(2024, 1, 1)


class Alert(NamedTuple):
    text: str


READINGS = [Reading("a", 1), Reading("b", 10), Reading("a", 2), Reading("b", 20), Reading("a", 3)]


def readings() -> ab.Stream[Reading]:
    return ab.from_items(Reading, READINGS)


class RunningSum:
    def __init__(self, start: int = 0) -> None:
        self.total = start

    def process(self, reading: Reading) -> Iterator[Reading]:
        self.total += reading.value
        yield reading._replace(value=self.total)


def values(stream: ab.Stream[Reading]) -> list[int]:
    return [reading.value for reading in ab.run(stream.collect("out")).items("out")]


def test_without_a_key_there_is_one_instance_for_the_stream() -> None:
    assert values(readings().process(RunningSum)) == [1, 11, 13, 33, 36]


def test_with_a_key_there_is_one_instance_per_value_of_it() -> None:
    assert values(readings().process(RunningSum, key="sensor")) == [1, 10, 3, 30, 6]


def test_the_key_may_be_several_attributes() -> None:
    items = [Reading("a", 1), Reading("a", 2, date(2024, 1, 2)), Reading("a", 4)]
    assert values(ab.from_items(Reading, items).process(RunningSum, key=["sensor", "day"])) == [1, 2, 5]
    assert values(ab.from_items(Reading, items).process(RunningSum, key=("sensor",))) == [1, 3, 7]


def test_ranges_say_how_a_key_is_routed_and_change_nothing_else() -> None:
    by_range = ab.ranges("value", [2, 10])
    assert values(readings().process(RunningSum, key=by_range)) == values(readings().process(RunningSum, key="value"))


def test_an_instance_is_made_when_its_key_first_arrives_and_anew_for_every_run() -> None:
    made: list[str] = []

    class Makes:
        def __init__(self) -> None:
            made.append("made")

        def process(self, reading: Reading) -> Reading:
            made.append(reading.sensor)
            return reading

    sink = readings().process(Makes, key="sensor").collect("out")
    ab.run(sink)
    assert made == ["made", "a", "made", "b", "a", "b", "a"]
    ab.run(sink)
    assert len(made) == 14


def test_a_class_with_arguments_is_given_as_a_partial() -> None:
    assert values(readings().process(functools.partial(RunningSum, start=100), key="sensor")) == [
        101,
        110,
        103,
        130,
        106,
    ]


def test_a_method_may_yield_return_one_return_many_or_nothing() -> None:
    class Yields:
        def process(self, reading: Reading) -> Iterator[Alert]:
            yield Alert(f"y{reading.value}")

    class ReturnsOne:
        def process(self, reading: Reading) -> Alert | None:
            return Alert(f"o{reading.value}") if reading.value > 2 else None

    class ReturnsMany:
        def process(self, reading: Reading) -> list[Alert]:
            return [Alert("m")] * (reading.value // 10)

    def texts(op: type) -> list[str]:
        return [alert.text for alert in ab.run(readings().process(op).collect("out")).items("out")]

    assert texts(Yields) == ["y1", "y10", "y2", "y20", "y3"]
    assert texts(ReturnsOne) == ["o10", "o20", "o3"]
    assert texts(ReturnsMany) == ["m", "m", "m"]


def test_finish_may_emit_without_process_ever_doing_so() -> None:
    class Largest:
        def __init__(self) -> None:
            self.best: Reading | None = None

        def process(self, reading: Reading) -> None:
            if self.best is None or reading.value > self.best.value:
                self.best = reading

        def finish(self) -> Reading | None:
            return self.best

    assert values(readings().process(Largest)) == [20]
    assert values(readings().process(Largest, key="sensor")) == [3, 20]


class Batches:
    """Adds up between punctuations."""

    def __init__(self) -> None:
        self.total = 0
        self.sensor = ""

    def process(self, reading: Reading) -> None:
        self.total += reading.value
        self.sensor = reading.sensor

    def punctuation(self) -> Iterator[Alert]:
        yield Alert(f"{self.sensor} {self.total}")
        self.total = 0


def test_punctuation_is_called_for_every_instance_in_order_of_first_arrival() -> None:
    batches = readings().punctuate(count=3).process(Batches, key="sensor")
    assert [a.text for a in ab.run(batches.collect("out")).items("out")] == ["a 3", "b 10"]


def test_what_punctuation_emits_comes_before_the_punctuation_itself() -> None:
    class Size(NamedTuple):
        texts: list[str]

    batches = readings().punctuate(count=2).process(Batches)
    windows = batches.window(ab.punctuated()).aggregate(Size, texts=ab.collect("text"))
    assert [size.texts for size in ab.run(windows.collect("out")).items("out")] == [["b 11"], ["b 22"]]


def test_named_outputs_are_declared_and_addressed() -> None:
    class Sort:
        def process(self, reading: Reading) -> Iterator[Reading | ab.To]:
            yield reading
            if reading.value >= 10:
                yield ab.to("alerts", Alert(f"{reading.sensor} {reading.value}"))

    sorted_ = readings().process(Sort, outputs={"alerts": Alert})
    result = ab.run(sorted_.collect("all"), sorted_.outputs.alerts.collect("alerts"))
    assert result.items("all") == READINGS
    assert [alert.text for alert in result.items("alerts")] == ["b 10", "b 20"]


def test_an_operator_may_have_named_outputs_only() -> None:
    class Route:
        def process(self, reading: Reading) -> Iterator[ab.To]:
            yield ab.to("low" if reading.value < 10 else "high", reading)

    routed = readings().process(Route, outputs={"low": Reading, "high": Reading})
    low, high = routed.outputs
    result = ab.run(low.collect("low"), high.collect("high"))
    assert [r.value for r in result.items("low")] == [1, 2, 3]
    assert [r.value for r in result.items("high")] == [10, 20]


def test_an_output_that_was_not_declared_is_an_error_of_the_run() -> None:
    class Lost:
        def process(self, reading: Reading) -> Iterator[Reading | ab.To]:
            yield ab.to("nowhere", reading)

    with pytest.raises(ab.OperatorError, match="'nowhere'"):
        ab.run(readings().process(Lost).collect("out"))


def test_a_function_is_the_stateless_case() -> None:
    def twice(reading: Reading) -> Iterator[Reading]:
        yield reading
        yield reading._replace(value=-reading.value)

    assert values(readings().process(twice))[:4] == [1, -1, 10, -10]


def test_a_declaration_changes_nothing_about_what_an_operator_does() -> None:
    @ab.declare(state="partitioned", because="the class attribute is a constant")
    class Declared(RunningSum):
        pass

    assert values(readings().process(Declared, key="sensor")) == [1, 10, 3, 30, 6]


def test_static_and_class_methods_will_do() -> None:
    class Static:
        @staticmethod
        def process(reading: Reading) -> Reading:
            return reading._replace(value=0)

    assert values(readings().process(Static)) == [0] * 5


def test_a_hint_where_to_run_changes_nothing_about_the_result() -> None:
    placed = readings().process(RunningSum).place(pe="front", host="big", threaded=True, cpus=2)
    assert values(placed) == [1, 11, 13, 33, 36]
