"""A function body without early returns: what follows an `if` that returns becomes its other branch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Raise, ast.Assert, ast.Break, ast.Continue)


class NotStructured(Exception):
    """It returns from inside a loop, or uses a statement that has no place inside other code."""


def structured(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The same with each `return` at the end of everything that can follow it; raises `NotStructured`."""
    result: list[ast.stmt] = []
    for at, statement in enumerate(body):
        match statement:
            case ast.Return():
                return [*result, statement]
            case ast.If(test=test, body=then, orelse=otherwise) if _returns(then) or _returns(otherwise):
                rest = list(body[at + 1 :])
                if rest and not (_always_returns(then) or _always_returns(otherwise)):
                    raise NotStructured
                one = structured(then if _always_returns(then) else [*then, *rest])
                other = structured(otherwise if _always_returns(otherwise) else [*otherwise, *rest])
                return [*result, ast.copy_location(ast.If(test, one, other), statement)]
            case ast.If(body=then, orelse=otherwise):
                _check([*then, *otherwise])
            case ast.While(body=then, orelse=otherwise) | ast.For(body=then, orelse=otherwise):
                if _returns([statement]):
                    raise NotStructured
                _check([*then, *otherwise])
            case _ if not isinstance(statement, _SIMPLE):
                raise NotStructured
        result.append(statement)
    return result


def _check(body: Sequence[ast.stmt]) -> None:
    structured(body)


def _returns(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    """Whether nothing that follows is reached."""
    if not body:
        return False
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=otherwise):
            return _always_returns(then) and _always_returns(otherwise)
    return False
