"""Expressions: the things each may evaluate to, and what evaluating it does."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from anabranch.analysis import arithmetic, subscripts
from anabranch.analysis.counts import ANY, AT_MOST_ONE, Count, exactly
from anabranch.analysis.methods import ANY_CHANGING
from anabranch.analysis.names import bind_target, load_name, store_name
from anabranch.analysis.protocols import touch, turn_into_text
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.selectivity import elements_of
from anabranch.analysis.state import drain, held_by, spread
from anabranch.analysis.values import (
    NOTHING,
    STR,
    Atom,
    Const,
    Fun,
    Obj,
    Place,
    Site,
    Stream,
    Tup,
    Value,
    atom,
    join,
    one,
    without_sources,
)

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def evaluate(run: Run, frame: Frame, node: ast.expr) -> Value:
    run.step()
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return run.unknown(frame, node, f"uses {type(node).__name__}, which cannot be followed")
    if frame.in_any_order and not isinstance(node, ast.Call | Comprehension):
        # Only what is consumed directly may come in any order, not what it is computed from.
        frame.in_any_order = False
        value: Value = handler(run, frame, node)
        frame.in_any_order = True
        return value
    value = handler(run, frame, node)
    return value


def _constant(run: Run, frame: Frame, node: ast.Constant) -> Value:
    return atom(type(node.value))


def _name(run: Run, frame: Frame, node: ast.Name) -> Value:
    return load_name(run, frame, node.id, node)


def _attribute(run: Run, frame: Frame, node: ast.Attribute) -> Value:
    return run.load(frame, run.evaluate(frame, node.value), frame.home.mangled(node.attr), node)


def _subscript(run: Run, frame: Frame, node: ast.Subscript) -> Value:
    return subscripts.load(run, frame, run.evaluate(frame, node.value), node)


def _slice(run: Run, frame: Frame, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            bound = run.evaluate(frame, part)
            touch(run, frame, frozenset(t for t in bound if not isinstance(t, Atom)), part)
    return atom(slice)


def _text(run: Run, frame: Frame, node: ast.JoinedStr) -> Value:
    for part in node.values:
        run.evaluate(frame, part)
    return STR


def _formatted(run: Run, frame: Frame, node: ast.FormattedValue) -> Value:
    value = run.evaluate(frame, node.value)
    turn_into_text(run, frame, value, node.value)
    touch(run, frame, frozenset(t for t in value if not isinstance(t, Atom)), node)
    if node.format_spec is not None:
        run.evaluate(frame, node.format_spec)
    return STR


# Displays and comprehensions ------------------------------------------------------------------------------------


def _tuple(run: Run, frame: Frame, node: ast.Tuple) -> Value:
    items: list[Value] = []
    for part in node.elts:
        if not isinstance(part, ast.Starred):
            items.append(run.evaluate(frame, part))
            continue
        starred = run.evaluate(frame, part.value)
        run.iterate(frame, starred, part.value)
        if len(starred) != 1 or not isinstance(next(iter(starred)), Tup):
            return run.make(tuple, node, join(_element(run, frame, other) for other in node.elts))
        for thing in starred:
            assert isinstance(thing, Tup)
            items.extend(thing.items)
    return one(Tup(tuple, tuple(items)))


def _element(run: Run, frame: Frame, node: ast.expr) -> Value:
    return _spread(run, frame, node) if isinstance(node, ast.Starred) else run.evaluate(frame, node)


def _spread(run: Run, frame: Frame, node: ast.Starred) -> Value:
    return run.iterate(frame, run.evaluate(frame, node.value), node.value)


def _display(run: Run, frame: Frame, node: ast.List | ast.Set) -> Value:
    held: Value = NOTHING
    is_known = True
    for part in node.elts:
        if isinstance(part, ast.Starred):
            held |= _spread(run, frame, part)
            is_known = False
        else:
            held |= run.evaluate(frame, part)
    kind = list if isinstance(node, ast.List) else set
    if kind is set:
        touch(run, frame, frozenset(t for t in held if not isinstance(t, Atom)), node)
        is_known = is_known and len(node.elts) <= 1  # equal elements count once
    return _counted(run, run.make(kind, node, held), exactly(len(node.elts)) if is_known else ANY)


def _counted(run: Run, value: Value, count: Count) -> Value:
    for thing in value:
        if isinstance(thing, Obj):
            run.heap.set_count(thing.site, count)
    return value


def _dict(run: Run, frame: Frame, node: ast.Dict) -> Value:
    held: Value = NOTHING
    for key, value in zip(node.keys, node.values, strict=True):
        given = run.evaluate(frame, value)
        if key is None:
            held |= spread(run, frame, given, value)
        else:
            keys = run.evaluate(frame, key)
            touch(run, frame, frozenset(t for t in keys if not isinstance(t, Atom)), node)
            held |= keys | given
    return run.make(dict, node, held)


def _comprehension(run: Run, frame: Frame, node: Comprehension) -> Value:
    outer = dict(frame.targets)
    before = frame.in_any_order
    any_order = (before or isinstance(node, ast.SetComp)) and not _has_effects(node)
    frame.weak += 1
    frame.lazy += isinstance(node, ast.GeneratorExp)
    effects = len(run.own) + len(run.shared)
    for position, generator in enumerate(node.generators):
        if generator.is_async:
            run.share(frame, node, "iterates asynchronously")
        frame.lazy -= isinstance(node, ast.GeneratorExp) and position == 0  # the first one is evaluated at once
        frame.in_any_order = any_order
        source = run.evaluate(frame, generator.iter)
        frame.lazy += isinstance(node, ast.GeneratorExp) and position == 0
        elements = run.iterate(frame, source, generator.iter)
        frame.in_any_order = False
        _bind_targets(run, frame, generator.target, elements)
        for condition in generator.ifs:
            arithmetic.truth(run, frame, run.evaluate(frame, condition), condition)
    if isinstance(node, ast.DictComp):
        keys = run.evaluate(frame, node.key)
        touch(run, frame, frozenset(t for t in keys if not isinstance(t, Atom)), node)
        held = keys | run.evaluate(frame, node.value)
        kind: type = dict
    else:
        held = run.evaluate(frame, node.elt)
        kind = {ast.ListComp: list, ast.SetComp: set, ast.GeneratorExp: Stream}[type(node)]
        if kind is set:
            touch(run, frame, frozenset(t for t in held if not isinstance(t, Atom)), node)
    if any_order and len(run.own) + len(run.shared) != effects:
        run.iterate(frame, source, node.generators[0].iter)  # effects happen in the order of iteration
    frame.lazy -= isinstance(node, ast.GeneratorExp)
    frame.weak -= 1
    frame.in_any_order = before
    frame.targets = outer
    return _counted(run, run.make(kind, node, held), _comprehension_count(run, node))


def _has_effects(node: Comprehension) -> bool:
    """Whether elements leave traces, so that their order shows even in what is consumed in any order."""
    return any(
        isinstance(n, ast.NamedExpr)
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ANY_CHANGING)
        for n in ast.walk(node)
    )


def _comprehension_count(run: Run, node: Comprehension) -> Count:
    """`[f(x)] for x in one_element` is rare; what is worth knowing is a single tuple under a condition."""
    if len(node.generators) == 1:
        generator = node.generators[0]
        match generator.iter:
            case ast.Tuple(elts=[single]) | ast.List(elts=[single]) if not isinstance(single, ast.Starred):
                return AT_MOST_ONE if generator.ifs else exactly(1)
            case _:
                pass
    return ANY


def _bind_targets(run: Run, frame: Frame, target: ast.expr, value: Value) -> None:
    match target:
        case ast.Name(id=name):
            bind_target(run, frame, name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if not any(isinstance(p, ast.Starred) for p in parts):
            for position, part in enumerate(parts):
                _bind_targets(run, frame, part, unpacked(run, frame, value, position, len(parts), target))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            elements = run.iterate(frame, value, target)
            for part in parts:
                if isinstance(part, ast.Starred):
                    _bind_targets(run, frame, part.value, run.make(list, part, elements))
                else:
                    _bind_targets(run, frame, part, elements)
        case _:
            run.assign(frame, target, value)


def unpacked(run: Run, frame: Frame, value: Value, position: int, length: int, node: ast.AST) -> Value:
    """What unpacking puts at one position."""
    result: Value = NOTHING
    for thing in value:
        if isinstance(thing, Tup):
            if len(thing.items) == length:
                result |= thing.items[position]
        else:
            result |= without_sources(run.iterate(frame, one(thing), node))
    return result


# Operators ------------------------------------------------------------------------------------------------------


def _binary(run: Run, frame: Frame, node: ast.BinOp) -> Value:
    left = run.evaluate(frame, node.left)
    return arithmetic.binary(run, frame, node.op, left, run.evaluate(frame, node.right), node)


def _unary(run: Run, frame: Frame, node: ast.UnaryOp) -> Value:
    return arithmetic.unary(run, frame, node.op, run.evaluate(frame, node.operand), node)


def _bool(run: Run, frame: Frame, node: ast.BoolOp) -> Value:
    result: Value = NOTHING
    for position, part in enumerate(node.values):
        frame.weak += position > 0
        value = run.evaluate(frame, part)
        frame.weak -= position > 0
        arithmetic.truth(run, frame, value, part)
        if isinstance(node.op, ast.Or) and part is not node.values[-1]:
            # None is never what `or` gives, except as its last operand.
            value = frozenset(t for t in value if not (isinstance(t, Atom) and t.type is type(None)))
        result |= value
    return result


def _compare(run: Run, frame: Frame, node: ast.Compare) -> Value:
    left = run.evaluate(frame, node.left)
    result: Value = NOTHING
    for position, (op, part) in enumerate(zip(node.ops, node.comparators, strict=True)):
        frame.weak += position > 0
        right = run.evaluate(frame, part)
        frame.weak -= position > 0
        result |= arithmetic.compare(run, frame, left, op, right, node)
        left = right
    return result


def _conditional(run: Run, frame: Frame, node: ast.IfExp) -> Value:
    arithmetic.truth(run, frame, run.evaluate(frame, node.test), node.test)
    frame.weak += 1
    value = run.evaluate(frame, node.body) | run.evaluate(frame, node.orelse)
    frame.weak -= 1
    return value


# Functions and calls --------------------------------------------------------------------------------------------


def default_site(node: ast.AST, name: str) -> Site:
    return Site(Place.FRESH, ("default", node, name))


def function_value(run: Run, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    """A function made by the analysed code; its defaults are evaluated now."""
    positional = [*node.args.posonlyargs, *node.args.args]
    named = positional[len(positional) - len(node.args.defaults) :]
    for parameter, default in [
        *zip(named, node.args.defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]:
        if default is not None:
            run.heap.put(default_site(node, parameter.arg), run.evaluate(frame, default))
    return one(Fun(node, frame.home, (*frame.chain, frame.node)))


def _call(run: Run, frame: Frame, node: ast.Call) -> Value:
    before, frame.in_any_order = frame.in_any_order, False
    callee = run.evaluate(frame, node.func)
    frame.in_any_order = before
    if not callee:
        if isinstance(node.func, ast.Attribute) and run.evaluate(frame, node.func.value):
            return NOTHING  # none of the objects has this attribute, so this is an error
        return run.unknown(frame, node, f"calls {ast.unparse(node.func)[:48]}, which is not known")
    return run.call(frame, callee, arguments(run, frame, node, callee), node)


def arguments(run: Run, frame: Frame, node: ast.Call, callee: Value) -> Args:
    before = frame.in_any_order
    frame.in_any_order = run.ignores_order(callee, node, before)
    positional: list[Value] = []
    more: Value | None = None
    for part in node.args:
        if not isinstance(part, ast.Starred):
            value = run.evaluate(frame, part)
            if frame.in_any_order and _is_sum(callee) and not _are_definitely_integers(run, value):
                frame.in_any_order = False  # adding numbers with a fraction gives other digits in another order
                value = run.evaluate(frame, part)
            if more is None:
                positional.append(value)
            else:
                more |= value
            continue
        starred = run.evaluate(frame, part.value)
        elements = run.iterate(frame, starred, part.value)
        if more is None and len(starred) == 1 and isinstance(thing := next(iter(starred)), Tup):
            positional.extend(thing.items)
        elif more is None and _is_definitely_empty(run, starred):
            pass
        else:
            more = (more or NOTHING) | without_sources(elements)
    keywords: list[tuple[str, Value]] = []
    more_keywords: Value | None = None
    for keyword in node.keywords:
        value = run.evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords.append((keyword.arg, value))
        elif not _is_definitely_empty(run, value):
            inner = without_sources(spread(run, frame, value, keyword.value))
            more_keywords = (more_keywords or NOTHING) | inner
    frame.in_any_order = before
    return Args(tuple(positional), tuple(keywords), more, more_keywords)


def _is_sum(callee: Value) -> bool:
    return callee == {Const(sum)}


def _are_definitely_integers(run: Run, value: Value) -> bool:
    elements = join(held_by(run, thing) for thing in value)
    return all(isinstance(thing, Atom) and thing.type in (int, bool) for thing in elements)


def _is_definitely_empty(run: Run, value: Value) -> bool:
    return bool(value) and all(elements_of(run, thing).most == 0 for thing in value)


def _yield(run: Run, frame: Frame, node: ast.Yield) -> Value:
    value = run.evaluate(frame, node.value) if node.value is not None else atom(type(None))
    frame.yielded |= value
    return atom(type(None))


def _yield_from(run: Run, frame: Frame, node: ast.YieldFrom) -> Value:
    value = run.evaluate(frame, node.value)
    frame.yielded |= drain(run, frame, value, node.value)
    count = join_counts(run, value)
    run.counts[node] = run.counts[node] | count if node in run.counts else count
    returned: Value = NOTHING
    for thing in value:
        if isinstance(thing, Obj):
            returned |= run.heap.attribute(thing.site, "<returned>")
    return returned | atom(type(None))


def join_counts(run: Run, value: Value) -> Count:
    counts = [elements_of(run, thing) for thing in value]
    if not counts:
        return ANY
    result = counts[0]
    for count in counts[1:]:
        result |= count
    return result


def _await(run: Run, frame: Frame, node: ast.Await) -> Value:
    run.evaluate(frame, node.value)
    return run.unknown(frame, node, "waits asynchronously")


def _named(run: Run, frame: Frame, node: ast.NamedExpr) -> Value:
    value = run.evaluate(frame, node.value)
    # Where this is evaluated on some paths only, the variable may also keep what it had.
    before = (frame.variables or {}).get(node.target.id, NOTHING) if frame.weak else NOTHING
    store_name(run, frame, node.target.id, value | before, node)
    return value


_HANDLERS: dict[type[ast.AST], Callable[[Run, Frame, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _text,
    ast.FormattedValue: _formatted,
    ast.Tuple: _tuple,
    ast.List: _display,
    ast.Set: _display,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Lambda: function_value,
    ast.Call: _call,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Await: _await,
    ast.NamedExpr: _named,
}
