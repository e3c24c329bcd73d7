"""Types of user code: what each expression is, and what generated code cannot rely on."""

from __future__ import annotations

import ast
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import anabranch as ab
from anabranch.codegen.inference import To
from anabranch.codegen.types import BOOL, FLOAT, INT, NONE, STR, Type
from tests.codegen.typed_calls import CALL, Call, Point, Travel, reasons, result, typed

LIMIT = 300
AREAS = {"425", "206"}
GROWING = {"425"}
HANDED_ON = {"425"}
ORIGIN = Point(0.0, 0.0)


@dataclass(frozen=True)
class Settings:
    limit: float = 2.5


SETTINGS = Settings()


# Numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda c: c.phone, INT),
        (lambda c: c.at.x, FLOAT),
        (lambda c: c.price, Type("float", optional=True)),
        (lambda c: c.phone + c.phone, INT),
        (lambda c: c.phone + c.ts, FLOAT),
        (lambda c: c.is_paid + c.is_paid, INT),
        (lambda c: c.phone / c.phone, FLOAT),
        (lambda c: c.phone // c.phone, INT),
        (lambda c: c.ts // c.phone, FLOAT),
        (lambda c: c.phone % c.ts, FLOAT),
        (lambda c: c.phone**2, INT),
        (lambda c: c.ts**c.phone, FLOAT),
        (lambda c: -c.is_paid, INT),
        (lambda c: ~c.phone, INT),
        (lambda c: c.is_paid & c.is_paid, BOOL),
        (lambda c: c.is_paid << c.phone, INT),
        (lambda c: c.price * 2, FLOAT),
        (lambda c: 7, Type("int", constant=7)),
        (lambda c: 60 * 10 - 1, Type("int", constant=599)),
        (lambda c: -LIMIT, Type("int", constant=-300)),
        (lambda c: c.phone < c.ts <= LIMIT, BOOL),
        (lambda c: c.price is None, BOOL),
        (lambda c: c.price == None, BOOL),  # noqa: E711
        (lambda c: not c.price, BOOL),
        (lambda c: c.phone if c.is_paid else 0, INT),
        (lambda c: c.ts if c.is_paid else 0, FLOAT),
        (lambda c: c.ts if c.is_paid else None, Type("float", optional=True)),
        (lambda c: c.price if c.price is not None else 0.0, FLOAT),
        (lambda c: 0.0 if c.price is None else c.price, FLOAT),
        (lambda c: c.price or 0.0, FLOAT),
        (lambda c: c.price and c.ts, Type("float", optional=True)),
        (lambda c: abs(c.phone), INT),
        (lambda c: abs(c.is_paid), INT),
        (lambda c: min(c.ts, c.at.x, 0), FLOAT),
        (lambda c: max(c.phone, 1), INT),
        (lambda c: int(c.ts), INT),
        (lambda c: float(c.phone), FLOAT),
        (lambda c: bool(c.phone), BOOL),
        (lambda c: round(c.ts), INT),
        (lambda c: math.sqrt(c.phone), FLOAT),
        (lambda c: math.floor(c.ts), INT),
        (lambda c: math.isnan(c.ts), BOOL),
        (lambda c: math.atan2(c.ts, c.phone), FLOAT),
        (lambda c: c.ts * math.pi, FLOAT),
        (lambda c: (y := c.ts) + y, FLOAT),
        (lambda c: c.area, STR),
        (lambda c: c.area == "425" and c.area != "206", BOOL),
        (lambda c: c.area in ("425", "206"), BOOL),
        (lambda c: c.area not in AREAS, BOOL),
        (lambda c: c.phone in (1, 2.0, -3), BOOL),
        (lambda c: (c.phone, c.area) == (1, "425"), BOOL),
        (lambda c: (c.phone, c.ts)[1], FLOAT),
        (lambda c: c[3], FLOAT),
        (lambda c: ORIGIN.x, FLOAT),
        (lambda c: c.ts > SETTINGS.limit, BOOL),
        (lambda c: None, NONE),
    ],
)
def test_an_expression_has_the_type_of_what_python_computes(fn: Any, expected: Type) -> None:
    assert result(fn) == expected


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda c: c.phone if c.is_paid else c.ts, "has an int or a float in `c.phone if c.is_paid else c.ts`"),
        (lambda c: c.phone**c.phone, "raises an int to a power that may be negative (`**`)"),
        (lambda c: max(c.phone, c.ts), "calls max on an int and a float, which gives either"),
        (lambda c: c.ts | 1, "computes `|` with a float"),
        (lambda c: c.at + 1, "computes with a Point (`+`)"),
        (lambda c: round(c.ts, 2), "calls round with 2 arguments"),
        (lambda c: math.gamma(c.ts), "calls math.gamma"),
        (lambda c: math.log(c.ts, 2), "calls math.log with 2 arguments"),
        (lambda c: c.area.lower() == "x", "handles strings (`.lower()`)"),
        (lambda c: c.area + "x", "handles strings (`+`)"),
        (lambda c: c.area[0], "handles strings (`[…]`)"),
        (lambda c: c.area < "x", "handles strings (compares their order)"),
        (lambda c: 1 if c.area else 2, "handles strings (asks whether one is empty)"),
        (lambda c: f"{c.phone}", "handles strings (an f-string)"),
        (lambda c: int(c.area), "handles strings (`int`)"),
        (lambda c: c.area == 3, "compares a str with an int"),
        (lambda c: c.at == ORIGIN, "compares tuple values"),  # a NaN equals itself if it is the same object
        (lambda c: c.ts in (math.nan,), "looks into `(math.nan,)`"),
        (lambda c: c.area in GROWING, "looks into a set that is changed"),
        (lambda c: c.phone is True, "compares with `is`"),
        (lambda c: json.loads("1"), "calls json.loads"),
        (lambda c: time.time(), "calls time.time"),
        (lambda c: len(c.area), "calls len"),
        (lambda c: c.at.length, "reads `.length` of a `Point`, which is not one of its values"),
        (lambda c: c.missing, "reads `.missing` of a `Call`, which is not one of its values"),
        (lambda c: [x + 1 for x in (1, 2)], "uses a comprehension"),
        (lambda c: HANDED_ON, "uses `HANDED_ON`, a set, as a value"),
        (lambda c: Settings(1.0), "makes a `Settings`"),
        (lambda c: Point(*c[:2]), "looks into `c[:2]`"),
    ],
)
def test_what_generated_code_cannot_rely_on_is_named(fn: Any, expected: str) -> None:
    found = [problem.reason.partition(" (tests")[0] for problem in typed(fn).problems]
    assert expected in found


