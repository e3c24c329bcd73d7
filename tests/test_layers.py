"""The layers: what may import what, and what compiler code never does.

"`graph` imports nothing above it but `errors`; `analysis` only `graph`; `passes` and `dataflow` never import `engines`;
engines never import each other." And: "Routing never uses Python's `hash()`. Compiler code never iterates a set."
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import anabranch

PACKAGE = Path(anabranch.__file__).resolve().parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# What a layer may import of this package besides itself.
ALLOWED = {
    "errors": [],
    "graph": ["errors"],
    "analysis": ["errors", "graph"],
    "operators": ["errors", "graph"],
    "api": ["errors", "graph", "operators"],
    "passes": ["errors", "graph", "analysis", "operators", "options"],
    "tripwire": ["errors", "graph", "analysis"],
    "codegen": ["errors", "graph", "analysis", "operators", "options", "passes"],
    "dataflow": ["errors", "graph", "analysis", "operators", "passes", "codegen", "tripwire", "version"],
    "workers": [],
    "engines": [
        "compiler",
        "workers",
        "errors",
        "graph",
        "analysis",
        "operators",
        "options",
        "passes",
        "codegen",
        "tripwire",
        "profile",
        "version",
        "dataflow",
    ],
}
SHARED_BY_ENGINES = ["in_process", "on_transport"]
COMPILER = ["graph", "analysis", "passes", "codegen", "compiler"]


def name_of(path: Path) -> str:
    """`graph.model` for graph/model.py, `graph` for graph/__init__.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(name: str) -> str:
    return name.partition(".")[0]


def imports_of(tree: ast.AST, name: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, module of this package) for every import, also of those inside functions and behind TYPE_CHECKING."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if layer_of(alias.name) == "anabranch":
                    yield node.lineno, alias.name.partition(".")[2]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parents = name.split(".") if name else []
                up = node.level - (1 if is_package else 0)
                module = ".".join(["anabranch", *parents[: len(parents) - up], *([module] if module else [])])
            if layer_of(module) == "anabranch":
                inner = module.partition(".")[2]
                for alias in node.names:
                    yield node.lineno, ".".join([part for part in (inner, alias.name) if part])


@cache
def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_modules(path: Path) -> list[tuple[str, str]]:
    """(place, module) of everything a file imports of this package; names are cut down to the modules they are in."""
    name = name_of(path)
    known = {name_of(other) for other in MODULES}
    found = []
    for line, target in imports_of(read(path), name, is_package=path.name == "__init__.py"):
        while target and target not in known:
            target = target.rpartition(".")[0]
        found.append((f"{path.relative_to(PACKAGE)}:{line}", target))
    return found


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_what_is_below_it(layer: str) -> None:
    wrong = [
        f"{place} imports {target or 'anabranch'}"
        for path in MODULES
        if layer_of(name_of(path)) == layer
        for place, target in imported_modules(path)
        if layer_of(target) not in (layer, *ALLOWED[layer])
    ]
    assert wrong == []


def test_engines_never_import_each_other() -> None:
    """`engines/spark/…` is one engine, `engines/sequential.py` another; some files serve them all."""

    def engine_of(name: str) -> str | None:
        layer, _, rest = name.partition(".")
        engine = rest.partition(".")[0]
        return engine if layer == "engines" and engine and engine not in SHARED_BY_ENGINES else None

    wrong = [
        f"{place} imports {target}"
        for path in MODULES
        if layer_of(name_of(path)) == "engines"
        for place, target in imported_modules(path)
        if engine_of(target) not in (None, engine_of(name_of(path)))
    ]
    assert wrong == []


