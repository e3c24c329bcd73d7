"""Finding the syntax tree of a function by the positions of its code.

A tree is only believed when compiling it gives the code that runs: a file may have been edited since it was imported.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import Any

from anabranch.analysis.syntax import children, walk
from anabranch.analysis.values import FunctionNode

_LAMBDA = "<lambda>"


@dataclass(eq=False)
class SourceText:
    """The text of one file, notebook cell or command, parsed once."""

    file: str
    text: str
    _codes: dict[tuple[str, int], list[CodeType]] | None = None
    _functions: dict[tuple[str, int], list[FunctionNode]] | None = None
    _parents: dict[ast.AST, ast.AST] | None = None

    @cached_property
    def tree(self) -> ast.Module:
        try:
            return ast.parse(self.text, self.file)
        except (SyntaxError, ValueError):
            return ast.Module([], [])

    @property
    def is_python(self) -> bool:
        return bool(self.tree.body)

    @property
    def parents(self) -> dict[ast.AST, ast.AST]:
        if self._parents is None:
            self._parents = {c: node for node in walk(self.tree) for c in children(node)}
        return self._parents

    def enclosing(self, node: ast.AST) -> list[ast.AST]:
        """The functions and classes around a node, innermost first."""
        found: list[ast.AST] = []
        parent = self.parents.get(node)
        child = node
        while parent is not None:
            if isinstance(parent, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not (
                is_outside_the_body(parent, child)
            ):
                found.append(parent)
            child, parent = parent, self.parents.get(parent)
        return found

    def codes(self, name: str, line: int) -> list[CodeType]:
        """The code objects that compiling this text gives."""
        if self._codes is None:
            self._codes = {}
            # Of the text, not of the tree: that may be nested more deeply than compiling a tree allows.
            waiting = [compile(self.text, self.file, "exec", dont_inherit=True)]
            if is_notebook_cell(self.file):  # its statements are compiled one by one: then calls of imports differ
                waiting += [
                    compile(ast.Module([each], []), self.file, "exec", dont_inherit=True) for each in self.tree.body
                ]
            while waiting:
                code = waiting.pop()
                self._codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
                waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        return self._codes.get((name, line), [])

    def functions(self, name: str, line: int) -> list[FunctionNode]:
        if self._functions is None:
            self._functions = {}
            for node in walk(self.tree):
                match node:
                    case ast.FunctionDef() | ast.AsyncFunctionDef():
                        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                        self._functions.setdefault((node.name, first), []).append(node)
                    case ast.Lambda():
                        self._functions.setdefault((_LAMBDA, node.lineno), []).append(node)
                    case _:
                        pass
        return self._functions.get((name, line), [])


def is_outside_the_body(parent: ast.AST, child: ast.AST) -> bool:
    """Decorators, defaults, annotations and bases are evaluated around a definition, not in it."""
    if isinstance(parent, ast.Lambda):
        return child is not parent.body
    return not (isinstance(child, ast.stmt) and child in getattr(parent, "body", ()))


@dataclass(frozen=True, eq=False)
class Located:
    """A function's syntax tree, and the text it stands in."""

    node: FunctionNode
    text: SourceText


@dataclass
class _Caches:
    texts: dict[str, tuple[object, SourceText]] = field(default_factory=dict)
    located: dict[int, tuple[CodeType, Located | None]] = field(default_factory=dict)
    fingerprints: dict[int, tuple[CodeType, object]] = field(default_factory=dict)


_caches = _Caches()


def is_notebook_cell(file: str) -> bool:
    return file.startswith("<ipython-input-") or "ipykernel_" in file


def text_of(file: str, namespace: dict[str, Any] | None = None) -> SourceText | None:
    """The parsed text of a file or of a pseudo-file such as a notebook's cell."""
    lines = linecache.getlines(file, namespace)
    known = _caches.texts.get(file)
    if lines:
        if known is not None and known[0] is lines:
            return known[1]
        text = SourceText(file, "".join(lines))
        _caches.texts[file] = (lines, text)
        return text
    command = _command_text() if file == "<string>" else None
    if command is None:
        return None
    if known is None or known[0] != command:
        known = (command, SourceText(file, command))
        _caches.texts[file] = known
    return known[1]