def grow(c: Call) -> None:
    GROWING.add(c.area)


def test_a_problem_has_its_line() -> None:
    def parse(c: Call) -> float:
        x = c.ts
        return x + json.loads("1")  # type: ignore[no-any-return]

    (problem,) = typed(parse).problems
    assert problem.reason == "calls json.loads"
    assert problem.location is not None
    assert problem.location.code.startswith("return x + json.loads")


# An int that later is a float --------------------------------------------------------------------------------------


def test_a_literal_may_begin_what_later_holds_floats() -> None:
    def total(c: Call) -> float:
        best = 0
        if c.ts > best:
            best = c.ts  # type: ignore[assignment]
        return best + c.ts

    found = typed(total)
    assert (found.variables["best"], found.result, found.problems) == (FLOAT, FLOAT, ())
    loose = sorted({ast.unparse(node) for node in found.loose})
    assert loose == ["best"]  # Python may have the int here; with a float added it no longer does


@pytest.mark.parametrize(
    "fn",
    [
        lambda c: -(c.ts if c.is_paid else 0),  # -0 is 0, -0.0 is not
        lambda c: (c.ts if c.is_paid else 0) * c.phone,  # 0 * -1 is 0, 0.0 * -1 is -0.0
        lambda c: (c.ts if c.is_paid else 1) / c.phone,  # ints divide exactly, also beyond 2**53
    ],
)
def test_where_the_int_would_show_it_is_a_problem(fn: Any) -> None:
    (reason,) = reasons(fn)
    assert "an int that later is a float" in reason


def test_a_power_may_be_complex_so_it_is_a_loose_float() -> None:
    root, square = typed(lambda c: c.ts**0.5), typed(lambda c: c.ts**2)
    assert root.result == square.result == FLOAT
    assert [ast.unparse(node) for node in root.loose] == ["c.ts ** 0.5"]
    assert list(square.loose) == []


# Statements --------------------------------------------------------------------------------------------------------


def test_a_variable_has_one_type_whatever_the_flow() -> None:
    def found(c: Call) -> float | None:
        last = None
        n, y = 0, c.ts
        for i in range(c.phone):
            if i % 2 == 0:
                n += i
                continue
            last = y
        while n > 0:
            n -= 1
            if n == 5:
                break
        return last

    kinds = typed(found)
    assert kinds.problems == ()
    optional = Type("float", optional=True)
    assert kinds.variables == {"c": CALL, "last": optional, "n": INT, "y": FLOAT, "i": INT}
    assert kinds.result == optional


