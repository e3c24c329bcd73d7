"""Random small programs as the text of real modules, and random input for them.

A program is a graph of a few operators over tuples of one type, `Item`; windows end a branch, since no state may follow
them in native code. Everything comes from a seed: a program takes seconds to compile, so none is made smaller.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.codegen.random_code import ATTRIBUTES, PRELUDE, CodeWriter, Scope

ITEM = "Item"
FIELDS = {
    "n": ("int", "0"), "m": ("int", "5"), "x": ("float", "0.0"), "y": ("float", "0"), "c": ("bool", "False"),
    "w": ("str", "'start'"), "last_x": ("int", "1"), "o": ("int?", "None"), "z": ("float?", "0.5"),
    "v": ("str?", "None"), "last": ("Pair?", "None"), "pair": ("Pair", "Pair(1, 2.0)"),
}  # fmt: skip
KEYS = ('"k"', '"s"', '"f"', '"o"', '"p"', '"b"', '"u"', '["k", "s"]', '["o", "b"]', '["u", "f"]', '["q", "p", "i"]')
AGGREGATES = (
    ("int", "ab.count()"), ("int", 'ab.sum_("i")'), ("float", 'ab.sum_("f")'), ("int", 'ab.sum_("o")'),
    ("int", 'ab.sum_("b")'), ("float", 'ab.mean("f")'), ("float", 'ab.mean("i")'), ("float | None", 'ab.mean("p")'),
    ("float", 'ab.std("f")'), ("float", 'ab.std("k", ddof=0)'), ("float | None", 'ab.std("o")'),
    ("float", 'ab.min_("f")'),
    ("float", 'ab.max_("f")'), ("int", 'ab.max_("i")'), ("int | None", 'ab.min_("o")'),
    ("float | None", 'ab.max_("p")'),
    ("bool", 'ab.min_("b")'), ("str", 'ab.first("s")'), ("str | None", 'ab.last("u")'), ("float", 'ab.any_("f")'),
    ("int | None", 'ab.first("o")'), ("bool | None", 'ab.last("q")'), ("str", 'ab.arg_max("s", by="f")'),
    ("float | None", 'ab.arg_max("p", by="o")'), ("int", 'ab.arg_max("i", by="b")'),
)  # fmt: skip
EDGES = (("float", "ab.window_start()"), ("float", "ab.window_end()"))
# Of windows of these lengths; not all divide them, and some are longer.
SLIDES = {
    "count=2": (1, 3), "count=5": (1, 2), "seconds=1": (0.5, 0.4), "delta=0.1": (0.03, 0.3),
    "milliseconds=2500": (500, 999), "delta=50": (20, 25), "seconds=3": (1, 2, 4),
}  # fmt: skip


class ProgramWriter:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shapes = random.Random(f"windows {seed}")  # a choice of its own, so that others stay as they are
        self.code = CodeWriter(self.random, risk=self.random.choice((0.0, 0.02, 0.1)))
        self.definitions: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fresh(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def text(self) -> str:
        """The source of a module with a function `program`, which takes the items of two sources."""
        self.lines = ['    one = ab.from_items(Item, items, order_by="ts")']
        start = "one"
        if self.chance(0.35):
            self.lines.append('    two = ab.from_items(Item, more, order_by="ts")')
            start = self._joined()
        elif self.chance(0.15):
            self.lines.append("    begin = one.punctuate(lambda t: t.k == 1)")
            start = "begin"
        self._grow(start, is_punctuated=start == "begin")
        body = "\n".join(self.lines)
        return "\n".join(
            [PRELUDE, *self.definitions, "", "def program(items, more):", "    sinks = []", body, "    return sinks"]
        )

    def _grow(self, start: str, *, is_punctuated: bool) -> None:
        """Operators one after the other, now and then a branch beside them."""
        stream, may_keep = start, True
        for _ in range(self.random.randrange(1, 4)):
            if self.chance(0.25):
                self._end(self._stateless(stream) if self.chance(0.5) else stream, is_punctuated=is_punctuated)
            step = self.random.random()
            if step < 0.35 and may_keep:
                stream = self._process(stream, keyed=self.chance(0.75))
            elif step < 0.45 and may_keep:
                key = self.pick(*KEYS)
                stream = self._added(f"{stream}.distinct(key={key})", "unique")
            elif step < 0.6:
                stream, may_keep = self._flat_map(stream), False
            elif step < 0.7:
                stream, may_keep = self._split(stream), False
            else:
                stream = self._stateless(stream)
        self._end(stream, is_punctuated=is_punctuated, may_keep=may_keep)

    def _added(self, call: str, what: str) -> str:
        name = self.fresh(what)
        self.lines.append(f"    {name} = {call}")
        return name

    def _end(self, stream: str, *, is_punctuated: bool, may_keep: bool = False) -> None:
        if may_keep and self.chance(0.7):
            self._window(stream, is_punctuated=is_punctuated)
        else:
            self._collect(stream)

    def _collect(self, stream: str) -> None:
        # From a source straight to a sink there is nothing to run.
        if stream in ("one", "two", "begin"):
            stream = self._stateless(stream)
        self.lines.append(f'    sinks.append({stream}.collect("{self.fresh("out")}"))')

    # Operators --------------------------------------------------------------------------------------------------

    def _stateless(self, stream: str) -> str:
        scope = Scope.of_tuple("t", ATTRIBUTES)
        if self.chance(0.4):
            return self._added(f"{stream}.filter(lambda t: {self.code.expression('bool', scope, 3)})", "kept")
        name = self.fresh("made")
        lines = [f"def {name}(t: Item) -> Item:", *self.code.statements(scope, "    ", self.random.randrange(4), 2, {})]
        if self.chance(0.4):
            lines += [f"    if {self.code.expression('bool', scope)}:"]
            lines += [f"        return {self.code.item(scope, ATTRIBUTES, ITEM, 't')}"]
        lines += [f"    return {self.code.item(scope, ATTRIBUTES, ITEM, 't')}"]
        self.definitions.append("\n".join(lines))
        return self._added(f"{stream}.map({name})", "mapped")

    def _flat_map(self, stream: str) -> str:
        scope, name = Scope.of_tuple("t", ATTRIBUTES), self.fresh("many")
        lines = [f"def {name}(t: Item) -> Iterator[Item]:"]
        lines += self.code.statements(scope, "    ", self.random.randrange(3), 1, {})
        if self.chance(0.3):
            lines += [f"    if {self.code.expression('bool', scope)}:", "        return"]
        lines += [f"    for turn in range({self.pick('2', 't.k % 4', 't.i % 3')}):"]
        inner = scope.inner()
        inner.add("int", "turn")
        lines += self.code.statements(inner, "        ", 1, 1, {})
        lines += [f"        if {self.code.expression('bool', inner)}:"]
        lines += [f"            yield {self.code.item(inner, ATTRIBUTES, ITEM, 't')}"]
        lines += [f"    yield {self.code.item(scope, ATTRIBUTES, ITEM, 't')}"]
        self.definitions.append("\n".join(lines))
        return self._added(f"{stream}.flat_map({name}, out=Item)", "several")

    def _split(self, stream: str) -> str:
        scope = Scope.of_tuple("t", ATTRIBUTES)
        tests = [f'"{name}": lambda t: {self.code.expression("bool", scope, 2)}' for name in ("left", "right")]
        split = self._added(f"{stream}.split({{{', '.join(tests)}}})", "parts")
        if self.chance(0.5):
            return self._added(f"{split}.left.union({split}.right)", "both")
        self._collect(f"{split}.left")
        return f"{split}.right"

    def _fields(self, scope: Scope) -> tuple[dict[str, str], list[str]]:
        """What instances keep, and how a new one begins; a scope is told what of it may be read."""
        chosen = self.random.sample(sorted(FIELDS), self.random.randrange(2, 6))
        fields = {name: FIELDS[name][0] for name in chosen}
        for name, kind in fields.items():
            if kind in ("Pair", "Pair?"):
                scope.add("int" if kind == "Pair" else "int?", self._member(name, kind, "x"))
                scope.add("float" if kind == "Pair" else "float?", self._member(name, kind, "y"))
            else:
                scope.add(kind, f"self.{name}")
        return fields, [f"        self.{name} = {FIELDS[name][1]}" for name in chosen]

    def _member(self, name: str, kind: str, member: str) -> str:
        return (
            f"self.{name}.{member}"
            if kind == "Pair"
            else f"(self.{name}.{member} if self.{name} is not None else None)"
        )

    def _method(self, name: str, scope: Scope, fields: dict[str, str]) -> list[str]:
        """A method that emits at most once, in one of three styles."""
        lines = [f"    def {name}(self, t: Item) -> Iterator[Item]:"]
        scope = scope.inner()
        if self.chance(0.3):
            scope.add("int", "self.stepped(t.k)")
        lines += self.code.statements(scope, "        ", self.random.randrange(4), 2, fields)
        style = self.random.randrange(3)
        if style == 0:
            lines += [f"        if {self.code.expression('bool', scope)}:"]
            lines += [f"            yield {self.code.item(scope, ATTRIBUTES, ITEM, 't')}"]
            return [*lines, *self.code.statements(scope, "        ", self.random.randrange(3), 1, fields)]
        lines[0] = f"    def {name}(self, t: Item) -> Item | None:"
        if style == 1:
            lines += [f"        if {self.code.expression('bool', scope)}:", "            return None"]
            lines += self.code.statements(scope, "        ", self.random.randrange(3), 1, fields)
        return [*lines, f"        return {self.code.item(scope, ATTRIBUTES, ITEM, 't')}"]

    def _class(self, methods: tuple[str, ...]) -> str:
        name, scope = self.fresh("Kept"), Scope.of_tuple("t", ATTRIBUTES)
        fields, begins = self._fields(scope)
        lines = [f"class {name}:", "    def __init__(self) -> None:", *begins, "        self.steps = 0"]
        lines += ["    def stepped(self, by: int) -> int:", "        self.steps = (self.steps + by) % 101"]
        lines += ["        return self.steps"]
        for method in methods:
            lines += self._method(method, scope, fields)
        self.definitions.append("\n".join(lines))
        return name

    def _process(self, stream: str, *, keyed: bool) -> str:
        key = f", key={self.pick(*KEYS)}" if keyed else ""
        return self._added(f"{stream}.process({self._class(('process',))}{key}, out=Item)", "processed")

    def _joined(self) -> str:
        """A stream out of two sources."""
        if self.chance(0.3):
            return self._added("one.union(two)", "united")
        key = f", key={self.pick(*KEYS)}" if self.chance(0.7) else ""
        return self._added(
            f"ab.connect({self._class(('left', 'right'))}, left=one, right=two{key}, out=Item)", "connected"
        )

    def _window(self, stream: str, *, is_punctuated: bool) -> None:
        aggregates = self.random.sample(AGGREGATES, self.random.randrange(1, 5))
        key, group = (f", key={self.pick(*KEYS)}", "") if self.chance(0.6) else ("", "")
        late = ""
        if is_punctuated and self.chance(0.8):
            window = "ab.punctuated()"
        elif self.chance(0.35):
            window = f"ab.tumbling(count={self.pick('1', '2', '5')})"
        else:
            clock = ', clock="key"' if key and self.chance(0.4) else ""
            window = f'ab.tumbling({self.pick("seconds=1", "delta=0.1", "milliseconds=2500")}, on="ts"{clock})'
            if self.chance(0.3):
                window = f'ab.tumbling({self.pick("delta=50", "delta=1", "seconds=3")}, on="i"{clock})'
            aggregates += [(kind.replace("float", "int") if '"i"' in window else kind, edge)
                           for kind, edge in EDGES if self.chance(0.5)]  # fmt: skip
            if not key and self.chance(0.5):
                group = f", group_by={self.pick(*KEYS)}"
            if self.chance(0.3):
                late = ', late="late"'
        if not is_punctuated:
            window, group = self._varied(window, group)
        name = self.fresh("Sum")
        attributes = [f"    c{at}: {kind}" for at, (kind, _) in enumerate(aggregates)]
        self.definitions.append("\n".join([f"class {name}(NamedTuple):", *attributes]))
        columns = ", ".join(f"c{at}={call}" for at, (_, call) in enumerate(aggregates))
        summed = self._added(f"{stream}.window({window}{key}{late}).aggregate({name}, {columns}{group})", "summed")
        if late:
            self.lines.append(f'    sinks.append({summed}.outputs.late.collect("{self.fresh("late")}"))')
        self._after(f"{summed}.outputs.out" if late else summed, [kind for kind, _ in aggregates])

    def _varied(self, window: str, group: str) -> tuple[str, str]:
        """Of some windows another shape, drawn apart: they slide, and have groups, perhaps besides a key."""
        if self.shapes.random() < 0.5:
            return window, group
        if self.shapes.random() < 0.7:
            group = group or f", group_by={self.shapes.choice(KEYS)}"
        for length, slides in SLIDES.items():
            if length in window and self.shapes.random() < 0.7:
                slide = self.shapes.choice(slides)
                window = window.replace("tumbling", "sliding").replace(length, f"{length}, slide={slide}")
        return window, group

    def _after(self, stream: str, kinds: list[str]) -> None:
        """A window's output, perhaps filtered first."""
        attributes = {f"c{at}": kind.replace(" | None", "?") for at, kind in enumerate(kinds)}
        if self.chance(0.4):
            test = self.code.expression("bool", Scope.of_tuple("t", attributes), 2)
            stream = self._added(f"{stream}.filter(lambda t: {test})", "wanted")
        self._collect(stream)


