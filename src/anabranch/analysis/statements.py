"""Statements: how values flow through variables along the paths of a function."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from anabranch.analysis import arithmetic
from anabranch.analysis.expressions import function_value
from anabranch.analysis.instance_checks import mind_the_room
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.names import merged, store_name
from anabranch.analysis.protocols import class_of, touch
from anabranch.analysis.reflection import exchanged_module
from anabranch.analysis.run import Args, Frame, Loop, Run
from anabranch.analysis.state import shown
from anabranch.analysis.targets import assign, delete, match_pattern
from anabranch.analysis.values import NONE, NOTHING, RAISED, SAID_BY_ERRORS, Const, Obj, Value, one
from anabranch.analysis.words import words

_ROUNDS_BEFORE_WIDENING = 4
_MOST_ROUNDS = 50
# Loading these has no effect a program could see, so a function may import them.
_HARMLESS_IMPORTS = words(
    """math cmath statistics operator itertools functools json re string struct hashlib hmac zlib binascii base64
    html textwrap unicodedata bisect heapq calendar ipaddress colorsys difflib csv ast shlex fnmatch keyword
    datetime decimal fractions collections copy typing dataclasses contextlib urllib.parse urllib numpy uuid
    zoneinfo random time os sys"""
)


def execute(run: Run, frame: Frame, body: list[ast.stmt]) -> None:
    for statement in body:
        if frame.variables is None:
            return  # no path leads here
        run.step(frame)
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            run.share(frame, statement, f"contains {_spoken(statement)}, which cannot be followed")
        else:
            handler(run, frame, statement)


def _spoken(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ClassDef):
        return "a class definition"
    return "an asynchronous statement" if type(statement).__name__.startswith("Async") else type(statement).__name__


def _expression(run: Run, frame: Frame, node: ast.Expr) -> None:
    run.evaluate(frame, node.value)


def _assign(run: Run, frame: Frame, node: ast.Assign) -> None:
    value = run.evaluate(frame, node.value)
    for target in node.targets:
        assign(run, frame, target, value)


def _annotated(run: Run, frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(run, frame, node.target, run.evaluate(frame, node.value))
        return
    # Without a value nothing is assigned, but what stands before the last dot or bracket is evaluated.
    match node.target:
        case ast.Attribute(value=owner):
            run.evaluate(frame, owner)
        case ast.Subscript(value=owner, slice=index):
            run.evaluate(frame, owner)
            run.evaluate(frame, index)
        case _:
            pass


def _augmented(run: Run, frame: Frame, node: ast.AugAssign) -> None:
    before = run.evaluate(frame, _as_load(node.target))
    value = run.evaluate(frame, node.value)
    after = arithmetic.in_place(run, frame, node.op, before, value, node, shown(node.target))
    assign(run, frame, node.target, after)


_loads: dict[ast.expr, ast.expr] = {}


def _as_load(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment as the expression that is read first."""
    known = _loads.get(target)
    if known is None:
        match target:
            case ast.Name(id=name):
                known = ast.copy_location(ast.Name(name, ast.Load()), target)
            case ast.Attribute(value=value, attr=name):
                known = ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
            case ast.Subscript(value=value, slice=index):
                known = ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
            case _:
                known = target
        _loads[target] = known
    return known


