"""Functions are found in the source by the positions of their code, however they were written."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import Findings, analyze_function, bytecode
from anabranch.analysis.home import home_of
from anabranch.graph.properties import Selectivity
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int


ITEM = schema_of(Item)
seen: list[str] = []


def found(fn: Any, emits: Any = "one") -> Findings:
    return analyze_function(fn, input=ITEM, output=ITEM, emits=emits)


def body(fn: Any) -> str:
    home = home_of(fn)
    assert home is not None
    return ast.unparse(home.node.body if isinstance(home.node, ast.Lambda) else home.node.body[-1])


def test_lambdas_on_one_line_are_told_apart() -> None:
    pair = [lambda t: t._replace(n=1), lambda t: seen.append(t.key)]
    assert [body(fn) for fn in pair] == ["t._replace(n=1)", "seen.append(t.key)"]
    assert not found(pair[0]).shared
    assert found(pair[1]).shared


def test_equal_lambdas_on_one_line_are_told_apart() -> None:
    a, b = 1, 2
    pair = [lambda t: t.n + a, lambda t: t.n + b]  # the same bytecode but for the name
    assert [body(fn) for fn in pair] == ["t.n + a", "t.n + b"]


def test_lambdas_nested_in_calls_and_in_each_other_are_found() -> None:
    outer = dict(f=(lambda t: (lambda u: u.n)(t)), g=(lambda t: t.key))
    assert body(outer["f"]) == "(lambda u: u.n)(t)"
    assert body(outer["g"]) == "t.key"


def test_a_lambda_over_several_lines_is_found() -> None:
    fn = lambda t: t._replace(
        n=t.n + 1,
    )
    assert body(fn) == "t._replace(n=t.n + 1)"


def test_conditional_and_constant_bodies_are_found() -> None:
    constant = lambda t: (1, 2)
    fns = [lambda t: t if t.n else None, lambda t: t.n and t.key, lambda t: not t.n, constant]
    assert [body(fn) for fn in fns] == ["t if t.n else None", "t.n and t.key", "not t.n", "(1, 2)"]


# Decorators, partials, methods, builtins ----------------------------------------------------------------------------


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **named: Any) -> Any:
        return function(*args, **named)

    return wrapper


def noisy(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(t: Item) -> Any:
        seen.append(t.key)
        return function(t)

    return wrapper


@quiet
@quiet
def decorated(t: Item) -> Item:
    return Item(t.key, t.n + 1)


@quiet
@noisy
def decorated_noisily(t: Item) -> Item:
    return t


@quiet
def generating(t: Item) -> Any:
    if t.n:
        yield t


def test_a_decorator_that_passes_everything_on_is_looked_through() -> None:
    findings = found(decorated)
    assert findings.shared == ()
    assert findings.forwards == (("key", "key"),)
    assert found(generating, "many").selectivity is Selectivity.AT_MOST_ONE


def test_what_a_decorator_does_counts() -> None:
    [reason] = found(decorated_noisily).shared
    assert reason.location is not None
    assert reason.location.code == "seen.append(t.key)"


def add(amount: int, t: Item, *, scale: int = 1) -> Item:
    return t._replace(n=t.n * scale + amount)


class Scale:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, t: Item) -> Item:
        return t._replace(n=t.n * self.factor)

    def apply(self, t: Item) -> Item:
        return self(t)

    @staticmethod
    def twice(t: Item) -> Item:
        return t._replace(n=t.n * 2)

    @classmethod
    def thrice(cls, t: Item) -> Item:
        return t._replace(n=t.n * 3)


CALLABLES: dict[str, Any] = {
    "partial": functools.partial(add, 3),
    "partial with a keyword": functools.partial(add, 3, scale=2),
    "partial of a partial": functools.partial(functools.partial(add, 3), scale=2),
    "callable instance": Scale(3),
    "bound method": Scale(3).apply,
    "static method": Scale.twice,
    "class method": Scale.thrice,
}


@pytest.mark.parametrize("fn", CALLABLES.values(), ids=CALLABLES.keys())
def test_every_kind_of_callable_is_followed(fn: Any) -> None:
    findings = found(fn)
    assert findings.shared == ()
    assert findings.forwards == (("key", "key"),)


def test_builtins_are_judged_by_the_lists() -> None:
    assert found(len, "value").shared == ()
    assert found(Item._make, "one").forwards == (("key", "key"), ("n", "n"))
    assert found(print, "value").shared
    assert found(seen.append, "value").shared


# Other places than files --------------------------------------------------------------------------------------------


def executed(code: str, file: str, *, with_source: bool) -> dict[str, Any]:
    code = textwrap.dedent(code)
    if with_source:
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names: dict[str, Any] = {"Item": Item, "__name__": "executed"}
    exec(compile(code, file, "exec"), names)
    return names


LOOPING = """
    def total(t):
        n = 0
        for letter in t.key:
            n += len(letter)
        return Item(t.key, n)

    seen = []

    def remember(t):
        for letter in t.key:
            seen.append(letter)
        return t