def written(seed: int, folder: Path) -> ModuleType:
    """The module of a random program."""
    return module(ProgramWriter(seed).text(), f"random_program_{seed}", folder)


def module(text: str, name: str, folder: Path) -> ModuleType:
    """A module of this text, until `forget_modules`."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    _modules.append(name)
    spec.loader.exec_module(made)
    return made


_modules: list[str] = []


def forget_modules() -> None:
    """Modules are not kept longer than the test that made them."""
    while _modules:
        del sys.modules[_modules.pop()]


# Input ----------------------------------------------------------------------------------------------------------

INTS = (0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 10**9)
FLOATS = (
    0.0, -0.0, 1.0, float("nan"), float("inf"), float("-inf"), 5e-324, -5e-324, 2.2250738585072014e-308, 1e308,
    -1.7e308, 2.0**53, 2.0**63, -(2.0**63), 0.1, 1 / 3,
)  # fmt: skip
TEXTS = ("", "a", "ab", "abc", "é", "ab\0c", "a" * 16, "a" * 17, "a" * 16 + "b", "日本語の長い文字列です", "x" * 300)


def items(make: Any, seed: int, count: int = 200) -> list[Any]:
    """Tuples in which most values are tame, so that native code is not left at once; or, at times, hardly any."""
    choices = random.Random(seed)
    strange = choices.choice((0.0, 0.0, 0.005, 0.3))
    found, time = [], choices.choice((0.0, -3.0, 1e9))

    def value(tame: Any, extremes: tuple[Any, ...]) -> Any:
        return choices.choice(extremes) if choices.random() < strange else tame

    for _ in range(count):
        time += choices.choice((0.0, 0.1, 0.1, 0.3, 1.0, -0.2))
        found.append(
            make(
                i=value(choices.randrange(-9, 30), INTS),
                k=choices.randrange(5),
                f=value(choices.choice((0.0, -0.0, 1.0, 2.5, -1.5, choices.random())), FLOATS),
                b=choices.random() < 0.5,
                s=choices.choice(TEXTS),
                o=choices.choice((None, value(choices.randrange(4), INTS))),
                p=choices.choice((None, value(choices.randrange(4) / 2, FLOATS))),
                q=choices.choice((None, True, False)),
                u=choices.choice((None, *TEXTS[:5])),
                ts=value(round(time, 1), FLOATS) if choices.random() < 0.1 else round(time, 1),
            )
        )
    return found