def _delete(run: Run, frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        delete(run, frame, target)


def _return(run: Run, frame: Frame, node: ast.Return) -> None:
    frame.returned |= run.evaluate(frame, node.value) if node.value is not None else NONE
    frame.variables = None


def _raise(run: Run, frame: Frame, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            value = run.evaluate(frame, part)
            classes = frozenset(t for t in value if isinstance(t, Const) and isinstance(t.object, type))
            if classes:
                value |= run.call(frame, classes, Args(), part)
            run.heap.put(RAISED, value)
            # Whoever catches it, or reports it, may make a text of it.
            touch(run, frame, frozenset(t for t in value if class_of(t) is not None), part)
    frame.variables = None


def _assert(run: Run, frame: Frame, node: ast.Assert) -> None:
    arithmetic.truth(run, frame, run.evaluate(frame, node.test), node.test)
    if node.msg is not None:
        before = dict(frame.variables or {})
        run.evaluate(frame, node.msg)
        frame.variables = before


def _if(run: Run, frame: Frame, node: ast.If) -> None:
    arithmetic.truth(run, frame, run.evaluate(frame, node.test), node.test)
    start = dict(frame.variables or {})
    run.execute(frame, node.body)
    after_body, frame.variables = frame.variables, start
    run.execute(frame, node.orelse)
    frame.variables = merged([after_body, frame.variables])


def _for(run: Run, frame: Frame, node: ast.For) -> None:
    source = run.evaluate(frame, node.iter)

    def enter() -> None:
        assign(run, frame, node.target, run.iterate(frame, source, node.iter))

    _loop(run, frame, node, enter, is_endless=False)


def _while(run: Run, frame: Frame, node: ast.While) -> None:
    def enter() -> None:
        arithmetic.truth(run, frame, run.evaluate(frame, node.test), node.test)

    _loop(run, frame, node, enter, is_endless=isinstance(node.test, ast.Constant) and bool(node.test.value))


def _loop(run: Run, frame: Frame, node: ast.For | ast.While, enter: Callable[[], None], is_endless: bool) -> None:
    loop = Loop()
    frame.loops.append(loop)
    start = dict(frame.variables or {})
    for round_ in range(_MOST_ROUNDS):
        frame.variables = dict(start)
        enter()
        after_test = dict(frame.variables)
        run.execute(frame, node.body)
        again = merged([start, after_test, frame.variables, *loop.continued])
        assert again is not None
        if round_ >= _ROUNDS_BEFORE_WIDENING:
            again = {name: run.narrowed(value, (node, name)) for name, value in again.items()}
        if again == start:
            break
        start = again
    else:
        run.share(frame, node, "contains a loop that is too involved to be followed")
    frame.loops.pop()
    frame.variables = None if is_endless else dict(start)
    if not is_endless:
        run.execute(frame, node.orelse)
    frame.variables = merged([frame.variables, *loop.broken])


def _break(run: Run, frame: Frame, node: ast.Break) -> None:
    if frame.variables is not None:
        frame.loops[-1].broken.append(frame.variables)
    frame.variables = None


def _continue(run: Run, frame: Frame, node: ast.Continue) -> None:
    if frame.variables is not None:
        frame.loops[-1].continued.append(frame.variables)
    frame.variables = None


def _try(run: Run, frame: Frame, node: ast.Try | ast.TryStar) -> None:
    # An error may come after any assignment, so handlers see all values a variable had in between.
    seen = dict(frame.variables or {})
    left = [(loop, len(loop.broken), len(loop.continued)) for loop in frame.loops]
    frame.handlers.append(seen)
    run.execute(frame, node.body)
    after_body = frame.variables
    if after_body is not None:
        run.execute(frame, node.orelse)
    ends = [frame.variables]
    for handler in node.handlers:
        frame.variables = dict(seen)
        kinds = run.evaluate(frame, handler.type) if handler.type is not None else NOTHING
        mind_the_room(run, frame, kinds, handler)
        if handler.name is not None:
            # Which error it is remains open, so it may be any that is raised anywhere.
            caught = run.make(Exception, handler, run.heap.held(SAID_BY_ERRORS)) | _caught(run.heap.held(RAISED), kinds)
            store_name(run, frame, handler.name, caught, handler)
        run.execute(frame, handler.body)
        ends.append(frame.variables)
    frame.handlers.pop()
    if node.finalbody:
        for loop, broken, continued in left:
            loop.broken[broken:] = _through(run, frame, node.finalbody, loop.broken[broken:])
            loop.continued[continued:] = _through(run, frame, node.finalbody, loop.continued[continued:])
        # Also reached by errors and by `return`; what it assigns there matters for nothing that follows.
        reached = merged([*ends, seen])
        frame.variables = dict(reached) if reached is not None else {}
        run.execute(frame, node.finalbody)
        if frame.variables is None:
            return
        if all(end is None for end in ends):
            frame.variables = None
        return
    frame.variables = merged(ends)


def _caught(raised: Value, kinds: Value) -> Value:
    """Those of the errors that are raised anywhere that a handler for these classes may get."""
    classes = [t.object for t in kinds if isinstance(t, Const) and isinstance(t.object, type)]
    if not classes or len(classes) < len(kinds):
        return raised
    return frozenset(
        thing
        for thing in raised
        if not isinstance(thing, Obj) or any(base in (*classes, BaseExceptionGroup) for base in thing.type.__mro__)
    )


def _through(run: Run, frame: Frame, final: list[ast.stmt], ends: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """What `break` and `continue` carry along runs through `finally` first."""
    after = []
    for variables in ends:
        frame.variables = dict(variables)
        run.execute(frame, final)
        if frame.variables is not None:
            after.append(frame.variables)
    return after


def _with(run: Run, frame: Frame, node: ast.With) -> None:
    for item in node.items:
        manager = run.evaluate(frame, item.context_expr)
        entered = run.enter(frame, manager, item.context_expr)
        if item.optional_vars is not None:
            assign(run, frame, item.optional_vars, entered)
    seen = dict(frame.variables or {})
    frame.handlers.append(seen)
    run.execute(frame, node.body)
    frame.handlers.pop()
    # The manager may swallow an error that came after any of the assignments.
    frame.variables = merged([frame.variables, seen])


def _match(run: Run, frame: Frame, node: ast.Match) -> None:
    subject = run.evaluate(frame, node.subject)
    ends: list[dict[str, Value] | None] = []
    for case in node.cases:
        match_pattern(run, frame, case.pattern, subject)
        if case.guard is not None:
            arithmetic.truth(run, frame, run.evaluate(frame, case.guard), case.guard)
        start = dict(frame.variables or {})
        run.execute(frame, case.body)
        ends.append(frame.variables)
        frame.variables = start
        if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            frame.variables = None
            break
    frame.variables = merged([*ends, frame.variables])


def _function(run: Run, frame: Frame, node: ast.FunctionDef) -> None:
    value = function_value(run, frame, node)
    for decorator in reversed(node.decorator_list):
        value = run.call(frame, run.evaluate(frame, decorator), Args((value,)), decorator)
    store_name(run, frame, node.name, value, node)


def _import(run: Run, frame: Frame, node: ast.Import) -> None:
    for alias in node.names:
        module = _module(run, frame, alias.name, node)
        if alias.asname is None and "." in alias.name:
            module = _module(run, frame, alias.name.split(".")[0], node)
        store_name(run, frame, (alias.asname or alias.name).split(".")[0], module, node)


def _import_from(run: Run, frame: Frame, node: ast.ImportFrom) -> None:
    name = node.module or ""
    if node.level:
        package = str(frame.home.namespace.get("__package__") or "").split(".")
        name = ".".join([*package[: len(package) - node.level + 1], *([name] if name else [])])
    module = _module(run, frame, name, node)
    for alias in node.names:
        store_name(run, frame, alias.asname or alias.name, run.load(frame, module, alias.name, node), node)


def _module(run: Run, frame: Frame, name: str, node: ast.AST) -> Value:
    module = sys.modules.get(name)
    if module is None and name in _HARMLESS_IMPORTS:
        module = importlib.import_module(name)
    if not isinstance(module, ModuleType):
        return run.unknown(frame, node, f"imports `{name}` while tuples flow", "import it at the top of the file")
    problem = exchanged_module(namespace_of(frame.home.namespace))
    if problem is not None:
        run.share(frame, node, f"imports `{name}`, which {problem}", "import it at the top of the file")
    return one(Const(module))


def _pass(run: Run, frame: Frame, node: ast.AST) -> None:
    pass


_HANDLERS: dict[type[ast.AST], Callable[[Run, Frame, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Pass: _pass,
    ast.Global: _pass,
    ast.Nonlocal: _pass,
}
