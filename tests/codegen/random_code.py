"""Random user code as source text: expressions of a wanted type, and bodies of functions and methods.

It stays inside of what native code understands, mostly, and aims at where native code could differ from Python: the
order of evaluation, variables and state that are read and changed in one expression, None, ints and floats mixed.
"""

from __future__ import annotations

import random

PRELUDE = '''
import math
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab

class Item(NamedTuple):
    i: int
    k: int
    f: float
    b: bool
    s: str
    o: int | None
    p: float | None
    q: bool | None
    u: str | None
    ts: float

class Pair(NamedTuple):
    x: int
    y: float

class Triple(NamedTuple):
    a: float | None
    b: int = 1
    c: str = "c"

LIMIT = 3
RATE = 0.5
LARGE = 2**53 + 1
NAME = "ab"
NAMES = ("", "ab", "é")

def clipped(x, low=0, high=9):
    if x < low:
        return low
    return high if x > high else x

def halved(x):
    """None stays None."""
    if x is None:
        return None
    return x / 2

def swapped(p):
    return Pair(int(p.y) if -1e9 < p.y < 1e9 else 0, p.x)

def sloped(x, y, unit=2.0) -> float:
    d = y - x
    if d == 0:
        d = 1.0
    return unit / d
'''
ATTRIBUTES = {
    "i": "int", "k": "int", "f": "float", "b": "bool", "s": "str", "o": "int?", "p": "float?", "q": "bool?",
    "u": "str?", "ts": "float",
}  # fmt: skip
LITERALS = {
    "int": ("0", "1", "2", "7", "-3", "LIMIT", "10"),
    "float": ("0.0", "-0.0", "0.5", "2.0", "-1.5", "RATE", "1e300", "math.pi"),
    "bool": ("True", "False"),
    "str": ("NAME", "''", "'é'", "'a long constant, longer than sixteen bytes'"),
}
COMPARED = ("<", "<=", ">", ">=", "==", "!=")


class Scope:
    """What an expression may read: by type, and which of the names may be assigned in it."""

    def __init__(self, readable: dict[str, list[str]]) -> None:
        self.readable = readable
        self.count = 0

    @classmethod
    def of_tuple(cls, name: str, attributes: dict[str, str]) -> Scope:
        readable: dict[str, list[str]] = {}
        for attribute, kind in attributes.items():
            readable.setdefault(kind, []).append(f"{name}.{attribute}")
        return cls(readable)

    def names(self, kind: str) -> list[str]:
        return self.readable.get(kind, [])

    def add(self, kind: str, name: str) -> None:
        self.readable.setdefault(kind, []).append(name)

    def inner(self) -> Scope:
        """For a block that may not run: what is assigned there is unknown behind it."""
        made = Scope({kind: list(names) for kind, names in self.readable.items()})
        made.count = self.count
        return made


