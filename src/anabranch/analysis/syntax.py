"""Walking syntax trees. Explaining a large program visits millions of nodes, so these leave out what tells nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MARKS = frozenset(
    mark
    for kind in (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for mark in kind.__subclasses__()
)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, in the order of the text; marks such as `Load` and `Add` are not among them."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST) and each.__class__ not in _MARKS]
        elif isinstance(value, ast.AST) and value.__class__ not in _MARKS:
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, the outer ones first."""
    waiting = [node]
    for each in waiting:  # grows while it is walked
        yield each
        waiting += children(each)
