"""Tuples, lists, sets and dicts written out, and comprehensions."""

from __future__ import annotations

import ast

from anabranch.analysis import arithmetic
from anabranch.analysis.any_order import mind_traces
from anabranch.analysis.counts import ANY, AT_MOST_ONE, Count, exactly
from anabranch.analysis.methods import ANY_CHANGING
from anabranch.analysis.names import bind_target
from anabranch.analysis.protocols import touch
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.set_orders import is_kept_by_compiled_code
from anabranch.analysis.state import spread
from anabranch.analysis.values import (
    NOTHING,
    PLAIN_ATOM,
    Atom,
    Obj,
    Stream,
    Tup,
    Value,
    join,
    one,
    without_sources,
)

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def evaluate_tuple(run: Run, frame: Frame, node: ast.Tuple) -> Value:
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


def evaluate_display(run: Run, frame: Frame, node: ast.List | ast.Set) -> Value:
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
        if isinstance(node, ast.Set) and not is_kept_by_compiled_code(node):
            held |= PLAIN_ATOM
    return _counted(run, run.make(kind, node, held), exactly(len(node.elts)) if is_known else ANY)


def _counted(run: Run, value: Value, count: Count) -> Value:
    for thing in value:
        if isinstance(thing, Obj):
            run.heap.set_count(thing.site, count)
    return value


def evaluate_dict(run: Run, frame: Frame, node: ast.Dict) -> Value:
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


def evaluate_comprehension(run: Run, frame: Frame, node: Comprehension) -> Value:
    any_order = (frame.in_any_order or isinstance(node, ast.SetComp)) and not _has_effects(node)
    lost = frame.orders_lost
    value, is_lost = _evaluate(run, frame, node, any_order)
    if is_lost:
        mind_traces(run, frame, node, lambda: _evaluate(run, frame, node, any_order))
    if isinstance(node, ast.SetComp):
        frame.orders_lost = lost  # it has none to begin with
    return value


def _evaluate(run: Run, frame: Frame, node: Comprehension, any_order: bool) -> tuple[Value, bool]:
    """What it gives, and whether its elements come from a set of which the order was taken to make no difference."""
    outer = dict(frame.targets)
    before = frame.in_any_order
    is_lost = False
    frame.weak += 1
    frame.lazy += isinstance(node, ast.GeneratorExp)
    for position, generator in enumerate(node.generators):
        if generator.is_async:
            run.share(frame, node, "iterates asynchronously")
        frame.lazy -= isinstance(node, ast.GeneratorExp) and position == 0  # the first one is evaluated at once
        lost, frame.in_any_order = frame.orders_lost, any_order
        source = run.evaluate(frame, generator.iter)
        frame.lazy += isinstance(node, ast.GeneratorExp) and position == 0
        elements = run.iterate(frame, source, generator.iter)
        is_lost = is_lost or frame.orders_lost > lost
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
    frame.lazy -= isinstance(node, ast.GeneratorExp)
    frame.weak -= 1
    frame.in_any_order = before
    frame.targets = outer
    return _counted(run, run.make(kind, node, held), _comprehension_count(run, node)), is_lost


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
