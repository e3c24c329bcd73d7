"""Random operators are analysed and run: whatever the analysis claims of them holds.

The operators are made of aliases, containers, closures, loops, handlers and stored tuples; a third of them may also
touch globals. Claims are tested by running: a stateless operator with a new instance per tuple in any order, a
partitioned one with each key in a world of its own, and every emission against what is said to be forwarded.
"""

from __future__ import annotations

import copy
import functools
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anabranch.analysis import Findings, analyze_operator
from anabranch.graph.schema import schema_of

PRELUDE = """
from typing import NamedTuple
import contextlib, itertools

class In(NamedTuple):
    key: int
    n: int
    m: int
    xs: list[int]

class Out(NamedTuple):
    key: int
    n: int
    m: int = 7

GROWING = [1, 2]
WRITTEN = {0: 1, 1: 2}
CONSTANT = {0: 1, 1: 2}
FIXED = [3, 4]
LIMIT = 5
NUMBERS = itertools.count()

def same(a): return a
def first(a, b): return a
def alone(a): return [a]
def pick(c, a, b): return a if c else b
def each(xs):
    for x in xs:
        yield x
def push(xs, v):
    xs.append(v)
    return v
def grow(v):
    GROWING.append(v)
    return len(GROWING)
def adder(v):
    acc = [v]
    def add(w):
        acc.append(w)
        return sum(acc)
    return add
def call(f, v): return f(v)
def fail(xs): raise ValueError(xs)

class Box:
    def __init__(self, v):
        self.v = v
        self.items = []
    def put(self, x):
        self.items.append(x)
        return self
    def get(self): return self.items
"""


NUMBERS = [
    "(<n> + <n>)", "(<n> if <n> > <n> else <n>)", "len(<xs>)", "same(<n>)", "first(<n>, <n>)", "max(<n>, <n>)",
    "(<xs> or [0])[0]", "sum(<xs>)", "push(<xs>, <n>)", "(w := <n>)", "adder(<n>)(<n>)", "LIMIT",
    "CONSTANT.get(t.n, 1)",
]  # fmt: skip
STATE_NUMBERS = [
    "self.a", "self.b", "self.f()", "self.box.v", "next(self.steps, 0)", "(self.t or t).key",
    "(self.kept or [t])[-1].key", "(self.kept or [t])[0].n",
]  # fmt: skip
LISTS = [
    "[<n>, <n>]", "alone(<n>)", "pick(<n>, <xs>, <xs>)", "[x for x in <xs>]", "list(each(<xs>))", "(<xs> + <xs>)",
    "sorted(<xs>)", "same(<xs>)", "{0: <xs>}[0]", "(<n> and <xs> or <xs>)", "Box(<n>).put(<n>).get()",
    "(<xs>, <xs>)[0]", "[*<xs>]",
]  # fmt: skip


