"""Variables: where a name's value is found and where an assignment to it goes."""

from __future__ import annotations

import ast
import builtins

from anabranch.analysis import constancy
from anabranch.analysis.genuine import is_replaced
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.origins import GlobalName, Variable
from anabranch.analysis.patching import CALL_YOUR_OWN, REPLACED, patched_module
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.scopes import scope_of
from anabranch.analysis.values import NOTHING, Const, FunctionNode, Place, Site, Value, join, one
from anabranch.analysis.words import words

_OF_THE_LOADER = words("__name__ __file__ __loader__ __spec__ __path__ __package__ __cached__ __builtins__")
_OWN_STATE = "keep it in `self` of an operator class and use key="


def cell_of(owner: FunctionNode, name: str) -> Site:
    """Where a variable lives that functions inside its owner share."""
    return Site(Place.FRESH, ("variable", owner, name))


def load_name(run: Run, frame: Frame, name: str, node: ast.AST) -> Value:
    name = frame.home.mangled(name)
    if name in frame.targets:
        return frame.targets[name]
    scope = frame.scope
    if name in scope.own:
        now = (frame.variables or {}).get(name, NOTHING)
        if name in scope.rebound_inside or frame.lazy:
            return now | run.heap.held(cell_of(frame.node, name))
        return now
    if name not in scope.outer_globals:
        for outer in reversed(frame.chain):
            if name in scope_of(outer).own or name in scope_of(outer).captured:
                return run.heap.held(cell_of(outer, name))
        cell = frame.home.cell(name)
        if cell is not None:
            return _load_cell(run, frame, name, node)
    return _load_global(run, frame, name, node)


def _load_cell(run: Run, frame: Frame, name: str, node: ast.AST) -> Value:
    cell = frame.home.cell(name)
    assert cell is not None
    try:
        held = cell.cell_contents
    except ValueError:
        return run.unknown(frame, node, f"uses `{name}`, which has no value yet")
    if name == "__class__":
        return one(Const(held))
    origin = Variable(frame.home, name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        run.share(frame, node, f"reads {origin}, which {problem}", _OWN_STATE)
    return one(run.lift(held, origin))


def _load_global(run: Run, frame: Frame, name: str, node: ast.AST) -> Value:
    is_there, held = frame.home.global_(name)
    if not is_there:
        return run.unknown(frame, node, f"uses `{name}`, which is not defined yet", "define it before the program")
    if name in _OF_THE_LOADER:
        return run.unknown(frame, node, f"reads `{name}`, which depends on how the module was loaded")
    if name not in frame.home.namespace:
        patch = patched_module(builtins, name, frame.home.namespace)
        if patch is not None:
            run.share(frame, node, f"uses `{name}`, which {patch}")
        if is_replaced(builtins, name):
            return run.unknown(frame, node, f"uses `{name}`, {REPLACED}", CALL_YOUR_OWN)
        return one(run.lift(getattr(builtins, name), None))
    origin = GlobalName(namespace_of(frame.home.namespace), name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        run.share(frame, node, f"reads {origin}, which {problem}", _OWN_STATE)
    return one(run.lift(held, origin))


def store_name(run: Run, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
    scope = frame.scope
    is_global, is_outer = name in scope.outer_globals, name in scope.outer_locals
    name = frame.home.mangled(name)
    if is_global:
        hint = f"move `{name}` into __init__ of an operator class and use key="
        run.share(frame, node, f"assigns the global `{name}`", hint)
        return
    if is_outer:
        for outer in reversed(frame.chain):
            if name in scope_of(outer).own:
                cell = cell_of(outer, name)
                run.heap.put(cell, value)
                if run.heap.is_kept(cell):
                    run.keep(frame, node, f"assigns `{name}`, which a function kept by its instance remembers")
                return
        run.share(
            frame,
            node,
            f"assigns `{name}`, a variable of the enclosing function",
            f"move `{name}` into __init__ of an operator class and use key=",
        )
        return
    if frame.variables is None:
        return
    frame.variables[name] = value
    for seen in frame.handlers:
        seen[name] = seen.get(name, NOTHING) | value
    if name in scope.captured:
        run.heap.put(cell_of(frame.node, name), value)


def bind_target(run: Run, frame: Frame, name: str, value: Value) -> None:
    """A variable of a comprehension, which lives only there."""
    name = frame.home.mangled(name)
    frame.targets[name] = value
    if name in frame.scope.captured:
        run.heap.bind(cell_of(frame.node, name), value)


def merged(branches: list[dict[str, Value] | None]) -> dict[str, Value] | None:
    """The variables where several paths meet."""
    reached = [branch for branch in branches if branch is not None]
    if not reached:
        return None
    if len(reached) == 1:
        return reached[0]
    names = dict.fromkeys(name for branch in reached for name in branch)
    return {name: join(branch.get(name, NOTHING) for branch in reached) for name in names}
