"""Which functions of the user's can be written into other code, and their bodies in a form for that."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.analysis.scopes import scope_of
from anabranch.codegen.functions import UserFunction
from anabranch.codegen.inference import Typed
from anabranch.codegen.python.assigned import is_always_assigned
from anabranch.codegen.python.returns import NotStructured, structured

_NOT_INLINE = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Await, ast.Match, ast.Global,
    ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Delete, ast.Starred,
    ast.Assert,  # which test runners rewrite
)  # fmt: skip


class NotInline(Exception):
    """This function is called instead."""


@dataclass(frozen=True)
class Inline:
    """A function that can be written into other code."""

    function: UserFunction
    body: tuple[ast.stmt, ...]
    is_generator: bool
    typed: Typed | None  # only where its types can be relied on
    constants: Mapping[ast.expr, Any]  # names and dotted names that stand for the same all the time

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.function.free_parameters

    @property
    def instance(self) -> str | None:
        """The parameter that is the instance."""
        function = self.function
        return function.parameters[0] if function.is_method or function.bound is not None else None


def inline(function: UserFunction, typed: Typed | None = None) -> Inline:
    """The function, ready to be inlined; raises `NotInline`."""
    node = function.node
    body: list[ast.stmt]
    if isinstance(node, ast.Lambda):
        body = [ast.copy_location(ast.Return(node.body), node.body)]
    else:
        body = list(node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body)
    nodes = [child for statement in body for child in ast.walk(statement)]
    if any(isinstance(child, _NOT_INLINE) for child in nodes):
        raise NotInline
    yields = [child for child in nodes if isinstance(child, ast.Yield | ast.YieldFrom)]
    statements = [child.value for child in nodes if isinstance(child, ast.Expr)]
    if any(each not in statements or (isinstance(each, ast.Yield) and each.value is None) for each in yields):
        raise NotInline
    scope = scope_of(node)
    if not is_always_assigned(body, scope.parameters, frozenset(scope.own)):
        raise NotInline
    if yields and any(isinstance(child, ast.Return) and child.value is not None for child in nodes):
        raise NotInline
    try:
        body = structured(body)
    except NotStructured:
        raise NotInline from None
    relied_on = typed if typed is not None and not typed.problems else None
    constants = typed.constants if typed is not None else {}
    return Inline(function, tuple(body), bool(yields), relied_on, constants)
