"""What the analysis takes for uses of globals and of variables is what the compiler makes of a text."""

from __future__ import annotations

import ast
import dis
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from anabranch.analysis.scopes import COMPREHENSIONS, comprehension_targets
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of

_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
_FILES = sorted(_LIBRARY.glob("*.py")) + sorted((_LIBRARY / "test").glob("test_[a-fs]*.py"))
_SOME = _FILES if os.environ.get("ANABRANCH_TESTS") == "full" else _FILES[::40]
HARD = """
X, Y, Z, W = [1], [2], [3], [4]
def f(a: X, *b: Y, c: Z = W, **d: X) -> Y:
    class C(X.base, metaclass=Y.meta):
        if a:
            global N
            N = X
        other = [X for X in X]
        y: Z
        def g(self) -> other: return y, W
        match X:
            case {"a": W, **Z}: W
    return [X[0] for X[0] in Y], {Z: W for Z.a, W in X for Y[Z] in W}, (Z for Z in Z), C
def outer():
    X = Y = 1
    class C:
        nonlocal X
        X = Z
        Y = Y
        Z = [Y for _ in Y if Z]
    def g(a: (Y, W) = X): return X, Y
    return [X for Y in Y for X[Y] in W]
class D:
    X = X
    Y = [X for _ in X]
    def Y(self, a=Y): return X, Y
    try:
        import X as Z
    except Y as W:
        W
lambda X=X, *, Y=Y: (X, Y, Z, (W := X))
"""


def test_no_name_in_the_standard_library_is_overlooked() -> None:
    overlooked = [
        f"{file.name}: {each}" for file in _SOME for each in _overlooked(file.read_text(errors="replace"), file.name)
    ]
    assert overlooked == []


def test_no_name_in_hard_code_is_overlooked() -> None:
    assert list(_overlooked(HARD, "hard.py")) == []


def _overlooked(source: str, file: str) -> Iterator[tuple[str, str, int, int]]:
    """The names that the compiler finds where the analysis does not."""
    try:
        code = compile(source, file, "exec", dont_inherit=True)
    except SyntaxError:
        return
    text = SourceText(file, source)
    uses = uses_of(text)
    globals_ = {(name, *_position(use)) for name, found in uses.globals.items() for use in found}
    of_classes = {(name, *_position(use)) for (_, name), found in uses.class_names.items() for use in found}
    variables = {(name, *_position(use)) for (_, name), found in uses.variables.items() for use in found}
    written = {
        (node.id, node.lineno, node.col_offset): node for node in ast.walk(text.tree) if isinstance(node, ast.Name)
    }
    passing = {
        name for node in ast.walk(text.tree) if isinstance(node, COMPREHENSIONS) for name in comprehension_targets(node)
    }
    for kind, name, line, column in _names_in(code):
        if name == "__class__":
            continue  # made by the interpreter for each method that says so
        place = (name, line, column)
        known = {"global": globals_, "class": globals_ | of_classes, "variable": variables}[kind]
        is_passing = kind == "variable" and name in passing
        is_private = name.startswith("_") and place not in written  # `__x` in a class has another name
        if place in written and place not in known and not is_passing and not is_private:
            yield kind, *place


def _position(use: Use) -> tuple[int, int]:
    node: Any = use.node
    return node.lineno, node.col_offset


_ACCESS = {
    **dict.fromkeys(("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL"), "global"),
    **dict.fromkeys(("LOAD_NAME", "STORE_NAME", "DELETE_NAME"), "global"),
    **dict.fromkeys(("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF"), "variable"),
    **dict.fromkeys(("LOAD_FAST", "STORE_FAST", "DELETE_FAST"), "variable"),
}


def _names_in(code: CodeType, *, is_class: bool = False) -> Iterator[tuple[str, str, int, int]]:
    for instruction in dis.get_instructions(code):
        position, kind = instruction.positions, _ACCESS.get(instruction.opname)
        if kind is None or position is None or position.lineno is None or position.col_offset is None:
            continue
        is_of_class = is_class and instruction.opname.endswith("_NAME")
        yield "class" if is_of_class else kind, instruction.argval, position.lineno, position.col_offset
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant, is_class="__qualname__" in constant.co_names)