class Writer:
    """Writes one random operator."""

    def __init__(self, chance: random.Random, may_share: bool) -> None:
        self.chance = chance
        self.may_share = may_share
        self.depth = 0
        self.numbers: list[str] = []
        self.lists: list[str] = []
        self.tuples: list[str] = []
        self.has_state = chance.random() < 0.75

    def one_of(self, *texts: str) -> str:
        return self.chance.choice(texts)

    def filled(self, templates: list[str], depth: int) -> str:
        """One of the templates, with its places `<n>` and `<xs>` filled by numbers and lists."""
        chosen = self.chance.choice(templates)
        write = {"<n>": self.number, "<xs>": self.values}
        return re.sub("<n>|<xs>", lambda place: write[place.group()](depth + 1), chosen)

    def number(self, depth: int = 0) -> str:
        choices = ["t.n", "t.m", "t.key", "t.key", "1", *self.numbers, *self.numbers]
        if depth <= 2:
            choices += NUMBERS
            choices += STATE_NUMBERS if self.has_state else []
            choices += ["grow(t.n)", "next(NUMBERS)", "WRITTEN.get(t.n, 0)"] if self.may_share else []
        return self.filled(choices, depth)

    def values(self, depth: int = 0) -> str:
        choices = ["list(t.xs)", "t.xs[:]", "list(FIXED)", *self.lists, *self.lists]
        if depth <= 2:
            choices += LISTS
            choices += ["self.items", "self.items", "self.five"] if self.has_state else []
            choices += ["t.xs", "GROWING", "FIXED"] if self.may_share else []
        return self.filled(choices, depth)

    def output(self) -> str:
        choices = ["Out(<n>, <n>)", "Out(t.key, <n>, <n>)", "Out(n=<n>, key=<n>)", "Out(*t[:2])"]
        choices += ["Out(t.key, t.n, <n>)"] * 3
        choices += [*self.tuples, *(f"{name}._replace(n=<n>)" for name in self.tuples)]
        choices += ["self.out"] if self.has_state else []
        return self.filled(choices, depth=1)

    def block(self, indent: str, length: int, in_loop: bool = False) -> list[str]:
        before = list(self.numbers), list(self.lists), list(self.tuples)
        self.depth += 1
        lines = [line for _ in range(length) for line in self.statement(indent, in_loop)]
        self.depth -= 1
        self.numbers, self.lists, self.tuples = before
        return lines or [f"{indent}pass"]

    def statement(self, indent: str, in_loop: bool) -> list[str]:
        inner = indent + "    "
        n, xs, some = self.number, self.values, self.chance.random
        kind = self.chance.randrange(22 if self.has_state else 14)
        if kind in (4, 5, 6, 7, 8) and self.depth > 3:
            kind = 0
        match kind:
            case 0:
                line = f"{indent}{(name := self.one_of('i0', 'i1'))} = {n()}"
                self.numbers = sorted({*self.numbers, name})
                return [line]
            case 1 | 2:
                line = f"{indent}{(name := self.one_of('l0', 'l1'))} = {xs()}"
                self.lists = sorted({*self.lists, name})
                return [line]
            case 3:
                line = f"{indent}{(name := self.one_of('o0', 'o1'))} = {self.output()}"
                self.tuples = sorted({*self.tuples, name})
                return [line]
            case 4:
                lines = [f"{indent}if {n()} > {n()}:", *self.block(inner, 2, in_loop)]
                return lines + ([f"{indent}else:", *self.block(inner, 2, in_loop)] if some() < 0.6 else [])
            case 5:
                return [f"{indent}for _ in list({xs()})[:3]:", *self.block(inner, 2, in_loop=True)]
            case 6:
                handler = [f"{indent}except ValueError as e:", f"{inner}i0 = len(e.args)"]
                final = [f"{indent}finally:", *self.block(inner, 1, False)] if some() < 0.3 else []
                tried = [*self.block(inner, 2, False), f"{inner}fail({xs()})" if some() < 0.5 else f"{inner}pass"]
                return [f"{indent}try:", *tried, *handler, *self.block(inner, 1, False), *final]
            case 7:
                return [f"{indent}with contextlib.suppress(ValueError):", *self.block(inner, 2, in_loop)]
            case 8:
                arms = [f"{inner}case 1 | 2:", *self.block(inner + "    ", 1, in_loop)]
                return [f"{indent}match {n()}:", *arms, f"{inner}case other:", *self.block(inner + "    ", 1, in_loop)]
            case 9:
                return [f"{indent}{xs()}.append({n()})"]
            case 10:
                return [f"{indent}yield {self.output()}"] if some() < 0.6 else [f"{indent}yield from [{self.output()}]"]
            case 11:
                return [f"{indent}if {n()} > 3: {self.one_of('break', 'continue') if in_loop else 'return'}"]
            case 12:
                return [f"{indent}def f(z=({n()})): return {n()}", f"{indent}i0 = call(f, {n()})"]
            case 13:
                return [f"{indent}l9 = {xs()}", f"{indent}l9 += [{n()}]"]
            case 14:
                return [f"{indent}self.{self.one_of('a', 'b')} += {n()}"]
            case 15:
                return [f"{indent}self.items = {xs()}"]
            case 16:
                return [f"{indent}self.out = {self.output()}"]
            case 17:
                return [f"{indent}{self.one_of('self.t = t', 'self.kept.append(t)', 'self.a = t.key')}"]
            case 18:
                return [f"{indent}self.f = lambda z=t.key: {n()}"]
            case 19:
                return [f"{indent}self.box = Box(t.key).put(t.n)", f"{indent}self.steps = each([t.key, t.n])"]
            case 20:
                return [f"{indent}for u in self.kept[-2:]:", f"{inner}yield Out(u.key, u.n)"]
            case _:
                return [f"{indent}if self.t: yield Out(self.t.key, self.t.n, t.m)"]

    def operator(self) -> str:
        lines = ["class Op:"] + (["    items = []"] if self.chance.random() < 0.2 else [])
        lines += ["    def __init__(self):"]
        starts = ["self.a = self.b = 0", "self.out = Out(-1, -1)", "self.five = [5]", "self.t = None", "self.kept = []"]
        starts += ["self.f = lambda: 0", "self.box = Box(0)", "self.steps = iter([])"]
        if "items" not in lines[1] or self.chance.random() < 0.5:
            starts.append("self.items = []")
        lines += [f"        {start}" for start in starts]
        lines.append("    def process(self, t):")
        if self.has_state and self.chance.random() < 0.4:
            lines.append(f"        {self.one_of('self.a = t.key', 'self.t = t')}")
        lines += ["        w = 0", *self.block("        ", self.chance.randrange(2, 7))]
        ends = [f"yield {self.output()}", f"yield {self.output()}", "if t.n == 3: yield Out(t.key, 1)", "yield from ()"]
        lines.append(f"        {self.chance.choice(ends)}")
        if self.has_state and self.chance.random() < 0.5:
            ends = ["yield self.out", "yield Out(self.a, self.b)", "yield Out(self.box.v, 0)", "yield Out(self.f(), 0)"]
            ends += ["yield from [Out(u.key, u.n) for u in self.kept]", "if self.t: yield Out(self.t.key, self.t.n)"]
            lines += ["    def finish(self):", f"        {self.chance.choice(ends)}"]
        return PRELUDE + "\n".join(lines) + "\n"