def test_a_variable_of_two_types_is_a_problem() -> None:
    def mixed(c: Call) -> float:
        x: float = c.phone
        x = c.ts
        return x

    assert reasons(mixed) == ["keeps an int or a float in `x`"]


def test_a_variable_that_may_have_no_value_is_a_problem() -> None:
    def sometimes(c: Call) -> float:
        if c.ts > 0:
            x = 1.0
        return x

    def always(c: Call) -> float:
        if c.ts > 0:
            x = 1.0
        elif c.ts < 0:
            return 2.0
        else:
            x = 3.0
        return x

    def endless(c: Call) -> float:
        while True:
            x = c.ts
            if x > 0:
                break
        return x

    assert reasons(sometimes) == ["may read `x` before it has a value"]
    assert result(always) == FLOAT
    assert result(endless) == FLOAT


def test_what_only_some_paths_of_an_expression_assign_may_have_no_value() -> None:
    assert reasons(lambda c: (c.is_paid and (y := c.ts) > 0) or y > 1) == ["may read `y` before it has a value"]
    assert reasons(lambda c: ((y := c.ts) if c.is_paid else 1.0) + y) == ["may read `y` before it has a value"]
    assert result(lambda c: ((y := c.ts) > 0 and c.is_paid) or y > 1) == BOOL


def test_a_function_that_falls_off_its_end_may_give_none() -> None:
    def known(c: Call) -> Travel | None:
        if c.price is not None:
            return Travel(c.phone, c.price, c.ts)
        return None

    def fallen(c: Call) -> Any:
        if c.price is not None:
            return Travel(c.phone, c.price, c.ts)

    for fn in (known, fallen):
        assert str(result(fn)) == "Travel | None"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("assert c.ts > 0", "uses `assert`"),
        ("raise ValueError(c.ts)", "uses `raise`"),
        ("del c", "uses `del`"),
        ("try:\n        x = c.ts\n    except ValueError:\n        x = 0.0", "uses `try`"),
        ("with c as d:\n        pass", "uses `with`"),
        ("for a in c:\n        pass", "goes through `c`"),
        ("for a in range(3):\n        pass\n    else:\n        pass", "uses `else` of a loop"),
        ("import os", "uses `import`"),
        ("a, *b = c", "unpacks with `*`"),
        ("c.ts = 1.0", "changes `c`"),
    ],
)
def test_other_statements_are_problems_and_the_rest_is_typed(statement: str, expected: str, tmp_path: Any) -> None:
    module = written(tmp_path, f"def fn(c):\n    {statement}\n    y = 2.5\n    return y\n")
    found = typed(module["fn"])
    assert expected in [problem.reason for problem in found.problems]
    assert found.variables["y"] == FLOAT


def written(folder: Any, text: str) -> dict[str, Any]:
    """The names of a program in a file of its own."""
    file = folder / "program.py"
    file.write_text(text)
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, str(file), "exec"), names)
    return names


# Emissions ---------------------------------------------------------------------------------------------------------


def test_generators_emit_tuples_and_address_outputs() -> None:
    def process(c: Call) -> Iterator[Any]:
        """What it does."""
        yield c
        yield ab.to("high", Travel(c.phone, c.ts))
        yield from (c, ab.to(OUTPUT, c))
        return

    found = typed(process)
    assert (found.problems, found.is_generator) == ((), True)
    sent = [called for called in found.calls.values() if isinstance(called, To)]
    assert [(to.output, ast.unparse(to.item)) for to in sent] == [("high", "Travel(c.phone, c.ts)"), ("low", "c")]


OUTPUT = "low"


@pytest.mark.parametrize(
    "fn",
    [lambda c: [c, c], lambda c: [c] if c.ts > 0 else [], lambda c: (c, c) if c.ts > 0 else ()],
)
def test_displays_of_tuples_may_be_returned(fn: Any) -> None:
    assert result(fn).kind == "emissions"


def test_what_is_emitted_must_be_a_tuple() -> None:
    def number(c: Call) -> Iterator[float]:
        yield c.ts

    def chosen(c: Call) -> Iterator[Any]:
        yield ab.to("high" if c.ts > 0 else "low", c)

    assert reasons(number) == ["emits a float"]
    assert reasons(chosen) == ["chooses the output of ab.to by a value"]
