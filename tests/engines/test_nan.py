"""Python finds NaN by identity, so a NaN in a tuple is the same object on every engine, however it came there."""

from __future__ import annotations

import cmath
import math
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.run import as_program
from tests.meaning.everywhere import everywhere
from tests.tripwire.unsafe import Apart

PYTHON = ("python",)
NEGATIVE = math.copysign(math.nan, -1.0)
OWN = float("nan")
HELD = {OWN, 1.0}
KNOWN = [math.nan, np.nan, cmath.nan]


class Real(NamedTuple):
    k: int
    v: float


class Found(NamedTuple):
    k: int
    is_found: bool


class Maybe(NamedTuple):
    k: int
    v: float | None
    some: list[float]


ITEMS = [Real(n % 2, [math.nan, 1.0, OWN, np.nan, NEGATIVE][n % 5]) for n in range(20)]


def in_a_set(r: Real) -> Found:
    return Found(r.k, r.v in HELD)


def in_a_display(r: Real) -> Found:
    return Found(r.k, r.v in (None, math.nan))


def constants_in_constants(r: Real) -> Found:
    return Found(r.k, OWN in HELD and math.nan in KNOWN[:1] and np.nan in KNOWN[1:2] and cmath.nan in KNOWN[2:])


def constants_apart(r: Real) -> Found:
    return Found(r.k, math.nan in HELD or np.nan in HELD)


def computed(r: Real) -> Real:
    return Real(r.k, math.inf * 0.0 + r.v)


def twice(r: Real) -> Iterator[Real]:
    yield r
    yield r._replace(k=r.k)


def is_first(r: Real) -> bool:
    return r.k == 0


class Repeats:
    """Whether a tuple equals the one before it."""

    def __init__(self) -> None:
        self.last: Any = None

    def process(self, r: Real) -> Iterator[Found]:
        yield Found(r.k, r == self.last)
        self.last = r


PROGRAMS: dict[str, Any] = {
    "in a set": lambda s: s.map(in_a_set),
    "in a display": lambda s: s.map(in_a_display),
    "constants in constants": lambda s: s.map(constants_in_constants),
    "constants apart": lambda s: s.map(constants_apart),
    "computed": lambda s: s.map(computed).map(in_a_display),
    "repeated": lambda s: s.flat_map(twice).process(Repeats, key="k", out=Found),
    "by two ways": lambda s: s.filter(is_first).union(s.filter(is_first)).process(Repeats, key="k", out=Found),
}
FOUND = {name: {True, False} for name in PROGRAMS} | {
    "in a set": {True, False},  # 1.0 is: the NaN that is held is another one
    "constants in constants": {True},
    "computed": {True},
    "constants apart": {False},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nan_is_found_or_not_on_every_engine(name: str) -> None:
    sink = PROGRAMS[name](ab.from_items(Real, ITEMS)).collect("out")
    expected = everywhere(sink, forms=PYTHON).items("out")
    assert {found.is_found for found in expected} == FOUND[name]
    graph = as_program(sink).graph
    for channels in (1, 3):
        found = run_on(Apart(), compile(graph), Metrics(), channels=channels, stretch=3).items("out")
        assert found == expected, "by workers that have objects of their own"


def test_the_nan_of_a_tuple_is_math_nan(tmp_path: Path) -> None:
    """Whatever it was when it came, and wherever it was read."""
    sequential.run(as_program(ab.from_items(Real, ITEMS).write_csv(tmp_path / "a.csv")).graph)
    sequential.run(as_program(ab.from_items(Real, ITEMS).write_jsonl(tmp_path / "a.jsonl")).graph)
    sequential.run(as_program(ab.from_items(Real, ITEMS).write_parquet(tmp_path / "a.parquet")).graph)
    for source in (
        ab.from_items(Real, ITEMS),
        ab.read_csv(tmp_path / "a.csv", Real),
        ab.read_jsonl(tmp_path / "a.jsonl", Real),
        ab.read_parquet(tmp_path / "a.parquet", Real),
    ):
        found = everywhere(source.map(in_a_display).collect("out"), forms=PYTHON).items("out")
        assert [each.is_found for each in found] == [True, False, True, True, True] * 4


def signed(r: Real) -> Real:
    return Real(r.k, math.copysign(1.0, r.v))


def test_its_sign_is_not_kept() -> None:
    """Python may give any: that of `inf * 0.0 + x` changes with the number of calls."""
    for stream in (ab.from_items(Real, ITEMS), ab.from_items(Real, ITEMS).map(computed)):
        result = everywhere(stream.map(signed).collect("out"), forms=("python", "native"))
        assert {r.v for r in result.items("out")} == {1.0}


def test_in_lists_and_where_a_value_may_be_missing() -> None:
    items = [Maybe(0, None, [OWN, 1.0]), Maybe(0, OWN, []), Maybe(0, math.nan, [np.nan, math.nan])]

    def look(m: Maybe) -> Found:
        return Found(m.k, m.v in (math.nan,) or m.some == [math.nan, math.nan])

    stream = ab.from_items(Maybe, items).process(Passes, key="k", out=Maybe).map(look)
    assert [f.is_found for f in everywhere(stream.collect("out"), forms=PYTHON).items("out")] == [False, True, True]


class Passes:
    def process(self, m: Maybe) -> Maybe:
        return m


class Sums(NamedTuple):
    total: float
    mean: float
    most: float


def test_of_windows_too() -> None:
    windows = (
        ab.from_items(Real, ITEMS)
        .window(ab.tumbling(count=5))
        .aggregate(Sums, total=ab.sum_("v"), mean=ab.mean("v"), most=ab.max_("v"))
    )

    def look(s: Sums) -> Found:
        return Found(0, [s.most] == [math.nan])

    assert [f.is_found for f in everywhere(windows.map(look).collect("out"), forms=PYTHON).items("out")] == [True] * 4


def test_a_state_that_was_saved_finds_what_it_found_before() -> None:
    from anabranch.codegen.python.saving import Saver

    saver = Saver(as_program(ab.from_items(Real, ITEMS).collect("out")).graph)
    held = {"a": [math.nan, np.nan, OWN, {OWN: 1}, NEGATIVE]}
    usual, numpys, own, by_own, negative = saver.load(saver.dump("from_items", held))["a"]
    assert usual is math.nan
    assert numpys is np.nan
    assert own in by_own
    assert own is not usual
    assert struct.pack("d", negative) == struct.pack("d", NEGATIVE)
    assert pickle.loads(pickle.dumps(OWN)) is not OWN, "as Python itself would do it"