# Running it ---------------------------------------------------------------------------------------------------------

Items = list[tuple[int, int, int, list[int]]]
KEY = 0


@functools.lru_cache(maxsize=4)
def compiled(text: str, file: Path) -> Any:
    return compile(text, str(file), "exec")


def load(text: str, file: Path) -> ModuleType:
    """A new world: the module with its globals as they are at the start."""
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    exec(compiled(text, file), vars(module))
    return module


def process(module: ModuleType, items: Items, order: list[int], keyed: bool, instance_per_item: bool = False) -> Any:
    """What each tuple emits, whether it failed or changed its input, and what the end emits per key."""
    instances: dict[Any, Any] = {}
    emitted: dict[int, Any] = {}
    for index in order:
        item = module.In(*copy.deepcopy(items[index]))
        key = index if instance_per_item else item.key if keyed else None
        if key not in instances:
            instances[key] = module.Op()
        operator = instances[key]
        out: list[tuple[int, ...]] = []
        problem = None
        try:
            for made in operator.process(item):
                out.append(tuple(made))
        except Exception as error:
            problem = type(error).__name__
        emitted[index] = (out, problem, item.xs != items[index][3])
    at_end: dict[Any, Any] = {}
    for key, operator in instances.items():
        if hasattr(operator, "finish"):
            try:
                at_end[key] = [tuple(made) for made in operator.finish()]
            except Exception as error:
                at_end[key] = type(error).__name__
    return emitted, at_end


def broken_claims(findings: Findings, text: str, file: Path, chance: random.Random) -> list[str]:
    items: Items = [
        (*(chance.randrange(n) for n in (3, 5, 5)), [chance.randrange(4) for _ in range(chance.randrange(3))])
        for _ in range(14)
    ]
    order = list(range(len(items)))
    unkeyed, _ = process(load(text, file), items, order, keyed=False)
    keyed, at_end = process(load(text, file), items, order, keyed=True)
    broken = []
    if not findings.shared:
        if any(changed for _, _, changed in unkeyed.values()):
            broken.append("the input is changed")
        scattered = {}
        for key in sorted({item[KEY] for item in items}):
            mine = [index for index in order if items[index][KEY] == key]
            scattered |= process(load(text, file), items, mine, keyed=True)[0]
        if scattered != keyed:
            broken.append("instances share something")
        if not findings.own:
            shuffled = chance.sample(order, len(order))
            if process(load(text, file), items, shuffled, keyed=False, instance_per_item=True)[0] != unkeyed:
                broken.append("something is kept")
    for emitted in (unkeyed, keyed):
        counts = {len(out) for out, problem, _ in emitted.values() if problem is None}
        allowed = {"1:1": {1}, "1:[0,1]": {0, 1}}.get(findings.selectivity.value, counts)
        if counts - allowed:
            broken.append(f"selectivity {findings.selectivity.value}, but {counts}")
    names, read = ("key", "n", "m"), ("key", "n", "m", "xs")
    for emitted, pairs in ((unkeyed, findings.forwards), (keyed, findings.forwards), (keyed, with_key(findings))):
        for index, (out, _, _) in emitted.items():
            for made in out:
                broken += [
                    f"{name} from {source}"
                    for name, source in pairs
                    if made[names.index(name)] != items[index][read.index(source)]
                ]
    for key, out in at_end.items():
        for made in out if isinstance(out, list) else ():
            broken += ["emits at the end"] * (not findings.emits_at_end)
            broken += ["forwards at the end"] * bool(findings.forwards)
            broken += [f"{name} at the end" for name, _ in with_key(findings) if made[names.index(name)] != key]
    return broken


def with_key(findings: Findings) -> list[tuple[str, str]]:
    return [pair for pair in findings.forwards_if_key if pair[1] == "key"]


def check(seeds: range, folder: Path) -> dict[str, int]:
    """Tests the claims about one operator per seed; gives how many were called what."""
    called = {"stateless": 0, "partitioned": 0, "stateful": 0}
    for seed in seeds:
        chance = random.Random(seed)
        text = Writer(chance, may_share=seed % 3 == 0).operator()
        file = folder / f"random_{seed}.py"
        file.write_text(text)
        try:
            module = load(text, file)
        except SyntaxError:
            continue  # a walrus where Python allows none
        sys.modules[file.stem] = module
        findings = analyze_operator(module.Op, inputs={"process": schema_of(module.In)}, output=schema_of(module.Out))
        del sys.modules[file.stem]
        assert not any("analysis failed" in reason.text for reason in findings.shared), (seed, findings.shared, text)
        assert not broken_claims(findings, text, file, chance), (seed, findings, text)
        called["stateful" if findings.shared else "partitioned" if findings.own else "stateless"] += 1
    return called


def test_what_is_claimed_of_random_operators_holds(tmp_path: Path) -> None:
    called = check(range(120), tmp_path)
    assert min(called.values()) > 10, called  # each claim is made often enough to be tested


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 9_000, 1_000))
def test_what_is_claimed_of_many_random_operators_holds(start: int, tmp_path: Path) -> None:
    check(range(start, start + 1_000), tmp_path)