def test_dataflow_knows_no_spark() -> None:
    """Its code serves every engine, in processes that may have no Spark."""
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        if layer_of(name_of(path)) == "dataflow"
        for node in ast.walk(read(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
        if layer_of(module) in ("pyspark", "py4j")
    ]
    assert wrong == []


def test_the_layers_that_exist_are_known() -> None:
    """A folder that appears later has to be given its place."""
    folders = {layer_of(name_of(path)) for path in MODULES if len(path.relative_to(PACKAGE).parts) > 1}
    above_all = {"commands", "simulate", "verify", "profile"}
    assert sorted(folders - set(ALLOWED) - above_all) == []


# Compiler code -----------------------------------------------------------------------------------------------------

SET_MAKERS = ("set", "frozenset")
SET_METHODS = ("union", "intersection", "difference", "symmetric_difference")
ORDER_DOES_NOT_MATTER = ("sorted", "min", "max", "any", "all", "sum", "len", "set", "frozenset", "bool", "Counter")
ORDER_SHOWS = ("list", "tuple", "enumerate", "iter", "map", "filter", "zip", "reversed", "chain", "fromkeys", "join")
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module


class SetIteration(ast.NodeVisitor):
    """Finds where a set is gone through in an order that can be seen, as far as a look at the text can tell.

    A name is a set where it is assigned or annotated as one in the same function (or module); so is a parameter and
    an attribute of `self` that is annotated so, and what a function of the same file is annotated to return.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[int] = []
        self.scopes: list[set[str]] = []
        self.attributes: set[str] = set()
        self.returning: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    if isinstance(line, ast.AnnAssign) and is_set_type(line.annotation):
                        assert isinstance(line.target, ast.Name)
                        self.attributes.add(line.target.id)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
                if is_set_type(node.annotation):
                    self.attributes.add(node.target.attr)
            elif isinstance(node, ast.FunctionDef) and node.returns is not None and is_set_type(node.returns):
                self.returning.add(node.name)
        self.visit(tree)

    def is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in SET_MAKERS or name in self.returning
            case ast.Call(func=ast.Attribute(value=value, attr=attr)):
                is_own_method = isinstance(value, ast.Name) and value.id == "self" and attr in self.returning
                return is_own_method or (attr in (*SET_METHODS, "copy") and self.is_set(value))
            case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right=right):
                return self.is_set(left) or self.is_set(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_set(body) or self.is_set(orelse)
            case ast.Name(id=name):
                return any(name in scope for scope in self.scopes)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                return attr in self.attributes
            case ast.NamedExpr(value=value):
                return self.is_set(value)
        return False

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, SCOPES):
            self.scopes.append(set())
            self._declare(node)
            self.generic_visit(node)
            self.scopes.pop()
            return
        if isinstance(node, ast.For | ast.AsyncFor):
            self._iterated(node.iter)
        elif isinstance(node, ast.Starred):
            self._iterated(node.value)
        elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp):
            for generator in node.generators:
                self._iterated(generator.iter)
        elif isinstance(node, ast.YieldFrom):
            self._iterated(node.value)
        elif isinstance(node, ast.Call):
            self._call(node)
            return
        self.generic_visit(node)

    def _declare(self, scope: ast.AST) -> None:
        names = self.scopes[-1]
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = scope.args
            for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                if argument.annotation is not None and is_set_type(argument.annotation):
                    names.add(argument.arg)
        for node in own_nodes(scope):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.is_set(value):
                    names.add(name)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if is_set_type(annotation):
                    names.add(name)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name == "pop" and not node.args and isinstance(function, ast.Attribute):
            self._iterated(function.value)
        if name in ORDER_SHOWS:
            for argument in node.args:
                self._iterated(argument)
        self.visit(function)
        for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
            if name in ORDER_DOES_NOT_MATTER and isinstance(argument, ast.GeneratorExp | ast.ListComp):
                self.generic_visit(argument)  # what it goes through may be a set: the order does not show
            else:
                self.visit(argument)

    def _iterated(self, node: ast.expr) -> None:
        if self.is_set(node):
            self.found.append(node.lineno)


def is_set_type(annotation: ast.expr) -> bool:
    text = ast.unparse(annotation).strip("'\"")
    return text.split("[")[0] in ("set", "frozenset", "Set", "AbstractSet", "FrozenSet")


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope in order of the text, without those of the functions inside it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, SCOPES):
            yield from own_nodes(child)


def test_compiler_code_never_iterates_a_set() -> None:
    """The analysis is left out: it computes with sets of what a value may be, and joins them in any order.

    That its findings do not show the order is for tests/meaning/test_determinism.py to see.
    """
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in MODULES
        if layer_of(name_of(path)) in COMPILER and layer_of(name_of(path)) != "analysis"
        for line in SetIteration(read(path)).found
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        "for x in {1, 2}: pass",
        "for x in set(y): pass",
        "s = set(y)\nfor x in s: pass",
        "def f(s: frozenset[str]):\n    return [x for x in s]",
        "def f(s: set[str]):\n    return list(s)",
        "def f():\n    s: set[str] = g()\n    return tuple(s | {1})",
        "class A:\n    s: frozenset[str]\n    def f(self):\n        return ','.join(self.s)",
        "def g() -> set[str]: ...\nfor x in g(): pass",
        "def f(s: set[str]):\n    return s.pop()",
        "def f(s: set[str]):\n    return {x: 1 for x in s}",
        "def f(s: set[str]):\n    return (*s,)",
        "def f(s: set[str]):\n    yield from s",
        "def f(s: set[str], other):\n    return next(iter(s - other))",
    ],
)
def test_the_check_sees_a_set_that_is_iterated(code: str) -> None:
    assert SetIteration(ast.parse(code)).found != []


@pytest.mark.parametrize(
    "code",
    [
        "for x in sorted({1, 2}): pass",
        "def f(s: set[str]):\n    return any(x for x in s), max(len(x) for x in s), sorted(x for x in s)",
        "def f(s: set[str]):\n    return {x for x in s}, len(s), 'a' in s, s | {'b'}",
        "def f(s: list[str]):\n    return [x for x in s]",
        "def f(s: set[str]):\n    ...\ndef g(s):\n    return list(s)",
        "def f(s: dict[str, int]):\n    return s.pop('a'), list(s)",
    ],
)
def test_the_check_lets_pass_what_shows_no_order(code: str) -> None:
    assert SetIteration(ast.parse(code)).found == []


# Which place a number has in a set: of numbers, `hash` says the same in every process.
OF_NUMBERS = ["analysis/set_orders.py"]


def test_compiler_code_and_engines_never_call_hash() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        if layer_of(name_of(path)) in (*COMPILER, "dataflow", "engines", "operators")
        and str(path.relative_to(PACKAGE)) not in OF_NUMBERS
        for node in ast.walk(read(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hash"
    ]
    assert wrong == []
