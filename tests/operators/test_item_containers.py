"""What is given to `from_items` and is no list of tuples is refused at once, and the hint makes a list of it."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anabranch.errors import BuildError, PlainProblem
from anabranch.graph.schema import schema_of
from anabranch.operators.sources import FromItems, Generate
from tests.operators.test_sources import items_of


class Pair(NamedTuple):
    key: int
    value: float


class Line(NamedTuple):
    text: str


PAIRS = [Pair(1, 0.5), Pair(2, 1.5)]
LINES = [Line("one"), Line("two")]
COLUMNS = np.array([(1, 0.5), (2, 1.5)], dtype=[("key", "i8"), ("value", "f8")])


class Sorted(set[Pair]):
    """A set with an order of its own."""

    def __iter__(self) -> Iterator[Pair]:
        return iter(sorted(set(super().__iter__())))


class Named(set[Pair]):
    """A set without one."""


@pytest.mark.parametrize(
    "items", [set(PAIRS), frozenset(PAIRS), dict.fromkeys(PAIRS).keys() | PAIRS, Named(PAIRS), iter(set(PAIRS)), set()]
)
def test_a_set_is_refused_since_its_order_differs_between_processes(items: Any) -> None:
    with pytest.raises(BuildError, match="whose order differs from one process to the next") as caught:
        FromItems(schema_of(Pair), items)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("sorted(items)")


def objects(kind: Any) -> Any:
    held = np.empty(len(PAIRS), dtype=object)
    held[:] = PAIRS
    return kind(held)


@pytest.mark.parametrize(
    "items",
    [
        deque(PAIRS),
        Sorted(PAIRS),
        dict.fromkeys(PAIRS),
        dict.fromkeys(PAIRS).keys(),
        OrderedDict.fromkeys(PAIRS),
        MappingProxyType(dict.fromkeys(PAIRS)),
        dict(enumerate(PAIRS)).values(),
        Counter(PAIRS),
        objects(np.asarray),
        objects(pd.Series),
    ],
    ids=lambda items: type(items).__name__,
)
def test_what_holds_tuples_in_an_order_is_read_in_it(items: Any) -> None:
    assert items_of(FromItems(schema_of(Pair), items)) == PAIRS


@pytest.mark.parametrize("items", [{}, np.array([]), pd.Series([], dtype=float)], ids=["dict", "array", "series"])
def test_what_is_empty_gives_no_tuple(items: Any) -> None:
    assert items_of(FromItems(schema_of(Pair), items)) == []


@pytest.mark.parametrize(
    ("items", "message", "hint"),
    [
        ({"key": 1, "value": 0.5}, "is one dict of attributes", "[Pair(**items)]"),
        (
            {"key": [1, 2], "value": [0.5, 1.5]},
            "is a dict of columns",
            "[Pair(*row) for row in zip(items['key'], items['value'], strict=True)]",
        ),
        (dict(enumerate(PAIRS)), "is a dict, which iterates over its keys", "list(items.values())"),
        ({1: 0.5, 2: 1.5}, "is a dict, which iterates over its keys", "[Pair(*pair) for pair in items.items()]"),
        (PAIRS[0], "is one Pair", "[items]"),
        (np.array([[1, 0.5], [2, 1.5]]), "is an ndarray", "[Pair(*row) for row in items.tolist()]"),
        (COLUMNS, "is an ndarray", "[Pair(*row) for row in items[['key', 'value']].tolist()]"),
    ],
)
def test_the_hint_makes_tuples_of_it(items: Any, message: str, hint: str) -> None:
    with pytest.raises(BuildError) as caught:
        FromItems(schema_of(Pair), items)
    assert caught.value.message.startswith(f"items= {message}")
    assert caught.value.hint == hint
    made = eval(hint, {"Pair": Pair, "items": items})
    assert [Pair(int(pair.key), pair.value) for pair in made] == PAIRS[: len(made)]
    assert made


@pytest.mark.parametrize(
    "items", [pd.Series(["one", "two"]), pd.Index(["one", "two"]), np.array(["one", "two"]), pa.array(["one", "two"])]
)
def test_values_become_tuples_of_one_attribute(items: Any) -> None:
    with pytest.raises(
        BuildError, match=f"items= is an? {type(items).__name__} of values, and not a list of Line"
    ) as e:
        FromItems(schema_of(Line), items)
    assert eval(str(e.value.hint), {"Line": Line, "items": items}) == LINES


@pytest.mark.parametrize("items", ["calls.csv", b"abc", bytearray(b"abc"), ""])
def test_text_is_no_list_of_tuples(items: Any) -> None:
    with pytest.raises(BuildError, match=f"items= is a {type(items).__name__}, and not a list of Line") as caught:
        FromItems(schema_of(Line), items)
    assert caught.value.hint == "[Line(…), …]; a file is read with ab.read_csv(path, Line) and its like"


def test_a_source_of_the_user_s_own_has_an_order() -> None:
    with pytest.raises(BuildError, match="partitions= is a set, whose order differs"):
        Generate(schema_of(Pair), lambda key: iter(PAIRS), None, ("key",), {1, 2})  # type: ignore[arg-type]
    with pytest.raises(PlainProblem, match="it gave a set, whose order differs from one process to the next"):
        items_of(Generate(schema_of(Pair), lambda: set(PAIRS)))
