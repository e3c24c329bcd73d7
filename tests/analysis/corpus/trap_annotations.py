"""Annotations that are evaluated: this file does not postpone them."""

from collections.abc import Callable
from typing import Any

from .registry import entry
from .tuples import Count, Trade

NAMED: list[str] = []


def named(symbol: str) -> int:
    NAMED.append(symbol)
    return len(NAMED)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the annotation of a parameter is evaluated at every def")  # fmt: skip
def annotated_parameter(t: Trade) -> Count:
    def number(given: named(t.symbol)) -> Any:
        return number.__annotations__["given"]

    return Count(t.symbol, number(1))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol", "n": "size"}, trap=True,
       shows=False, why="the annotation of what is given back is evaluated at every def")  # fmt: skip
def annotated_result(t: Trade) -> Count:
    def number() -> named(t.symbol):
        return t.size

    return Count(t.symbol, number())


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol", "n": "size"}, trap=True,
       shows=False, why="annotations of *args, **kwargs and keywords")  # fmt: skip
def annotated_rest(t: Trade) -> Count:
    def number(*rest: named("rest"), last: int = 1, **more: named("more")) -> int:
        return t.size

    return Count(t.symbol, number())


def annotate(symbol: str) -> Callable[[], int]:
    def give(size: named(symbol) = 1) -> int:
        return size

    return give


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="a helper that defines a function with an annotation")  # fmt: skip
def annotated_by_helper(t: Trade) -> Count:
    return Count(t.symbol, annotate(t.symbol)())