class CodeWriter:
    """Writes code; `risk` is how often an operation is left unguarded that fails for some values."""

    def __init__(self, choices: random.Random, risk: float = 0.05) -> None:
        self.random = choices
        self.risk = risk

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # Expressions ------------------------------------------------------------------------------------------------

    def expression(self, kind: str, scope: Scope, depth: int = 2) -> str:
        if kind.endswith("?"):
            return self._optional(kind[:-1], scope, depth)
        if depth <= 0 or self.chance(0.2):
            return self.leaf(kind, scope)
        write = {"int": self._int, "float": self._float, "bool": self._bool, "str": self._str}[kind]
        return write(scope, depth - 1)

    def leaf(self, kind: str, scope: Scope) -> str:
        names = scope.names(kind)
        return self.random.choice(names) if names and not self.chance(0.2) else self.pick(*LITERALS[kind])

    def _chosen(self, kind: str, scope: Scope, depth: int) -> str:
        """Forms that every type has."""
        one, other = self.expression(kind, scope, depth), self.expression(kind, scope, depth)
        test = self.expression("bool", scope, depth)
        return f"({one} if {test} else {other})"

    def _optional(self, kind: str, scope: Scope, depth: int) -> str:
        names = scope.names(f"{kind}?")
        if names and self.chance(0.5):
            return self.random.choice(names)
        inner = self.expression(kind, scope, depth - 1)
        if self.chance(0.3) and kind == "float" and names:
            return f"halved({self.random.choice(names)})"
        return self.pick(inner, "None", f"({inner} if {self.expression('bool', scope, depth - 1)} else None)")

    def _present(self, kind: str, scope: Scope) -> str | None:
        """An optional, where it is not None."""
        names = scope.names(f"{kind}?")
        if not names:
            return None
        name = self.random.choice(names)
        if self.chance(self.risk):
            return name
        other = self.leaf(kind, scope)
        forms = [f"({name} if {name} is not None else {other})", f"({other} if {name} is None else {name})"]
        return self.pick(*forms, f"({name} or {other})") if kind != "str" else self.pick(*forms)

    def _int(self, scope: Scope, depth: int) -> str:
        one, other = self.expression("int", scope, depth), self.expression("int", scope, depth)
        small = f"({self.expression('int', scope, depth)} % 7)"
        real, truth = self.expression("float", scope, depth), self.expression("bool", scope, depth)
        options = [
            f"({one} + {other})", f"({one} - {other})", f"({one} * {small})", f"(-{one})", f"abs({one})",
            f"({one} // {self.pick('2', '-3', '7')})", f"({one} % {self.pick('2', '-3', '10')})",
            f"min({one}, {other})", f"max({other}, {one}, 1)", f"({one} {self.pick('&', '|', '^')} {other})",
            f"(~{one})", f"({one} << {self.pick('0', '2')})", f"({one} >> {self.pick('1', '70')})",
            f"({small} ** {self.pick('0', '2', '3')})", f"int({truth})", f"({truth} + {truth})", f"clipped({one})",
            f"clipped({one}, high={other})", f"clipped(low={other}, x={one})",
            f"(round({real}) if -1e15 < {real} < 1e15 else 0)", f"(math.floor({real}) if abs({real}) < 1e9 else -1)",
            f"Pair({one}, {real}).x", f"swapped(Pair({one}, {real})).x", f"({one}, {other})[{self.pick('0', '1')}]",
            self._chosen("int", scope, depth), self._present("int", scope) or one,
        ]  # fmt: skip
        if self.chance(self.risk):
            options = [
                f"({one} // {other})",
                f"({one} % {small})",
                f"int({real})",
                f"({one} * {other})",
                f"({one} ** 3)",
            ]
        return self.random.choice(options)

    def _float(self, scope: Scope, depth: int) -> str:
        one, other = self.expression("float", scope, depth), self.expression("float", scope, depth)
        whole, truth = self.expression("int", scope, depth), self.expression("bool", scope, depth)
        options = [
            f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"({one} / {self.pick('2', '-0.3')})",
            f"({one} * {whole})", f"({whole} - {one})", f"({whole} / {self.pick('3', '-7', '9007199254740993')})",
            f"(-{one})", f"abs({one})", f"({one} % {self.pick('2.0', '-0.7')})", f"({one} // {self.pick('2.0', '3')})",
            f"(abs({one}) ** {self.pick('0.5', '2', '1.5')} if abs({one}) < 1e100 and {one} != 0.0 else {other})",
            f"float({whole})", f"min({one}, {other})", f"max(0, {one})", f"math.sqrt(abs({one}))", f"(+{one})",
            f"math.atan2({one}, {other})", f"math.copysign({one}, {whole})", f"math.hypot({whole}, 2)",
            f"(math.sin({one}) if math.isfinite({one}) else 0)", f"Pair({whole}, {one}).y", f"({one} + {truth})",
            f"(0 if {truth} else {one})", f"({one} / {other} if {other} else {self.pick('0', '1.0')})",
            f"swapped(Pair({whole}, {one})).y", f"sloped({one}, {other})", self._chosen("float", scope, depth),
            self._present("float", scope) or one,
        ]  # fmt: skip
        if self.chance(self.risk):
            options = [
                f"({one} / {other})",
                f"math.sqrt({one})",
                f"math.exp({one})",
                f"({one} ** {other})",
                f"({one} % {other})",
            ]
        return self.random.choice(options)

    def _bool(self, scope: Scope, depth: int) -> str:
        whole, other_whole = self.expression("int", scope, depth), self.expression("int", scope, depth)
        real, other_real = self.expression("float", scope, depth), self.expression("float", scope, depth)
        truth, other_truth = self.expression("bool", scope, depth), self.expression("bool", scope, depth)
        text, other_text = self.expression("str", scope, depth), self.expression("str", scope, depth)
        compared = self.pick(*COMPARED)
        maybe = self.pick(*(scope.names(self.pick("int?", "float?", "bool?", "str?")) or ["None"]))
        options = [
            f"({whole} {compared} {other_whole})", f"({real} {compared} {other_real})", f"({whole} {compared} {real})",
            f"({real} {compared} {self.pick('LARGE', '3', '-0.0')})", f"({text} {self.pick('==', '!=')} {other_text})",
            f"({truth} {self.pick('and', 'or')} {other_truth})", f"(not {truth})",
            f"({truth} {compared} {other_truth})",
            f"({truth} {self.pick('&', '|', '^')} {other_truth})", f"({maybe} {self.pick('is', 'is not')} None)",
            f"({maybe} {self.pick('==', '!=')} None)", f"bool({self.pick(whole, real, truth)})", f"math.isnan({real})",
            f"({whole} {self.pick('in', 'not in')} (1, 2.0, -3))", f"({text} in NAMES)",
            f"({text} not in {{'ab', 'x'}})",
            f"({whole} < {self.leaf('int', scope)} <= {self.leaf('int', scope)})",
            f"({other_whole} != 0 and {whole} % {other_whole} == 1)",
            f"({self.leaf('float', scope)} == 0.0 or 1 / {self.leaf('float', scope)} > 0.25)"
            if self.chance(self.risk) else truth,
            self._chosen("bool", scope, depth), self._present("bool", scope) or truth,
        ]  # fmt: skip
        return self.random.choice(options)

    def _str(self, scope: Scope, depth: int) -> str:
        return self.pick(self._chosen("str", scope, depth), self._present("str", scope) or self.leaf("str", scope))

    def item(self, scope: Scope, attributes: dict[str, str], name: str, source: str | None) -> str:
        """An expression that makes a tuple; attributes of the same name pass through from `source`, often."""
        values = {
            attribute: f"{source}.{attribute}"
            if source is not None and self.chance(0.75)
            else self.expression(kind, scope, self.random.choice((0, 1, 1, 2)))
            for attribute, kind in attributes.items()
        }
        if source is not None and self.chance(0.3):
            changed = [f"{each}={value}" for each, value in values.items() if value != f"{source}.{each}"]
            return f"{source}._replace({', '.join(changed)})"
        if self.chance(0.3):
            pairs = list(values.items())
            self.random.shuffle(pairs)
            return f"{name}({', '.join(f'{each}={value}' for each, value in pairs)})"
        return f"{name}({', '.join(values.values())})"

    # Statements -------------------------------------------------------------------------------------------------

    def statements(self, scope: Scope, indent: str, count: int, depth: int, fields: dict[str, str]) -> list[str]:
        """Assignments, conditions and loops; `fields` of `self` by their types."""
        lines: list[str] = []
        for _ in range(count):
            form = self.random.random()
            if depth and form < 0.2:
                lines += self._condition(scope, indent, depth, fields)
            elif depth and form < 0.3:
                lines += self._loop(scope, indent, depth, fields)
            elif fields and form < 0.65:
                lines += self._field(scope, indent, fields)
            else:
                lines += self._local(scope, indent, fields)
        return lines

    def _condition(self, scope: Scope, indent: str, depth: int, fields: dict[str, str]) -> list[str]:
        lines = [f"{indent}if {self.expression('bool', scope, 2)}:"]
        lines += self.statements(scope.inner(), indent + "    ", 2, depth - 1, fields)
        if self.chance(0.4):
            lines.append(f"{indent}elif {self.expression('bool', scope, 1)}:")
            lines += self.statements(scope.inner(), indent + "    ", 1, depth - 1, fields)
        if self.chance(0.5):
            lines.append(f"{indent}else:")
            lines += self.statements(scope.inner(), indent + "    ", 1, depth - 1, fields)
        return lines

    def _loop(self, scope: Scope, indent: str, depth: int, fields: dict[str, str]) -> list[str]:
        inner = scope.inner()
        more = indent + "    "
        number = self.random.randrange(100)
        if self.chance(0.6):
            limits = self.pick(
                "4", f"({self.leaf('int', scope)}) % 5", "2, 9, 3", f"5, {self.leaf('int', scope)} % 4, -1"
            )
            lines = [f"{indent}for j{number} in range({limits}):"]
            inner.add("int", f"j{number}")
        else:
            lines = [f"{indent}left{number} = {self.expression('int', scope, 1)} % 6"]
            lines += [f"{indent}while left{number} > 0:", f"{more}left{number} -= 1"]
            inner.add("int", f"left{number}")
        lines += self.statements(inner, more, 1, 0, fields)
        if self.chance(0.5):
            lines += [f"{more}if {self.expression('bool', inner, 1)}:", f"{more}    {self.pick('break', 'continue')}"]
            lines += self.statements(inner, more, 1, 0, fields)
        return lines

    def _field(self, scope: Scope, indent: str, fields: dict[str, str]) -> list[str]:
        name = self.random.choice(list(fields))
        kind = fields[name]
        if kind in ("int", "float") and self.chance(0.4):
            operand = self.expression(kind, scope, 1)
            operator = self.pick("+", "-") if kind == "int" else self.pick("+", "-", "*")
            lines = [f"{indent}self.{name} {operator}= {operand}"]
            return [*lines, f"{indent}self.{name} %= 1000003"] if kind == "int" and self.chance(0.9) else lines
        if kind == "Pair?":
            value = self.pick("None", f"Pair({self.expression('int', scope, 1)}, {self.expression('float', scope, 1)})")
            return [f"{indent}self.{name} = {value}"]
        if kind == "Pair":
            swapped = f"Pair(self.{name}.x, self.{name}.y + self.{name}.x)"
            made = f"Pair({self.expression('int', scope, 1)}, {self.expression('float', scope, 1)})"
            return [f"{indent}self.{name} = {self.pick(swapped, made, f'swapped(self.{name})')}"]
        same = [each for each in fields if fields[each] == kind and each != name]
        if same and self.chance(0.3):
            return [f"{indent}self.{name}, self.{same[0]} = self.{same[0]}, {self.expression(kind, scope, 1)}"]
        value = self.expression(kind, scope, 2)
        if kind == "int":
            value = f"{value} % 1000003"
        return [f"{indent}self.{name} = {value}"]

    def _local(self, scope: Scope, indent: str, fields: dict[str, str]) -> list[str]:
        kind = self.pick("int", "int", "float", "float", "bool", "str", "int?", "float?")
        mine = [name for name in scope.names(kind) if name.startswith("v")]
        if mine and self.chance(0.5):
            name = self.random.choice(mine)
            if kind in ("int", "float") and self.chance(0.5):
                return [f"{indent}{name} {self.pick('+', '-')}= {self.expression(kind, scope, 1)}"]
            return [f"{indent}{name} = {self.expression(kind, scope, 2)}"]
        scope.count += 1
        name = f"v{kind.rstrip('?')[0]}{'o' * kind.endswith('?')}{scope.count}_{self.random.randrange(1000)}"
        value = self.expression(kind, scope, 2)
        if kind == "int" and self.chance(0.2):
            lines = [f"{indent}{name} = ({name}_ := {value}) + {name}_"]
        elif kind == "float" and self.chance(0.2):
            lines = [f"{indent}{name}, {name}_ = {value}, {self.expression('bool', scope, 1)}"]
        elif kind == "int" and "pair" in fields and self.chance(0.3):
            lines = [f"{indent}{name}, {name}_ = self.pair"]
        else:
            lines = [f"{indent}{name} = {value}"]
        scope.add(kind, name)
        return lines
