"""A change as the error that a user reads: which operator, what changed, and where that is defined."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator

from anabranch.errors import Location, RunError, SharedStateError
from anabranch.graph.model import Graph
from anabranch.tripwire.reached import Change, Entry


def error_of(change: Change, graph: Graph) -> RunError:
    """In the driver, where the user's files are."""
    entry = change.entry
    if change.when == "setting":
        return RunError(
            f"workers cannot have a setting of your process: {entry.what}",
            location=graph.operator(entry.operator).location,
            hint="set it back before the program runs, or where the operator needs it, and there only",
        )
    return SharedStateError(
        entry.operator,
        entry.what,
        when=change.when,
        location=graph.operator(entry.operator).location,
        defined_at=_defined_at(entry),
    )


def _defined_at(entry: Entry) -> Location | None:
    """A line where the name gets a value: of a global the first, of a variable the last before it is used."""
    if not entry.file:
        return None
    if entry.line > 0:
        return Location(entry.file, entry.line)
    try:
        found = sorted(_bindings(ast.parse("".join(linecache.getlines(entry.file))), entry.name))
    except (SyntaxError, ValueError):
        found = []
    if entry.line < 0:
        before = [line for _, line in found if line <= -entry.line]
        return Location(entry.file, max(before, default=-entry.line))
    return Location(entry.file, found[0][1]) if found else None


def _bindings(tree: ast.AST, name: str) -> Iterator[tuple[int, int]]:
    """(column, line) of whatever gives the name a value: what stands at the margin is of the module."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store()) | ast.arg(arg=found):
                is_it = found == name
            case ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                is_it = found == name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                is_it = any((alias.asname or alias.name) == name for alias in aliases)
            case _:
                continue
        if is_it:
            yield node.col_offset, node.lineno
