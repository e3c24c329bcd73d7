"""Following a call into a function of the user's: binding its arguments, running its body once per kind of call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

from anabranch.analysis.counts import exactly
from anabranch.analysis.expressions import default_site
from anabranch.analysis.generators import generator_of
from anabranch.analysis.heap import ANYTHING
from anabranch.analysis.home import Home
from anabranch.analysis.names import cell_of
from anabranch.analysis.origins import Default
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.scopes import scope_of
from anabranch.analysis.selectivity import emissions_on_paths
from anabranch.analysis.values import NONE, NOTHING, STR, FunctionNode, Obj, Tup, Value, join, one

_DEEPEST = 40
_MOST_ROUNDS = 12

Key = tuple[object, ...]


@dataclass
class Activation:
    """A function whose body is being followed; calls of it from inside only widen its arguments."""

    variables: dict[str, Value]
    result: Value
    is_recursive: bool = False
    is_wider: bool = False


def bind(
    run: Run,
    frame: Frame,
    node: FunctionNode,
    args: Args,
    default_of: Callable[[str], Value | None],
    at: ast.AST,
) -> dict[str, Value]:
    """The parameters' values, as Python assigns arguments to parameters."""
    parameters = node.args
    positional = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    keyword_only = [a.arg for a in parameters.kwonlyargs]
    bound: dict[str, Value] = dict(zip(positional, args.positional, strict=False))
    extra = args.positional[len(positional) :]
    named: Value = NOTHING
    for name, value in args.keywords:
        if name in positional or name in keyword_only:
            bound[name] = bound.get(name, NOTHING) | value
        else:
            named |= value
    is_open = args.more is not None or args.more_keywords is not None
    for name in (*positional, *keyword_only):
        if name in bound:
            continue
        default = default_of(name)
        if is_open:
            rest = (args.more if name in positional else None) or NOTHING
            bound[name] = rest | (args.more_keywords or NOTHING) | (default or NOTHING)
        elif default is not None:
            bound[name] = default
        else:
            bound[name] = run.unknown(frame, at, f"calls a function without its argument `{name}`")
    if parameters.vararg is not None:
        rest = join(extra) | (args.more or NOTHING)
        is_exact = args.more is None
        bound[parameters.vararg.arg] = one(Tup(tuple, extra)) if is_exact else run.make(tuple, (node, "*", at), rest)
    elif extra:
        run.share(frame, at, "calls a function with more arguments than it takes")
    if parameters.kwarg is not None:
        others = named | (args.more_keywords or NOTHING)
        made = run.make(dict, (node, "**", at), others | (STR if others else NOTHING))
        for thing in made:
            if isinstance(thing, Obj) and args.more_keywords is None:
                run.heap.set_count(thing.site, exactly(sum(n not in bound for n, _ in args.keywords)))
        bound[parameters.kwarg.arg] = made
    elif named:
        run.share(frame, at, "calls a function with arguments that it does not take")
    return bound


def call_function(run: Run, frame: Frame, home: Home, args: Args, at: ast.AST) -> Value:
    """A call of a function that exists already."""
    function = home.function
    given = _defaults(function)

    def default_of(name: str) -> Value | None:
        return one(run.lift(given[name], Default(home, name))) if name in given else None

    variables = bind(run, frame, home.node, args, default_of, at)
    return follow(run, frame, home.node, home, (), variables, at)


def _defaults(function: FunctionType) -> dict[str, object]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    return dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | (function.__kwdefaults__ or {})


def call_local(
    run: Run, frame: Frame, node: FunctionNode, home: Home, chain: tuple[FunctionNode, ...], args: Args, at: ast.AST
) -> Value:
    """A call of a function that analysed code made."""
    has_default = {a.arg for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None}
    positional = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    has_default.update(positional[len(positional) - len(node.args.defaults) :])

    def default_of(name: str) -> Value | None:
        return run.heap.held(default_site(node, name)) if name in has_default else None

    return follow(run, frame, node, home, chain, bind(run, frame, node, args, default_of, at), at)


def follow(
    run: Run,
    frame: Frame,
    node: FunctionNode,
    home: Home,
    chain: tuple[FunctionNode, ...],
    variables: dict[str, Value],
    at: ast.AST,
) -> Value:
    scope = scope_of(node)
    if scope.is_asynchronous:
        return run.unknown(frame, at, "calls an asynchronous function")
    place = (node, home, run.is_initialising)
    active = run.active.get(place)
    if active is not None:
        return _recurse(run, active, variables, node)
    key: Key = (*place, chain, frozenset(variables.items()))
    known = run.results.get(key)
    if known is not None and known[0] == run.heap.version and not run.heap.is_watched:
        return known[1]
    if len(run.active) >= _DEEPEST:
        return run.unknown(frame, at, "calls functions too deeply nested to be followed")
    first = generator_of(run, node) if scope.is_generator else NOTHING
    active = run.active[place] = Activation(dict(variables), first)
    try:
        for _ in range(_MOST_ROUNDS):
            active.is_wider = False
            before = run.heap.version
            result = _run_body(run, node, home, chain, active.variables)
            if not active.is_recursive:
                break
            is_stable = result <= active.result and not active.is_wider and before == run.heap.version
            active.result = run.narrowed(active.result | result, (node, "result"))
            if is_stable:
                break
        else:
            run.share(frame, at, "calls a recursive function that is too involved to be followed")
    finally:
        del run.active[place]
    result |= active.result
    run.results[key] = (run.heap.version, result)
    return result


def _recurse(run: Run, active: Activation, variables: dict[str, Value], node: FunctionNode) -> Value:
    active.is_recursive = True
    run.heap.note_write(ANYTHING)
    for name, value in variables.items():
        before = active.variables.get(name, NOTHING)
        if not value <= before:
            wider = run.narrowed(before | value, (node, name))
            if wider != before:
                active.variables[name] = wider
                active.is_wider = True
    return active.result


def _run_body(
    run: Run, node: FunctionNode, home: Home, chain: tuple[FunctionNode, ...], variables: dict[str, Value]
) -> Value:
    scope = scope_of(node)
    inner = Frame(home, node, scope, chain, dict(variables))
    for name, value in variables.items():
        if name in scope.captured:
            run.heap.put(cell_of(node, name), value)
    if isinstance(node, ast.Lambda):
        inner.returned = run.evaluate(inner, node.body)
    else:
        run.execute(inner, node.body)
        if inner.variables is not None:
            inner.returned |= NONE
    if not scope.is_generator:
        return inner.returned
    result = generator_of(run, node)
    for thing in result:
        assert isinstance(thing, Obj)
        run.heap.put(thing.site, inner.yielded)
        run.heap.put_attribute(thing.site, "<returned>", inner.returned)
        run.heap.set_count(thing.site, emissions_on_paths(run, node))
    return result
