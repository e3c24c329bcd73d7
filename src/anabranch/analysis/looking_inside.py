"""What builtin code sees of objects that exist already: elements of containers, and fields of dataclasses."""

from __future__ import annotations

import ast
import dataclasses

from anabranch.analysis.lifting import CONTAINERS, is_user_class, members
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.values import NOTHING, Const, Value, join, one


def with_parts(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    """The things, and whatever can be seen in those among them that exist already."""
    seen = set(value)
    waiting = [thing for thing in value if isinstance(thing, Const)]
    while waiting:
        for part in _parts(run, frame, waiting.pop(), node):
            if part not in seen:
                seen.add(part)
                if isinstance(part, Const):
                    waiting.append(part)
    return frozenset(seen) if len(seen) > len(value) else value


def _parts(run: Run, frame: Frame, const: Const, node: ast.AST) -> Value:
    held = const.object
    if type(held) in CONTAINERS:
        return members(const)
    if dataclasses.is_dataclass(held) and not isinstance(held, type) and is_user_class(type(held)):
        # The methods that the decorator made compare, hash and show all of them.
        return join(run.load(frame, one(const), field.name, node) for field in dataclasses.fields(held))
    return NOTHING
