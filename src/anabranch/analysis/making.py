"""What a pure call gives: new atoms, new containers, or something its arguments held."""

from __future__ import annotations

import ast

from anabranch.analysis.array_arguments import may_leave_unset, may_write_to_arguments
from anabranch.analysis.decimals import mind_decimals
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.protocols import call_back, class_of, touch, turn_into_text
from anabranch.analysis.purity import Pure, is_numpy_ufunc
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.state import iterate_if_possible, may_be_said, shown
from anabranch.analysis.values import (
    NONE,
    NOTHING,
    PLAIN_ATOM,
    Atom,
    Const,
    Plain,
    Value,
    atom,
    join,
    one,
    without_sources,
)


def call_pure(run: Run, frame: Frame, function: object, spec: Pure, args: Args, node: ast.AST) -> Value:
    """A call of a function that is known to be pure."""
    given = join(args.all)
    _change_arguments(run, frame, function, spec, args, node)
    mind_decimals(run, frame, given, node)
    if function is ast.literal_eval:
        may_be_said(run, run.make(ast.AST, (node, "malformed")))
    touched = look_at(run, frame, given, node, spec.any_order)
    if spec.is_text:
        turn_into_text(run, frame, given, node)
    is_asking = function is isinstance or function is issubclass  # which does not call the classes it is given
    reached = NOTHING if is_asking else run.heap.reachable(given) | PLAIN_ATOM
    called = NOTHING if is_asking else call_back(run, frame, given, reached, node)
    touched |= touch(run, frame, frozenset(t for t in called if class_of(t) is not None), node, given | called)
    if str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
        given = without_classes(given)
    return made(run, spec, given | called, node) | touched


def without_classes(given: Value) -> Value:
    """What an array may be a view on: `dtype=float` is not."""
    return frozenset(t for t in given if not (isinstance(t, Const) and isinstance(t.object, type)))


def look_at(run: Run, frame: Frame, given: Value, node: ast.AST, any_order: bool = False) -> Value:
    """The arguments are read, and iterated if they can be; what their special methods give."""
    looked = frozenset(thing for thing in given if not isinstance(thing, Atom))
    if not looked:
        return NOTHING
    touched = touch(run, frame, looked, node)
    before, frame.in_any_order = frame.in_any_order, frame.in_any_order or any_order
    iterate_if_possible(run, frame, looked, node)
    frame.in_any_order = before
    return touched


def _change_arguments(run: Run, frame: Frame, function: object, spec: Pure, args: Args, node: ast.AST) -> None:
    changed: Value = NOTHING
    if spec.changes is not None:
        changed |= args.positional[spec.changes] if len(args.positional) > spec.changes else join(args.all)
    out = args.keyword("out")
    if out is not None:
        changed |= out
    if is_numpy_ufunc(function):
        changed |= join(args.positional[function.nin :])  # type: ignore[attr-defined]  # every ufunc has it
    elif may_write_to_arguments(function, len(args.positional), [name for name, _ in args.keywords if name != "out"]):
        changed |= join(args.all)
    names = [*(name for name, _ in args.keywords), *([None] if args.more_keywords is not None else [])]
    if may_leave_unset(function, len(args.positional) + 9 * (args.more is not None), names, node):
        run.share(frame, node, f"calls {shown(node)}, which may leave parts of its result unset")
    changed -= NONE
    if changed:
        run.change(frame, changed, node)
        held = run.heap.reachable(join(args.all))
        for thing in changed:
            site = getattr(thing, "site", None)
            if site is not None:
                run.heap.put(site, without_sources(held))


def made(run: Run, spec: Pure, given: Value, node: ast.AST) -> Value:
    """The result of a pure call that was given these values."""
    result: Value = NONE if spec.or_none else NOTHING
    held: Value = NOTHING
    if spec.of is not None:
        held |= atom(spec.of)
    reached = without_sources(run.heap.reachable(given)) if spec.holds or spec.may_return else NOTHING
    if spec.holds:
        held |= reached
        if any(not isinstance(thing, Atom) for thing in reached) or spec.makes not in ATOM_TYPES:
            held |= run.make(tuple, (node, "inner"), reached | PLAIN_ATOM)
    if spec.may_return:
        result |= reached
    if spec.makes in ATOM_TYPES:
        return result | atom(spec.makes)
    if spec.makes is Plain:
        return result | fresh_data(run, (node, "made"), held)
    return result | run.make(spec.makes, (node, "made"), held or PLAIN_ATOM)


def fresh_data(run: Run, label: object, held: Value = NOTHING) -> Value:
    """New data of unknown shape, which may hold more of its kind."""
    made_ = run.make(Plain, label, PLAIN_ATOM | held)
    for thing in made_:
        site = getattr(thing, "site", None)
        if site is not None:
            run.heap.bind(site, one(thing))
    return made_