def _command_text() -> str | None:
    """The program of `python -c`, which no file holds."""
    arguments = sys.orig_argv
    for index, argument in enumerate(arguments[1:-1], start=1):
        if argument.startswith("-") and not argument.startswith("--") and argument.endswith("c"):
            return arguments[index + 1]
        if not argument.startswith("-") and arguments[index - 1] not in ("-X", "-W"):
            return None
    return None


def locate(code: CodeType, namespace: dict[str, Any]) -> Located | None:
    """The syntax tree of the function that has this code; None where its source is missing or has changed."""
    known = _caches.located.get(id(code))
    if known is not None:
        return known[1]
    is_rewritten = "@pytest_ar" in namespace
    text = text_of(code.co_filename, namespace)
    found = _find(text, code, is_rewritten) if text else None
    if found is None and text is not None:
        linecache.checkcache(code.co_filename)  # the file may have been edited and imported again
        text = text_of(code.co_filename, namespace)
        found = _find(text, code, is_rewritten) if text else None
    _caches.located[id(code)] = (code, found)
    return found


def _find(text: SourceText, code: CodeType, is_rewritten: bool) -> Located | None:
    candidates = text.functions(code.co_name, code.co_firstlineno)
    if len(candidates) > 1:
        candidates = _at_the_positions_of(code, candidates)
    if len(candidates) != 1:
        return None
    try:
        compiled = text.codes(code.co_name, code.co_firstlineno)
    except (SyntaxError, ValueError, RecursionError):
        return None
    positions = list(code.co_positions())
    for fresh in compiled:
        if _fingerprint(fresh) == _fingerprint(code) and (
            len(compiled) == 1 or list(fresh.co_positions()) == positions
        ):
            return Located(candidates[0], text)
    # pytest rewrites the asserts of a test module before compiling it, so there the code itself must differ.
    if is_rewritten and len(compiled) == 1 and _is_definitely_the_same_but_for_asserts(compiled[0], code):
        return Located(candidates[0], text)
    return None


def has_code(text: SourceText, code: CodeType, namespace: dict[str, Any]) -> bool:
    """Whether compiling the text gives this code, at its place."""
    try:
        compiled = text.codes(code.co_name, code.co_firstlineno)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if any(fresh is code or _fingerprint(fresh) == _fingerprint(code) for fresh in compiled):
        return True
    return "@pytest_ar" in namespace and any(_is_definitely_the_same_but_for_asserts(c, code) for c in compiled)


def _at_the_positions_of(code: CodeType, candidates: list[FunctionNode]) -> list[FunctionNode]:
    """Of several lambdas on one line, those whose body is exactly where the code's instructions point."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None or end_column == 0:
            continue  # instructions that stand for the function as a whole
        starts.append((line, column))
        ends.append((end_line, end_column))
    if not starts:
        return candidates
    covered = (min(starts), max(ends))
    return [c for c in candidates if isinstance(c, ast.Lambda) and _extent(c.body) == covered]


def _extent(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _fingerprint(code: CodeType) -> object:
    known = _caches.fingerprints.get(id(code))
    if known is None:
        # Flags are left out: a notebook compiles cells under flags of its own.
        print_ = (
            code.co_name,
            code.co_firstlineno,
            (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            tuple(_constant_fingerprint(constant) for constant in code.co_consts),
        )
        known = (code, print_)
        _caches.fingerprints[id(code)] = known
    return known[1]


def _constant_fingerprint(constant: object) -> object:
    match constant:
        case CodeType():
            return _fingerprint(constant)
        case tuple():
            return ("tuple", *(_constant_fingerprint(part) for part in constant))
        case frozenset():
            return ("frozenset", *sorted(repr(part) for part in constant))
        case _:
            return (type(constant).__name__, repr(constant))


def _is_definitely_the_same_but_for_asserts(fresh: CodeType, code: CodeType) -> bool:
    return (
        fresh.co_varnames[: fresh.co_argcount] == code.co_varnames[: code.co_argcount]
        and fresh.co_freevars == code.co_freevars
        and set(fresh.co_names) <= set(code.co_names) | {"AssertionError"}
    )
