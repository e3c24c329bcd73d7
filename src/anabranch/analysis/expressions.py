"""Expressions: the things each may evaluate to, and what evaluating it does."""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any

from anabranch.analysis import arithmetic, subscripts
from anabranch.analysis.any_order import mind_traces
from anabranch.analysis.counts import ANY, Count
from anabranch.analysis.displays import (
    Comprehension,
    evaluate_comprehension,
    evaluate_dict,
    evaluate_display,
    evaluate_tuple,
)
from anabranch.analysis.generators import received
from anabranch.analysis.names import load_name, store_name
from anabranch.analysis.protocols import class_of, touch, turn_into_text
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.selectivity import elements_of
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import drain, held_by, spread
from anabranch.analysis.values import (
    NOTHING,
    STR,
    Atom,
    Bound,
    Const,
    Fun,
    Obj,
    Place,
    Site,
    Tup,
    Value,
    atom,
    join,
    one,
    without_sources,
)


def evaluate(run: Run, frame: Frame, node: ast.expr) -> Value:
    run.step(frame)
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
    if node.format_spec is not None:
        run.evaluate(frame, node.format_spec)
    return STR


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


def _evaluates_annotations(frame: Frame) -> bool:
    """Whether `def` evaluates the annotations of what it defines: up to Python 3.13, unless the file says otherwise."""
    is_postponed = frame.home.function.__code__.co_flags & __future__.annotations.compiler_flag
    return sys.version_info < (3, 14) and not is_postponed


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
    if not isinstance(node, ast.Lambda) and _evaluates_annotations(frame):
        every = [*positional, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for annotation in [*(a.annotation for a in every if a is not None), node.returns]:
            if annotation is not None:
                run.evaluate(frame, annotation)
    return one(Fun(node, frame.home, (*frame.chain, frame.node)))


def _call(run: Run, frame: Frame, node: ast.Call) -> Value:
    before, frame.in_any_order = frame.in_any_order, False
    callee = run.evaluate(frame, node.func)
    frame.in_any_order = before
    if not callee:
        if isinstance(node.func, ast.Attribute) and run.evaluate(frame, node.func.value):
            return NOTHING  # none of the objects has this attribute, so this is an error
        return run.unknown(frame, node, f"calls {ast.unparse(node.func)[:48]}, which is not known")
    return _call_in_order(run, frame, callee, node)


def _call_in_order(run: Run, frame: Frame, callee: Value, node: ast.Call) -> Value:
    """Only a few calls pass on the elements of a set to what ignores their order: none that numbers or pairs them."""
    before, lost = frame.in_any_order, frame.orders_lost
    args = arguments(run, frame, node, callee)
    is_end = run.ignores_order(callee, node, False)
    frame.in_any_order = before and not is_end and run.ignores_order(callee, node, True)
    result = run.call(frame, callee, args, node)
    if frame.in_any_order and frame.orders_lost > lost:
        mind_traces(run, frame, node, lambda: run.call(frame, callee, args, node))
    if is_end:
        frame.orders_lost = lost
    frame.in_any_order = before
    return result


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
    return received(run, frame)


def _yield_from(run: Run, frame: Frame, node: ast.YieldFrom) -> Value:
    value = run.evaluate(frame, node.value)
    frame.yielded |= drain(run, frame, value, node.value)
    count = join_counts(run, value)
    run.counts[node] = run.counts[node] | count if node in run.counts else count
    returned: Value = NOTHING
    for cls in _iterators_of_the_user(run, frame, value, node):
        # It also gets what the generator is sent, and is closed with it; what it ends with may be any object.
        return run.unknown(frame, node, f"hands over to a `{cls.__name__}`, which cannot be followed", "use a loop")
    for thing in value:
        if isinstance(thing, Obj):
            returned |= run.heap.attribute(thing.site, "<returned>")
    return returned | atom(type(None))


def _iterators_of_the_user(run: Run, frame: Frame, value: Value, node: ast.AST) -> Iterator[type]:
    for thing in value:
        cls = class_of(thing)
        method = user_method(cls, "__iter__") if cls is not None else None
        made = run.call(frame, one(Bound(Const(method), thing)), Args(), node) if method is not None else one(thing)
        for each in made:
            found = class_of(each)
            if found is not None and user_method(found, "__next__") is not None:
                yield found


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
    ast.Tuple: evaluate_tuple,
    ast.List: evaluate_display,
    ast.Set: evaluate_display,
    ast.Dict: evaluate_dict,
    ast.ListComp: evaluate_comprehension,
    ast.SetComp: evaluate_comprehension,
    ast.DictComp: evaluate_comprehension,
    ast.GeneratorExp: evaluate_comprehension,
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
