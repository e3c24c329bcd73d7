"""Builtin containers and iterators: what they hold, how many, and whether their order matters."""

from __future__ import annotations

import ast
import collections

from anabranch.analysis import arithmetic
from anabranch.analysis.counts import ANY, Count
from anabranch.analysis.making import made
from anabranch.analysis.protocols import class_of, special, touch
from anabranch.analysis.purity import Pure
from anabranch.analysis.run import Args, Frame, Handler, Run
from anabranch.analysis.selectivity import elements_of
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import held_by, shown, spread
from anabranch.analysis.values import (
    BOOL,
    INT,
    NONE,
    NOTHING,
    STR,
    UNKNOWN,
    Atom,
    Bound,
    Const,
    Obj,
    Stream,
    Tup,
    Unknown,
    Value,
    atom,
    join,
    one,
    without_sources,
)


def first(args: Args) -> Value:
    return args.positional[0] if args.positional else (args.more or NOTHING)


def _iterated(run: Run, frame: Frame, value: Value, node: ast.AST, any_order: bool = False) -> Value:
    before, frame.in_any_order = frame.in_any_order, frame.in_any_order or any_order
    elements = run.iterate(frame, value, node)
    frame.in_any_order = before
    return elements


def make_container(kind: type) -> Handler:
    def make(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
        is_set = issubclass(kind, set | frozenset)
        given = join(args.all)
        elements = _iterated(run, frame, given, node, any_order=is_set)
        if is_set:
            touch(run, frame, frozenset(t for t in elements if not isinstance(t, Atom)), node)
        if kind is tuple and len(given) == 1 and isinstance(thing := next(iter(given)), Tup):
            return one(Tup(tuple, thing.items))
        result = run.make(kind, node, elements)
        if not is_set:
            _copy_count(run, given, result)
        elif not args.all:
            _set_count(run, result, Count(0, 0))
        return result

    return make


def _copy_count(run: Run, given: Value, result: Value) -> None:
    counts = [elements_of(run, thing) for thing in given] or [Count(0, 0)]
    total = counts[0]
    for count in counts[1:]:
        total |= count
    _set_count(run, result, total)


def _set_count(run: Run, value: Value, count: Count) -> None:
    for thing in value:
        if isinstance(thing, Obj):
            run.heap.set_count(thing.site, count)


def make_dict(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    held: Value = join(value for _, value in args.keywords) | (args.more_keywords or NOTHING)
    if args.keywords:
        held |= STR
    for thing in first(args):
        if isinstance(thing, Tup | Atom):
            inner = run.iterate(frame, one(thing), node)
        else:
            run.iterate(frame, one(thing), node)
            inner = spread(run, frame, one(thing), node)
        held |= inner
        for pair in inner:
            if isinstance(pair, Tup) or (isinstance(pair, Obj) and issubclass(pair.type, tuple | list)):
                held |= held_by(run, pair)
    touch(run, frame, frozenset(t for t in held if not isinstance(t, Atom)), node)
    return run.make(dict, node, without_sources(held))


def call_enumerate(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    elements = run.iterate(frame, first(args), node)
    _touch_the_rest(run, frame, args, node)
    return stream(run, node, one(Tup(tuple, (INT, elements))), args.positional[:1])


def _touch_the_rest(run: Run, frame: Frame, args: Args, node: ast.AST) -> None:
    """What is given beside the elements: where to start, a sentinel, flags."""
    rest = join(args.positional[1:]) | join(value for _, value in args.keywords)
    touch(run, frame, frozenset(t for t in rest if class_of(t) is not None), node, join(args.all))


def call_zip(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if args.more is not None:
        return made(run, Pure(Stream, holds=True), join(args.all), node)
    columns = tuple(run.iterate(frame, value, node) for value in args.positional)
    _touch_the_rest(run, frame, Args((), args.keywords), node)
    return stream(run, node, one(Tup(tuple, columns)), ())


def call_map(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    columns = tuple(run.iterate(frame, value, node) for value in args.positional[1:])
    results = run.call(frame, first(args), Args(columns, more=args.more), node)
    return stream(run, node, results, args.positional[1:2] if len(args.positional) == 2 else ())


def call_filter(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    elements = run.iterate(frame, join(args.positional[1:]), node)
    test = first(args) - NONE
    if test:
        arithmetic.truth(run, frame, run.call(frame, test, Args((elements,)), node), node)
    if test != first(args):
        arithmetic.truth(run, frame, elements, node)
    return stream(run, node, elements, ())


def stream(run: Run, node: ast.AST, held: Value, counted_like: tuple[Value, ...]) -> Value:
    result = run.make(Stream, node, held)
    if counted_like:
        _copy_count(run, counted_like[0], result)
    else:
        _set_count(run, result, ANY)
    return result


def call_reversed(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    backwards: Value = NOTHING
    for thing in first(args):
        cls = class_of(thing)
        method = user_method(cls, "__reversed__") if cls is not None else None
        if method is not None:
            backwards |= run.call(frame, one(Bound(Const(method), thing)), Args(), node)
        getter = user_method(cls, "__getitem__") if cls is not None else None
        if getter is not None:
            backwards |= run.call(frame, one(Bound(Const(getter), thing)), Args((INT,)), node)
    elements = run.iterate(frame, first(args), node)
    if backwards:
        return backwards | stream(run, node, elements | run.iterate(frame, backwards, node), ())
    return stream(run, node, elements, args.positional[:1])


def call_iter(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if len(args.positional) == 2:
        given = run.call(frame, args.positional[0], Args(), node)
        compared = given | args.positional[1]
        touch(run, frame, frozenset(t for t in compared if class_of(t) is not None), node, compared)
        return stream(run, node, given, ())
    iterators = frozenset(t for t in first(args) if isinstance(t, Obj) and hasattr(t.type, "__next__"))
    rest = first(args) - iterators
    elements = run.iterate(frame, rest, node)
    return iterators | stream(run, node, elements, ())


def call_next(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    default = join(args.positional[1:])
    result: Value = default
    for thing in first(args):
        stepped = special(run, frame, thing, "next", Args(), node)
        if stepped is not None:
            result |= stepped
            continue
        run.change(frame, one(thing), node, shown(node))
        if isinstance(thing, Obj):
            result |= run.iterate(frame, one(thing), node)
        elif isinstance(thing, Const | Unknown):
            result |= UNKNOWN
    return result


def has_ambiguous_key(node: ast.AST) -> bool:
    """Whether `key=` may be equal for different elements, which then keep the order they came in."""
    if not isinstance(node, ast.Call):
        return True
    for keyword in node.keywords:
        match keyword:
            case ast.keyword(arg=None):
                return True
            case ast.keyword(arg="key", value=ast.Lambda(args=ast.arguments(args=[parameter]), body=body)):
                parts = body.elts if isinstance(body, ast.Tuple) else [body]
                return not any(isinstance(part, ast.Name) and part.id == parameter.arg for part in parts)
            case ast.keyword(arg="key", value=value):
                return not (isinstance(value, ast.Constant) and value.value is None)
    return False


def call_sorted(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    key = (args.keyword("key") or NOTHING) - NONE
    elements = _iterated(run, frame, first(args), node, any_order=not has_ambiguous_key(node))
    touch(run, frame, frozenset(t for t in elements if not isinstance(t, Atom)), node)
    if key:
        compared = run.call(frame, key, Args((elements,)), node)
        touch(run, frame, frozenset(t for t in compared if not isinstance(t, Atom)), node)
    _touch_the_rest(run, frame, Args((), tuple(k for k in args.keywords if k[0] != "key")), node)
    result = run.make(list, node, elements)
    _copy_count(run, first(args), result)
    return result


def call_min_or_max(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    key = (args.keyword("key") or NOTHING) - NONE
    default = args.keyword("default") or NOTHING
    if len(args.positional) > 1 or (args.positional and args.more):
        elements = join(args.positional) | (args.more or NOTHING)
    else:
        elements = _iterated(run, frame, first(args), node, any_order=not has_ambiguous_key(node))
    touch(run, frame, frozenset(t for t in elements if not isinstance(t, Atom)), node)
    if key:
        compared = run.call(frame, key, Args((elements,)), node)
        touch(run, frame, frozenset(t for t in compared if not isinstance(t, Atom)), node)
    return elements | default


def call_sum(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    held = join(held_by(run, thing) for thing in first(args))
    are_integers = all(isinstance(t, Atom) and t.type in (int, bool) for t in held)
    elements = _iterated(run, frame, first(args), node, any_order=are_integers)
    start = args.positional[1] if len(args.positional) > 1 else (args.keyword("start") or INT)
    numbers = {t.type for t in elements | start if isinstance(t, Atom)}
    if all(isinstance(t, Atom) for t in elements | start) and numbers <= {int, bool, float}:
        return without_sources(atom(float) | INT if float in numbers else INT)
    result = start
    for _ in range(2):
        result |= arithmetic.binary(run, frame, ast.Add(), result, elements, node)
    return without_sources(result)


def call_any_or_all(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    arithmetic.truth(run, frame, _iterated(run, frame, first(args), node, any_order=True), node)
    return BOOL


def call_len(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    for thing in first(args):
        if special(run, frame, thing, "len", Args(), node) is None:
            run.read(frame, one(thing), node)
    return INT


def make_defaultdict(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    result = run.make(collections.defaultdict, node)
    rest = Args(args.positional[1:], args.keywords, args.more, args.more_keywords)
    inner = join(held_by(run, t) for t in make_dict(run, frame, rest, node))
    for thing in result:
        if isinstance(thing, Obj):
            run.heap.put_attribute(thing.site, "default_factory", (first(args)) - NONE)
            run.heap.put(thing.site, inner)
    return result


def make_counter(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    held: Value = INT | join(value for _, value in args.keywords)
    for thing in first(args):
        run.read(frame, one(thing), node)
        held |= run.iterate(frame, one(thing), node)
        if not isinstance(thing, Tup | Atom):
            held |= held_by(run, thing)
    touch(run, frame, frozenset(t for t in held if not isinstance(t, Atom)), node)
    return run.make(collections.Counter, node, without_sources(held))


def make_ordered_dict(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    inner = join(held_by(run, thing) for thing in make_dict(run, frame, args, node))
    return run.make(collections.OrderedDict, (node, "ordered"), inner)
