"""Every operator of the corpus as a program of its own, for the analyser to read.

A topic holds many operators, and the analyser takes all that is imported for one program. So that no operator is
given away by what its neighbour does, nor a clean one blamed for it, each is cut out with only what it needs, without
the register's decorators, and imported while everything else of the corpus and its tests is out of sight.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .registry import Entry

HERE = Path(__file__).parent
IN_SIGHT = ("tuples",)  # and the packages themselves


@dataclass(frozen=True)
class Statement:
    """A statement of a topic: what it defines, what it needs, what it sets up, and which entry it registers."""

    node: ast.stmt
    defines: frozenset[str]
    needs: frozenset[str]
    sets_up: frozenset[str]
    registers: frozenset[str]


@contextlib.contextmanager
def alone(entry: Entry) -> Iterator[Entry]:
    """The entry with its operator from a program that holds nothing else; meanwhile only that is imported."""
    name = f"{__package__}.{entry.topic}_{entry.name}"
    file = _folder() / f"{entry.topic}_{entry.name}.py"
    file.write_text(program_of(entry))
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    with _out_of_sight():
        sys.modules[name] = module
        spec.loader.exec_module(module)
        own = {kind.__name__: kind for kind in vars(module).values() if isinstance(kind, type)}
        yield replace(
            entry,
            operator=getattr(module, _attribute_of(entry)),
            input=own[entry.input.__name__],
            output=entry.output and own[entry.output.__name__],
        )


def program_of(entry: Entry) -> str:
    """The source of the operator and of all it needs, in the order of the topic."""
    statements = _statements(entry.topic)
    wanted = {
        at
        for at, one in enumerate(statements)
        if entry.name in one.registers or set(entry.beside) & (one.registers | one.defines)
    }
    needed = {kind.__name__ for kind in (entry.input, entry.output) if kind is not None}
    while True:
        names = needed.union(*(statements[at].needs | statements[at].defines for at in wanted))
        more = {at for at, one in enumerate(statements) if (one.defines | one.sets_up) & names} - wanted
        if not more:
            break
        wanted |= more
    return "\n\n".join(_without_register(statements[at].node, entry.name) for at in sorted(wanted)) + "\n"


@functools.cache
def _statements(topic: str) -> tuple[Statement, ...]:
    body = ast.parse((HERE / f"{topic}.py").read_text()).body
    return tuple(_statement(node) for node in body if not _is_of_register(node))


def _is_of_register(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "registry"


def _statement(node: ast.stmt) -> Statement:
    registers = {_name_of(call, node) for call in ast.walk(node) if _is_entry(call)}
    bare = ast.parse(_without_register(node, ""))  # what the register is told is not needed
    used = {one.id for one in ast.walk(bare) if isinstance(one, ast.Name)}
    for text in (one.value for one in ast.walk(bare) if isinstance(one, ast.Constant) and isinstance(one.value, str)):
        used |= {word for word in re.findall(r"\w+", text) if len(word) > 2}  # globals()["counter"], exec("...")
    defines: set[str] = set()
    sets_up: set[str] = set()
    match node:
        case ast.ImportFrom(module="__future__"):
            defines = {"__future__"}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            defines = {(one.asname or one.name).partition(".")[0] for one in names}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            defines = {node.name} if node.name != "_" else set()
            sets_up = {_root(one) for one in node.decorator_list if node.name == "_"}
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
            defines = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            sets_up = {_root(target) for target in targets if not isinstance(target, ast.Name | ast.Tuple)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            defines = {name}
        case ast.Expr(value=ast.Call(func=ast.Attribute() as function)):
            sets_up = {_root(function)}
    return Statement(
        node, frozenset(defines), frozenset(used | {"__future__"}), frozenset(sets_up), frozenset(registers)
    )


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_entry(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "entry"


def _name_of(call: ast.Call, statement: ast.stmt) -> str:
    return call.args[0].value if call.args else statement.name


def _attribute_of(entry: Entry) -> str:
    """The name that the operator has in its program: its own where it has one, so that it has no second."""
    node = next(one.node for one in _statements(entry.topic) if entry.name in one.registers)
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name == entry.name:
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=call)) if _is_entry(call):
            return name
    return f"entry_{entry.name}"


def _without_register(node: ast.stmt, name: str) -> str:
    """The statement as its author would write it; an operator `name` without a name gets one, `entry_name`."""
    has_name = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_entry(node.value.func)
    source = _Unregister("" if has_name else name).visit(ast.parse(ast.unparse(node))).body[0]
    text = ast.unparse(ast.fix_missing_locations(source))
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        labels = [_name_of(call, node) for call in node.decorator_list if _is_entry(call)]
        if labels == [name] and node.name != name:
            text += f"\n\nentry_{name} = {node.name}"
    return text


class _Unregister(ast.NodeTransformer):
    """`@entry(...)` goes; `entry("name", ...)(operator)` becomes `operator`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _visit_definition(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        node.decorator_list = [one for one in node.decorator_list if not _is_entry(one)]
        return self.generic_visit(node)

    visit_FunctionDef = visit_ClassDef = _visit_definition

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not _is_entry(node.func):
            return node
        if self.name and node.func.args[0].value == self.name:
            return ast.NamedExpr(ast.Name(f"entry_{self.name}", ast.Store()), node.args[0])
        return node.args[0]


@functools.cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="corpus-")
    _kept.append(folder)  # removed when the process ends
    return Path(folder.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


@contextlib.contextmanager
def _out_of_sight() -> Iterator[None]:
    """Nothing of the corpus and its tests is imported but the types of its tuples."""
    root = __package__.partition(".")[0]
    hidden = {}
    for name, module in list(sys.modules.items()):
        of_the_tests = name.partition(".")[0] == root and not _is_package_of(name)
        is_script = name == "__main__" and getattr(module, "__package__", None) == __package__
        if (of_the_tests and name.rpartition(".")[2] not in IN_SIGHT) or is_script:
            hidden[name] = sys.modules.pop(name)
    package = sys.modules[__package__]
    attributes = dict(vars(package))
    for name in hidden:
        vars(package).pop(name.rpartition(".")[2], None)
    try:
        yield
    finally:
        for name in list(sys.modules):
            if name.partition(".")[0] == root and not _is_package_of(name):
                del sys.modules[name]
        sys.modules.update(hidden)
        sys.modules[f"{__package__}.tuples"] = attributes["tuples"]
        vars(package).clear()
        vars(package).update(attributes)


def _is_package_of(name: str) -> bool:
    return f"{__package__}.".startswith(f"{name}.")
