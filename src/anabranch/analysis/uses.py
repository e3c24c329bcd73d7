"""Every use of every name and attribute in a text, by the scope it belongs to.

This answers the question "does anything write this?" for objects that exist before the program runs.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from anabranch.analysis.scopes import (
    Comprehension,
    annotations_of,
    around_function,
    class_scope_of,
    comprehension_targets,
    scope_of,
)
from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import children
from anabranch.analysis.values import FunctionNode

# Functions through which anything may be written without its name being seen; under another name, or as values, too.
_DYNAMIC = ("globals", "exec", "eval", "setattr", "delattr", "vars", "locals")
# Attributes of functions and frames that are the globals of a module, whichever.
WAYS_TO_GLOBALS = ("__globals__", "f_globals", "f_locals")
DYNAMIC_ATTRIBUTES = frozenset({"__dict__", "__setattr__", "__delattr__", "__set__", "__delete__", *WAYS_TO_GLOBALS})


@dataclass(frozen=True, eq=False)
class Use:
    node: ast.AST
    text: SourceText
    function: FunctionNode | None  # the innermost function around it
    is_deferred: bool  # in code that runs later than the statement it stands in: a function, a generator expression
    is_annotation: bool = False


@dataclass(eq=False)
class Uses:
    """`variables` are those of functions, by the function that owns them."""

    globals: dict[str, list[Use]] = field(default_factory=lambda: defaultdict(list))
    variables: dict[tuple[FunctionNode, str], list[Use]] = field(default_factory=lambda: defaultdict(list))
    attributes: dict[str, list[Use]] = field(default_factory=lambda: defaultdict(list))
    class_names: dict[tuple[str, str], list[Use]] = field(default_factory=lambda: defaultdict(list))
    dynamic: list[Use] = field(default_factory=list)
    patterns: list[Use] = field(default_factory=list)  # of classes, which read attributes


_uses: dict[SourceText, Uses] = {}


def uses_of(text: SourceText) -> Uses:
    known = _uses.get(text)
    if known is None:
        walker = _Walker(text)
        with _deep_recursion():
            for statement in text.tree.body:
                walker.visit(statement)
        walker.uses.dynamic += _builtins_as_values(text, walker.uses)
        known = _uses[text] = walker.uses
    return known


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """A program of many operators may be one expression, nested as deeply as it has operators."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 50_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _Walker:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.uses = Uses()
        # Innermost last: functions, classes, and the targets of comprehensions.
        self.scopes: list[FunctionNode | ast.ClassDef | set[str]] = []
        self.functions: list[FunctionNode] = []
        self.deferred = 0
        self.annotations = 0
        self.has_texts_for_annotations = any(map(_makes_annotations_texts, text.tree.body))

    def use(self, node: ast.AST) -> Use:
        function = self.functions[-1] if self.functions else None
        return Use(node, self.text, function, self.deferred > 0, self.annotations > 0)

    def annotation(self, node: ast.AST | None) -> None:
        """It is evaluated where it stands, unless the module asks for texts in place of annotations."""
        if not self.has_texts_for_annotations:
            self.annotations += 1
            self.visit(node)
            self.annotations -= 1

    def name(self, name: str, node: ast.AST) -> None:
        is_innermost = True
        for scope in reversed(self.scopes):
            if isinstance(scope, set):
                if name in scope:
                    return
                is_innermost = False
            elif isinstance(scope, ast.ClassDef):
                inside = class_scope_of(scope)
                if is_innermost and name in inside.outer_globals:
                    break
                if is_innermost and name in inside.own:
                    self.uses.class_names[scope.name, name].append(self.use(node))
                    if isinstance(getattr(node, "ctx", None), ast.Load):
                        break  # before its assignment in the class it is the global
                    return
                is_innermost = False
            else:
                is_innermost = False
                names = scope_of(scope)
                if name in names.outer_globals:
                    break
                if name in names.own:
                    self.uses.variables[scope, name].append(self.use(node))
                    return
        self.uses.globals[self._mangled(name)].append(self.use(node))

    def _mangled(self, name: str) -> str:
        """In a class, a global of a private name is found under another."""
        around = next((scope.name for scope in reversed(self.scopes) if isinstance(scope, ast.ClassDef)), None)
        is_private = name.startswith("__") and not name.endswith("__")
        return f"_{around.lstrip('_')}{name}" if around is not None and is_private else name

    def visit(self, node: ast.AST | None) -> None:
        match node:
            case None | ast.Global() | ast.Nonlocal():
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node)
                return
            case ast.ClassDef():
                self._class(node)
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
                return
            case ast.AnnAssign():
                self.visit(node.value)
                if node.value is not None or not isinstance(node.target, ast.Name):
                    self.visit(node.target)
                self.annotation(node.annotation)
                return
            case ast.Name():
                self.name(node.id, node)
                return
            case ast.Attribute():
                self.uses.attributes[node.attr].append(self.use(node))
            case ast.ExceptHandler(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchAs(name=str(name)):
                self.name(name, node)
            case ast.MatchMapping(rest=str(name)):
                self.name(name, node)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    self.name((alias.asname or alias.name).split(".")[0], node)
                return
            case ast.Call(func=ast.Name(id=name)) if name in _DYNAMIC:
                self._dynamic(node)
            case ast.MatchClass(kwd_attrs=attributes):
                self.uses.patterns.append(self.use(node))
                if any(each in DYNAMIC_ATTRIBUTES for each in attributes):
                    self._dynamic(node)
            case _:
                pass
        if isinstance(node, ast.Attribute) and (node.attr in DYNAMIC_ATTRIBUTES or _is_given_another_class(node)):
            self._dynamic(node)
        for child in children(node):
            self.visit(child)

    def _dynamic(self, node: ast.AST) -> None:
        use = self.use(node)
        self.uses.dynamic.append(replace(use, is_deferred=use.is_deferred or _is_kept(node, self.text)))

    def _function(self, node: FunctionNode) -> None:
        if not isinstance(node, ast.Lambda):
            self.name(node.name, node)
        for part in around_function(node):
            self.visit(part)
        for part in annotations_of(node):
            self.annotation(part)
        self.scopes.append(node)
        self.functions.append(node)
        self.deferred += 1
        for part in [node.body] if isinstance(node, ast.Lambda) else node.body:
            self.visit(part)
        self.deferred -= 1
        self.functions.pop()
        self.scopes.pop()

    def _class(self, node: ast.ClassDef) -> None:
        self.name(node.name, node)
        for part in (*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", ())):
            self.visit(part)
        self.scopes.append(node)
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        self.scopes.append(comprehension_targets(node))
        if isinstance(node, ast.GeneratorExp):
            self.deferred += 1
        for generator in node.generators:
            # A target may be an attribute or an element, which is then written.
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        for generator in others:
            self.visit(generator.iter)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        if isinstance(node, ast.GeneratorExp):
            self.deferred -= 1
        self.scopes.pop()


def _makes_annotations_texts(statement: ast.stmt) -> bool:
    match statement:
        case ast.ImportFrom(module="__future__", names=aliases):
            return any(alias.name == "annotations" for alias in aliases)
        case _:
            return False


def _is_given_another_class(node: ast.Attribute) -> bool:
    return node.attr in ("__class__", "__bases__") and not isinstance(node.ctx, ast.Load)


def _is_kept(node: ast.AST, text: SourceText) -> bool:
    """Whether a module's statement, which has run, gave something to functions through which they may write."""
    match node:
        case ast.Call(func=ast.Name(id="globals" | "locals" | "vars")) | ast.Attribute():
            pass
        case _:
            return False
    match text.parents.get(node):
        case ast.Attribute() as member:
            called = text.parents.get(member)  # or it is kept: globals().update
            return not (isinstance(called, ast.Call) and called.func is member) and isinstance(member.ctx, ast.Load)
        case ast.Subscript() | ast.Compare() | ast.Expr() | ast.For() | ast.comprehension():
            return False
        case ast.keyword(arg=None):
            return False  # a copy
        case ast.Call(func=function):
            return function is not node
        case ast.Dict(keys=keys, values=values):
            return any(key is not None and value is node for key, value in zip(keys, values, strict=True))
        case _:
            return True


def _builtins_as_values(text: SourceText, uses: Uses) -> Iterator[Use]:
    """Where such a function is not called but handed on, or gets another name: what is done with it is not seen."""
    for name in _DYNAMIC:
        found = uses.globals.get(name, [])
        if any(not isinstance(getattr(use.node, "ctx", None), ast.Load) for use in found):
            continue  # it is one of the user's own
        for use in found:
            match text.parents.get(use.node):
                case ast.Call(func=function) if function is use.node:
                    pass
                case _:
                    yield replace(use, is_deferred=True)
