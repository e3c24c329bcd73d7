"""Random functions are typed and run: whatever inference says of them holds for what Python computes.

And where it finds no problem, computing as the types say, with floats wherever a float is said to be, gives the same
bits: that is what native code will do.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anabranch.codegen.functions import UserFunction, user_function
from anabranch.codegen.inference import Typed, type_function
from anabranch.codegen.types import Type, type_of_schema
from anabranch.graph.schema import schema_of
from tests.codegen.exactness import exact

PRELUDE = """
import math
from typing import NamedTuple

class In(NamedTuple):
    i: int
    j: int
    f: float
    g: float
    b: bool
    o: float | None
    p: int | None

class Pair(NamedTuple):
    x: float
    y: float = 0

LIMIT = 3
ZERO = 0
HALF = 0.5

def same(a): return a
def larger(a, b=0): return a if a > b else b
def halved(a):
    if a is None:
        return None
    return a / 2
def paired(a, b): return Pair(a, b)
"""
VARIABLES = "abcd"
LITERALS = ("0", "1", "-1", "2", "7", "0.0", "-0.0", "0.5", "1e300", "9007199254740993", "True", "None")


class Writer:
    """Writes the source of random functions; a tame one mixes little besides floats and the ints they begin with."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.in_loop = False
        self.is_tame = False

    def tame_expression(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick([*VARIABLES, *VARIABLES, "t.f", "t.g", "0", "0", "3", "0.5"])
        one, other = self.tame_expression(depth - 1), self.tame_expression(0)
        return pick(
            [
                f"({one} {pick('+-*/')} {pick(['t.f', 't.g', other])})",
                f"({one} / t.i)",
                f"(-{one})",
                f"abs({one})",
                f"max({one}, {other})",
                f"({one} if t.b else {other})",
                f"(({other} if t.f < t.g else {one}) + t.f)",
            ]
        )

    def expression(self, depth: int) -> str:
        if self.is_tame:
            return self.tame_expression(depth)
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.15:
            return pick([*LITERALS, *VARIABLES, *VARIABLES, "t.i", "t.j", "t.f", "t.g", "t.b", "t.o", "t.p", "LIMIT"])
        one, other, third = (self.expression(depth - 1) for _ in range(3))
        checked = pick([*VARIABLES, "t.o", "t.p"])
        # An int to the power of a large int would never end.
        powers = () if self.in_loop else (f"({one} ** 2)", f"(t.f ** {one})", f"({one} ** t.g)", f"({one} ** HALF)")
        return pick(
            [
                *(f"({one} {op} {other})" for op in ("+", "-", "*", "/", "//", "%", "&", "|")),
                *powers,
                f"({one} if {third} else {other})",
                f"({checked} if {checked} is not None else {other})",
                f"({one} or {other})",
                f"({one} and {other})",
                f"({one} {pick(['<', '<=', '==', '!='])} {other})",
                f"({one} in (1, 2.0, -3))",
                f"(not {one})",
                f"(-{one})",
                f"abs({one})",
                f"min({one}, {other})",
                f"max({one}, {other}, ZERO)",
                f"int({one})",
                f"float({one})",
                f"round({one})",
                f"math.sqrt({one})",
                f"math.floor({one})",
                f"math.copysign({one}, {other})",
                f"same({one})",
                f"larger({one})",
                f"larger(b={one}, a={other})",
                f"halved({one})",
                f"paired({one}, {other}).x",
                f"({one}, {other})[1]",
                f"(e := {one})",
            ]
        )

    def statements(self, count: int, indent: str, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            name = self.random.choice(VARIABLES)
            kind = self.random.random()
            if depth and kind < 0.25:
                lines.append(f"{indent}if {self.expression(1)}:")
                lines += self.statements(2, indent + "    ", depth - 1)
                if self.random.random() < 0.5:
                    lines.append(f"{indent}else:")
                    lines += self.statements(1, indent + "    ", depth - 1)
            elif depth and kind < 0.35 and not self.in_loop:
                self.in_loop = True
                lines.append(f"{indent}for {name} in range(3):")
                lines += self.statements(2, indent + "    ", depth - 1)
                self.in_loop = False
            elif kind < 0.45:
                lines.append(f"{indent}{name} {self.random.choice('+-*/')}= {self.expression(1)}")
            elif kind < 0.55:
                other = self.random.choice(VARIABLES)
                lines.append(f"{indent}{name}, {other} = {self.expression(1)}, {self.expression(1)}")
            else:
                lines.append(f"{indent}{name} = {self.expression(self.random.choice((1, 2)))}")
        return lines

    def function(self, name: str) -> str:
        self.is_tame = self.random.random() < 0.6
        lines = [f"def {name}(t):"]
        literals = ("0", "0.5", "3", "t.f") if self.is_tame else LITERALS
        lines += [f"    {variable} = {self.random.choice(literals)}" for variable in VARIABLES]
        lines += self.statements(self.random.choice((1, 2, 3)), "    ", 2)
        lines.append(f"    return {', '.join(VARIABLES)}, {self.expression(2)}")
        return "\n".join(lines) + "\n"


def load(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def inputs(module: ModuleType, seed: int) -> list[Any]:
    rng = random.Random(seed)
    ints = [0, 1, -1, 2, 7, -5, 2**53 + 1, -(2**63), 2**63 - 1]
    floats = [0.0, -0.0, 1.0, -1.5, 0.1, math.inf, -math.inf, math.nan, 1e308, 5e-324]
    return [
        module.In(
            rng.choice(ints),
            rng.choice(ints),
            rng.choice(floats),
            rng.choice(floats),
            rng.random() < 0.5,
            rng.choice([None, *floats]),
            rng.choice([None, *ints]),
        )
        for _ in range(25)
    ]


def is_of(value: Any, kind: Type, is_loose: bool) -> bool:
    """Whether a value is what its type says."""
    if kind.kind == "unknown":
        return True
    if value is None:
        return kind.optional or kind.kind == "none"
    if kind.kind == "int":
        return type(value) is int and kind.constant in (None, value)
    if kind.kind == "float":
        return type(value) is float or (is_loose and type(value) in (int, complex))
    if kind.kind == "tuple":
        return all(is_of(v, k, is_loose) for v, (_, k) in zip(value, kind.members, strict=True))
    return type(value).__name__ == kind.kind


def returned(function: UserFunction) -> list[ast.expr]:
    assert isinstance(function.node, ast.FunctionDef)
    last = function.node.body[-1]
    assert isinstance(last, ast.Return)
    assert isinstance(last.value, ast.Tuple)
    return last.value.elts


class AsTyped(ast.NodeTransformer):
    """Makes every float of an expression that is said to be one."""

    def __init__(self, kinds: Typed) -> None:
        self.kinds = kinds

    def visit(self, node: ast.AST) -> Any:
        changed = self.generic_visit(node)
        kind = self.kinds.types.get(node) if isinstance(node, ast.expr) else None  # type: ignore[arg-type]
        if kind is None or kind.kind != "float" or isinstance(getattr(node, "ctx", None), ast.Store):
            return changed
        assert isinstance(changed, ast.expr)
        made = ast.Call(ast.Name("as_float", ast.Load()), [changed], [])
        return ast.fix_missing_locations(ast.copy_location(made, changed))


def as_float(value: Any) -> Any:
    return float(value) if type(value) is int else value


def as_typed(function: UserFunction, kinds: Typed) -> Any:
    """The function with floats wherever inference says so, helpers apart: they are given these floats."""
    text = ast.unparse(function.node)
    copy = ast.parse(text).body[0]
    pairs = zip(ast.walk(function.node), ast.walk(copy), strict=True)
    types = {other: kinds.types[one] for one, other in pairs if one in kinds.types}
    changed = AsTyped(type("Kinds", (), {"types": types})).visit(copy)  # type: ignore[arg-type]
    names = {**function.definition.__globals__, "as_float": as_float}
    exec(compile(ast.Module([changed], []), "as typed", "exec"), names)
    return names[function.definition.__name__]


def bits(value: Any, kind: Type) -> Any:
    """What is seen of a value once it is an attribute of its type; NaNs are all alike."""
    return exact(as_float(value) if kind.kind == "float" else value)


ERRORS = (TypeError, ValueError, ArithmeticError)


@pytest.mark.parametrize("seed", range(8))
def test_values_are_what_their_types_say(seed: int, tmp_path: Path) -> None:
    writer = Writer(seed)
    count = 150
    text = PRELUDE + "\n".join(writer.function(f"fn{at}") for at in range(count))
    module = load(tmp_path / f"random_types_{seed}.py", text)
    kind = type_of_schema(schema_of(module.In))
    checked = complete = 0
    for at in range(count):
        function = user_function(getattr(module, f"fn{at}"))
        assert isinstance(function, UserFunction), function
        found = type_function(function, [kind])
        elements = returned(function)
        other = as_typed(function, found) if not found.problems else None
        for item in inputs(module, seed):
            try:
                values = function.definition(item)
            except ERRORS:
                continue
            for value, node in zip(values, elements, strict=True):
                assert is_of(value, found.types[node], node in found.loose), (ast.unparse(function.node), item)
                checked += found.types[node].is_known
            if other is not None and not any(type(value) is complex for value in values):
                complete += 1
                seen = [bits(v, found.types[n]) for v, n in zip(values, elements, strict=True)]
                again = [bits(v, found.types[n]) for v, n in zip(other(item), elements, strict=True)]
                assert seen == again, (ast.unparse(function.node), item)
    assert checked > 5000
    assert complete > 500