"""


def test_executed_code_is_found_through_linecache() -> None:
    names = executed(LOOPING, "<cell 1>", with_source=True)
    assert found(names["total"]).shared == ()
    assert found(names["total"]).forwards == (("key", "key"),)
    assert found(names["remember"]).shared


SIMPLE = """
    import math
    LIMIT = 3
    seen = []
    def plain(t): return Item(t.key, math.floor(t.n / LIMIT) if t.n > 1 and t.key else -t.n)
    def emitting(t):
        if t.n in (1, 2):
            yield Item(t.key, t.n)
    def remember(t): return Item(t.key, seen.append(t.key))
    def count(t):
        global n
        n = t.n
        return t
    def rebinding(t):
        global LIMIT2
        LIMIT2 = t.n
    LIMIT2 = 1
    def reading(t): return Item(t.key, LIMIT2)
    def item(t): seen[0] = t.key
"""


def test_without_source_simple_bytecode_says_the_same() -> None:
    names = executed(SIMPLE, "<nowhere>", with_source=False)
    assert found(names["plain"]).shared == ()
    assert found(names["plain"]).forwards == (("key", "key"),)
    assert found(names["emitting"], "many").selectivity is Selectivity.AT_MOST_ONE
    for name in ("remember", "count", "reading", "item"):
        assert found(names[name]).shared, name


def test_without_source_a_loop_is_unknown() -> None:
    names = executed(LOOPING, "<nowhere else>", with_source=False)
    [reason] = found(names["total"]).shared
    assert "whose source is not to be found" in reason.text


def test_a_file_edited_after_it_was_imported_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    file.write_text("def f(t):\n    for x in t.key:\n        SEEN.append(x)\nSEEN = []\n")
    spec = importlib.util.spec_from_file_location("edited", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text("def f(t):\n    for x in t.key:\n        print\nSEEN = []\n")
    linecache.checkcache()
    assert found(module.f, "value").shared


COMMAND = """
from typing import NamedTuple
from anabranch.analysis import analyze_function
from anabranch.graph.schema import schema_of
class Item(NamedTuple):
    key: str
    n: int
RATES = {"a": 1}
seen = []
def check(*fns):
    for fn in fns:
        f = analyze_function(fn, input=schema_of(Item), output=schema_of(Item), emits="one")
        print(len(f.shared), dict(f.forwards))
check(lambda t: Item(t.key, sum(RATES[k] for k in t.key)), lambda t: Item(t.key, [seen.append(k) for k in t.key]))
"""


def test_the_program_of_python_dash_c_is_its_own_source() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run(
        [sys.executable, "-c", COMMAND], capture_output=True, text=True, env=environment, check=True
    )
    assert result.stdout.split("\n")[:2] == ["0 {'key': 'key'}", "1 {'key': 'key'}"]


def test_cells_of_a_notebook_are_one_program(tmp_path: Path) -> None:
    """Simulated: a shell that keeps its cells in linecache, as IPython does."""
    script = tmp_path / "shell.py"
    script.write_text(
        textwrap.dedent("""
        import linecache, sys
        cells = [
            "from typing import NamedTuple\\nclass Item(NamedTuple):\\n    key: str\\n    n: int\\n",
            "RATES = {'a': 1}\\nSEEN = {'a': 1}\\n",
            "def clean(t):\\n    return Item(t.key, sum(RATES[k] for k in t.key))\\n"
            "def reads(t):\\n    return Item(t.key, sum(SEEN[k] for k in t.key))\\n",
            "def writes(t):\\n    SEEN[t.key] = t.n\\n",
        ]
        names = sys.modules["__main__"].__dict__
        names.pop("__file__")
        names["get_ipython"] = None
        for number, cell in enumerate(cells):
            file = f"<ipython-input-{number}>"
            linecache.cache[file] = (len(cell), None, cell.splitlines(True), file)
            exec(compile(cell, file, "exec"), names)
        from anabranch.analysis import analyze_function
        from anabranch.graph.schema import schema_of
        for fn in (clean, reads, writes):
            f = analyze_function(fn, input=schema_of(Item), output=schema_of(Item), emits="one")
            print(fn.__name__, len(f.shared))
        """)
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=True)
    assert result.stdout.split("\n")[:3] == ["clean 0", "reads 1", "writes 1"]


def test_bytecode_with_loops_handlers_or_inner_functions_is_not_rebuilt() -> None:
    def with_loop(t: Any) -> None:
        for _ in t:
            pass

    def with_handler(t: Any) -> Any:
        try:
            return t.n
        except ValueError:
            return 0

    def with_inner(t: Any) -> Any:
        return lambda: t

    for fn in (with_loop, with_handler, with_inner):
        assert bytecode.rebuild(fn.__code__) is None
