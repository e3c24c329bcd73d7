"""`map`: one tuple for each."""

from __future__ import annotations

import functools
from typing import NamedTuple

import anabranch as ab


class Celsius(NamedTuple):
    sensor: str
    degrees: float


class Fahrenheit(NamedTuple):
    sensor: str
    degrees: float


def convert(reading: Celsius) -> Fahrenheit:
    return Fahrenheit(reading.sensor, reading.degrees * 9 / 5 + 32)


def shift(by: float, reading: Celsius) -> Celsius:
    return reading._replace(degrees=reading.degrees + by)


class Scale:
    """A callable object."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, reading: Celsius) -> Celsius:
        return reading._replace(degrees=reading.degrees * self.factor)


READINGS = [Celsius("a", 0.0), Celsius("b", 100.0)]


def out(stream: ab.Stream[Celsius]) -> list[tuple[str, float]]:
    return [tuple(item) for item in ab.run(stream.collect("out")).items("out")]


def readings() -> ab.Stream[Celsius]:
    return ab.from_items(Celsius, READINGS)


def test_each_tuple_becomes_one_in_the_same_order() -> None:
    assert out(readings().map(convert)) == [("a", 32.0), ("b", 212.0)]


def test_the_type_is_read_from_the_annotation_or_given() -> None:
    assert readings().map(convert).type is Fahrenheit
    assert readings().map(lambda r: Fahrenheit(r.sensor, 0.0), out=Fahrenheit).type is Fahrenheit


def test_partials_callable_objects_and_methods_are_functions_too() -> None:
    assert out(readings().map(functools.partial(shift, 1.0))) == [("a", 1.0), ("b", 101.0)]
    assert out(readings().map(Scale(2.0))) == [("a", 0.0), ("b", 200.0)]
    assert out(readings().map(Scale(0.5).__call__)) == [("a", 0.0), ("b", 50.0)]


def test_a_constructor_of_tuples_needs_a_function_around_it() -> None:
    class Name(NamedTuple):
        sensor: str

    named = readings().map(lambda r: Name(r.sensor), out=Name)
    assert [name.sensor for name in ab.run(named.collect("out")).items("out")] == ["a", "b"]


def test_punctuations_pass() -> None:
    class Size(NamedTuple):
        n: int

    mapped = readings().punctuate(count=1).map(convert)
    sizes = mapped.window(ab.punctuated()).aggregate(Size, n=ab.count())
    assert [size.n for size in ab.run(sizes.collect("out")).items("out")] == [1, 1]
