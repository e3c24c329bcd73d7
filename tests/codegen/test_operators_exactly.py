"""Every operator, comparison and function of native code, on all pairs of edge values.

Native code gives Python's value to the last bit, or does not give one: then the tuple is for the Python form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.native.arrays import ColumnArrays
from anabranch.codegen.native.element import NativeElement
from anabranch.codegen.native.handing_over import one_behind_another
from anabranch.codegen.runtime import NATIVE_FUNCTIONS
from anabranch.graph.values import ValueProblem, normalizer
from tests.codegen.comparing import Comparison
from tests.codegen.exactness import exact
from tests.codegen.programs import FLOATS, INTS, forget_modules, module

INT_PAIRS = (*INTS, 2, -2, 3, 7, 63, -(2**62))
FLOAT_PAIRS = (*FLOATS, 2.0, -2.0, 0.5, 3.0, -1.5, 2.5, 1e16, 9007199254740993.0, 1.0000000000000002)
SYMBOLS = ("+", "-", "*", "/", "//", "%")
COMPARED = ("==", "!=", "<", "<=", ">", ">=")

INT_RESULTS = [
    *(f"t.a {symbol} t.b" for symbol in ("+", "-", "*", "//", "%", "&", "|", "^")),
    "t.a << (t.b & 63)", "t.a << (t.b % 1000)", "t.a >> (t.b & 127)", "t.a >> t.b", "t.a ** 2", "t.a ** 3", "t.a ** 0",
    "t.a ** t.p", "-t.a", "+t.a", "~t.a", "abs(t.a)", "min(t.a, t.b)", "max(t.b, t.a, 3)", "int(t.a)", "round(t.a)",
    "int(t.f)", "round(t.f)", "math.floor(t.f)", "math.ceil(t.f)", "math.trunc(t.f)", "math.floor(t.a)",
    "t.p + t.q", "t.p - t.q", "t.p * t.a", "t.p // t.q", "t.a % t.p", "-t.p", "+t.p", "abs(t.p)", "int(t.p)",
    "t.p << 3", "t.a & t.p", "t.a - (-1)", "t.a * -1", "t.a // -1", "t.a // -3", "t.a % -7", "t.o + t.a",
    "t.a + 9223372036854775807", "(t.a if t.p else t.b) - t.q", "t.o or t.a", "t.a and t.b", "0 - t.a",
]  # fmt: skip
FLOAT_RESULTS = [
    *(f"t.f {symbol} t.g" for symbol in SYMBOLS),
    *(f"t.a {symbol} t.g" for symbol in SYMBOLS),
    *(f"t.f {symbol} t.b" for symbol in SYMBOLS),
    *(f"t.f {symbol} t.p" for symbol in ("+", "*", "/")),
    *(f"t.f {symbol} {number}" for symbol in ("/", "//", "%") for number in ("3", "-0.1")),
    *(f"9007199254740993 {symbol} t.f" for symbol in SYMBOLS),
    "t.a / t.b", "t.p / t.q", "t.a / 3", "t.a / 9007199254740993", "7 / t.a", "t.f ** t.g", "t.f ** 2", "t.f ** 0.5",
    "t.f ** 3", "t.f ** -1", "t.f ** t.b", "t.a ** 0.5", "t.a ** t.g", "2 ** t.f", "-t.f", "+t.f", "abs(t.f)",
    "min(t.f, t.g)", "max(t.f, t.g)", "min(t.g, 0, t.f)", "max(1, t.f)", "float(t.a)", "float(t.f)", "float(t.p)",
    "t.f if t.p else 0", "t.f or t.g", "t.f and t.g", "t.r or 0.5", "t.r * t.f",
    *(f"{name}({', '.join(['t.f', 't.g'][: function.arguments])})" for name, function in NATIVE_FUNCTIONS.items()),
    "math.sqrt(t.a)", "math.exp(t.a)", "math.hypot(t.a, t.g)", "math.copysign(t.a, t.p)", "math.fmod(t.f, t.b)",
]  # fmt: skip
BOOL_RESULTS = [
    *(
        f"t.{one} {symbol} t.{other}"
        for one, other in ("ab", "fg", "ag", "fb", "pq", "pa", "fp", "oa", "rf", "or")
        for symbol in COMPARED
    ),
    *(f"t.f {symbol} 9007199254740993" for symbol in COMPARED),
    *(f"9223372036854775807 {symbol} t.f" for symbol in COMPARED),
    *(f"t.a {symbol} 9007199254740992.0" for symbol in COMPARED),
    "math.isnan(t.f)", "math.isinf(t.f)", "math.isfinite(t.f)", "math.isnan(t.a)", "bool(t.a)", "bool(t.f)",
    "bool(t.p)", "not t.a", "not t.f", "not t.o", "t.p & t.q", "t.p | t.q", "t.p ^ t.q", "t.p and t.q", "t.p or t.q",
    "t.a in (0, 1.0, -3)", "t.f not in (0, 0.1, True)", "t.f in (9007199254740993,)", "t.o in (None, 1)",
    "t.a < t.b <= 7", "t.f < t.g < t.f + 1", "t.o is None", "t.o is not None", "t.o == None", "t.p is None",
    "bool(t.a) & bool(t.f)", "(not t.a) == t.p", "min(t.p, t.q)", "max(t.q, t.p)", "max(t.p, t.a > t.b, t.q)",
]  # fmt: skip
TEXT = """
import math
from typing import NamedTuple
import anabranch as ab

