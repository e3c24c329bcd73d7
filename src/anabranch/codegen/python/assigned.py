"""Whether every local of a function has a value wherever it is read: inlined into a loop, it would have an old one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

Known = frozenset[str] | None  # None behind a return, where anything may be said to hold


def is_always_assigned(body: Sequence[ast.stmt], parameters: Sequence[str], local: frozenset[str]) -> bool:
    check = _Check(local)
    check.block(body, frozenset(parameters))
    return check.holds


class _Check:
    def __init__(self, local: frozenset[str]) -> None:
        self.local = local
        self.holds = True

    def block(self, body: Sequence[ast.stmt], known: Known) -> Known:
        for statement in body:
            known = self._statement(statement, known)
        return known

    def _statement(self, node: ast.stmt, known: Known) -> Known:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                known = self._expression(test, known)
                return _both(self.block(body, known), self.block(orelse, known))
            case ast.While(test=test, body=body, orelse=orelse):
                before = self._expression(test, known)
                self.block(body, before)
                self.block(orelse, before)
                return before
            case ast.For(target=target, iter=iter_, body=body, orelse=orelse):
                before = self._expression(iter_, known)
                self.block(body, _with(before, target))
                self.block(orelse, before)
                return before
            case ast.Return(value=value):
                if value is not None:
                    self._expression(value, known)
                return None
            case ast.Raise() | ast.Break() | ast.Continue():
                for child in ast.iter_child_nodes(node):
                    self._expression(child, known)
                return None
            case ast.AugAssign(target=target, value=value):
                if isinstance(target, ast.Name):
                    self._read(target.id, known)
                else:
                    self._expression(target, known)
                return self._expression(value, known)
            case ast.Assign(targets=targets, value=value):
                known = self._expression(value, known)
                for target in targets:
                    known = _with(self._expression(target, known), target)
                return known
            case ast.AnnAssign(target=target, value=value):
                if value is None:
                    return known
                return _with(self._expression(target, self._expression(value, known)), target)
            case _:
                for child in ast.iter_child_nodes(node):
                    known = self._expression(child, known)
                return known

    def _expression(self, node: ast.AST, known: Known) -> Known:
        """What is known behind it: a walrus that is not evaluated for certain counts for nothing."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._read(name, known)
                return known
            case ast.NamedExpr(target=ast.Name() as target, value=value):
                return _with(self._expression(value, known), target)
            case ast.BoolOp(values=[first, *others]):
                known = inner = self._expression(first, known)
                for other in others:
                    inner = self._expression(other, inner)
                return known
            case ast.IfExp(test=test, body=body, orelse=orelse):
                known = self._expression(test, known)
                return _both(self._expression(body, known), self._expression(orelse, known))
            case _:
                for child in ast.iter_child_nodes(node):
                    known = self._expression(child, known)
                return known

    def _read(self, name: str, known: Known) -> None:
        if known is not None and name in self.local and name not in known:
            self.holds = False


def _both(one: Known, other: Known) -> Known:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _with(known: Known, target: ast.AST) -> Known:
    if known is None:
        return None
    stored = [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return known | frozenset(stored)