class Pairs(NamedTuple):
    op: int
    a: int
    b: int
    f: float
    g: float
    p: bool
    q: bool
    o: int | None
    r: float | None

class Result(NamedTuple):
    value: {kind}

def compute(t: Pairs) -> Result:
    x = {zero}
{branches}
    return Result(x)

EACH = [{each}]

def program(items):
    return ab.from_items(Pairs, items).map(compute).collect("out")
"""
# Powers near the ends of the floats and differences of ints near the ends of theirs are left to Python more often than
# they must be.
MOST_LEFT = 0.1
ZEROS = {"int": "0", "float": "0.0", "bool": "False"}


class Left(Exception):
    """Native code cannot go on at an item."""


class NativeOnly(NativeElement):
    """Says which item native code cannot take, instead of handing it over."""

    def _hand_over(self, number: int, item: Any, at: int, inputs: list[ColumnArrays | None]) -> None:
        self._finish_piece(inputs)
        raise Left(at, one_behind_another(self._pieces))


@pytest.fixture(autouse=True)
def _alone(own_cache: Path) -> Iterator[None]:
    yield
    forget_modules()


def pairs(make: Any) -> list[Any]:
    """Tuples such that all pairs of ints, of floats, and of an int and a float are among them."""
    truths = itertools.cycle(itertools.product((False, True), repeat=2))
    ints, floats = itertools.cycle(INT_PAIRS), itertools.cycle(FLOAT_PAIRS)
    found = []
    for a, b in itertools.product(INT_PAIRS, repeat=2):
        found.append((a, b, next(floats), next(floats)))
    for f, g in itertools.product(FLOAT_PAIRS, repeat=2):
        found.append((next(ints), next(ints), f, g))
    for one, other in itertools.product(INT_PAIRS, FLOAT_PAIRS):
        found.append((one, next(ints), next(floats), other))
        found.append((next(ints), one, other, next(floats)))
    optional = itertools.cycle((None, *INT_PAIRS)), itertools.cycle((None, *FLOAT_PAIRS, None))
    return [make(0, *each, *next(truths), next(optional[0]), next(optional[1])) for each in found]


def in_python(compute: Any, normal: Any, item: Any) -> Any:
    """The value that Python gives; None where it gives none that fits."""
    try:
        return normal(compute(item))
    except (ArithmeticError, ValueError, TypeError, ValueProblem):
        return None


@pytest.mark.parametrize(
    ("kind", "expressions"),
    [("int", INT_RESULTS), ("float", FLOAT_RESULTS), ("bool", BOOL_RESULTS)],
    ids=["ints", "floats", "bools"],
)
def test_native_code_computes_as_python_does_or_not_at_all(kind: str, expressions: list[str], tmp_path: Path) -> None:
    branches = "\n".join(f"    if t.op == {at}: x = {text}" for at, text in enumerate(expressions))
    each = ", ".join(f"lambda t: Result({text})" for text in expressions)
    text = TEXT.format(kind=kind, zero=ZEROS[kind], branches=branches, each=each)
    made = module(text, f"operators_on_{kind}s", tmp_path)
    items = pairs(made.Pairs)
    comparison = Comparison(made.program([]))
    element = comparison.element(NativeOnly)
    schema = comparison.part.schema(comparison.part.inputs[0])
    normal = normalizer(comparison.part.schema(comparison.part.outputs[0]))
    for op, text in enumerate(expressions):
        given = [item._replace(op=op) for item in items]
        want = [in_python(made.EACH[op], normal, item) for item in given]
        got = native_values(element, schema, given)
        for item, expected, value in zip(given, want, got, strict=True):
            if value is not None:
                assert exact(value) == exact(expected), f"{text} on {item}: {value}, not {expected}"
        left = [item for item, expected, value in zip(given, want, got, strict=True) if value is None and expected]
        assert len(left) <= MOST_LEFT * len(given), f"{text} leaves native code without need, as on {left[0]}"


def native_values(element: NativeElement, schema: Any, items: list[Any]) -> list[Any]:
    """What native code gives for each tuple; None for those that it hands over."""
    found: list[Any] = []
    columns = Chunk.of_rows(schema, items).batch
    while len(found) < len(items):
        try:
            (chunk,) = element.process(Batch((Chunk.of_batch(schema, columns.slice(len(found))),)))
            found += chunk.rows
        except Left as left:
            _, (chunk,) = left.args
            found += [*chunk.rows, None]
    return found
