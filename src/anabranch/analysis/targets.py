"""Assignment targets and patterns: which part of a value goes where."""

from __future__ import annotations

import ast

from anabranch.analysis import subscripts
from anabranch.analysis.displays import unpacked
from anabranch.analysis.instance_checks import ask_for_instances
from anabranch.analysis.lookup import static
from anabranch.analysis.names import store_name
from anabranch.analysis.protocols import class_of, touch
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.state import held_by
from anabranch.analysis.values import NOTHING, Atom, Const, Obj, Tup, Value, join, without_sources


def assign(run: Run, frame: Frame, target: ast.AST, value: Value) -> None:
    match target:
        case ast.Name(id=name):
            store_name(run, frame, name, value, target)
        case ast.Attribute(value=owner, attr=name):
            run.store(frame, run.evaluate(frame, owner), frame.home.mangled(name), value, target)
        case ast.Subscript(value=owner, slice=index):
            container = run.evaluate(frame, owner)
            subscripts.store(run, frame, container, run.evaluate(frame, index), value, target)
        case ast.Starred(value=inner):
            assign(run, frame, inner, run.make(list, target, value))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(run, frame, parts, value, target)
        case _:
            run.share(frame, target, f"assigns to {type(target).__name__}, which cannot be followed")


def _unpack(run: Run, frame: Frame, parts: list[ast.expr], value: Value, node: ast.AST) -> None:
    starred = [position for position, part in enumerate(parts) if isinstance(part, ast.Starred)]
    if not starred:
        for position, part in enumerate(parts):
            assign(run, frame, part, unpacked(run, frame, value, position, len(parts), node))
        return
    elements = run.iterate(frame, value, node)
    after = len(parts) - starred[0] - 1
    for position, part in enumerate(parts):
        if all(isinstance(thing, Tup) and len(thing.items) >= len(parts) - 1 for thing in value) and value:
            assign(run, frame, part, join(_at(thing, position, starred[0], after) for thing in value))
        else:
            assign(run, frame, part, without_sources(elements))


def _at(thing: object, position: int, starred: int, after: int) -> Value:
    assert isinstance(thing, Tup)
    if position < starred:
        return thing.items[position]
    if position == starred:
        return join(thing.items[starred : len(thing.items) - after])
    return thing.items[len(thing.items) - after + position - starred - 1]


def delete(run: Run, frame: Frame, target: ast.AST) -> None:
    match target:
        case ast.Name(id=name):
            if name in frame.scope.own:
                if frame.variables is not None:
                    frame.variables.pop(name, None)
            else:
                store_name(run, frame, name, NOTHING, target)
        case ast.Attribute(value=owner, attr=name):
            run.store(frame, run.evaluate(frame, owner), frame.home.mangled(name), NOTHING, target)
        case ast.Subscript(value=owner, slice=index):
            subscripts.delete(run, frame, run.evaluate(frame, owner), run.evaluate(frame, index), target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                delete(run, frame, part)
        case _:
            run.share(frame, target, "deletes what cannot be followed")


def match_pattern(run: Run, frame: Frame, pattern: ast.pattern, subject: Value) -> None:
    """Bind the names of a pattern, as if it matched."""
    match pattern:
        case ast.MatchValue(value=value):
            compared = subject | run.evaluate(frame, value)
            touch(run, frame, frozenset(t for t in compared if not isinstance(t, Atom)), pattern, compared)
        case ast.MatchSingleton():
            pass
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                match_pattern(run, frame, inner, subject)
            if name is not None:
                _bind(run, frame, name, subject, pattern)
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                match_pattern(run, frame, each, subject)
        case ast.MatchSequence(patterns=patterns):
            _match_sequence(run, frame, patterns, subject, pattern)
        case ast.MatchStar(name=name):
            if name is not None:
                _bind(run, frame, name, run.make(list, pattern, subject), pattern)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            run.read(frame, subject, pattern)
            searched = join(run.evaluate(frame, key) for key in keys)
            given = touch(run, frame, subject | searched, pattern, subject | searched)
            held = without_sources(join(held_by(run, thing) for thing in subject) | given)
            for each in patterns:
                match_pattern(run, frame, each, held)
            if rest is not None:
                _bind(run, frame, rest, run.make(dict, pattern, held), pattern)
        case ast.MatchClass():
            _match_class(run, frame, pattern, subject)
        case _:
            run.share(frame, pattern, "matches a pattern that cannot be followed")


def _bind(run: Run, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
    # Another pattern of the same statement may have bound the name before it failed.
    before = (frame.variables or {}).get(name, NOTHING)
    store_name(run, frame, name, value | before, node)


def _match_sequence(run: Run, frame: Frame, patterns: list[ast.pattern], subject: Value, node: ast.AST) -> None:
    has_star = any(isinstance(pattern, ast.MatchStar) for pattern in patterns)
    sequences = frozenset(t for t in subject if not isinstance(t, Atom))
    elements = run.iterate(frame, sequences, node)
    elements |= touch(run, frame, frozenset(t for t in sequences if class_of(t) is not None), node)
    for position, pattern in enumerate(patterns):
        at = without_sources(elements)
        if not has_star and subject and all(isinstance(t, Tup) for t in subject):
            at = unpacked(run, frame, subject, position, len(patterns), node)
        match_pattern(run, frame, pattern, at)


def _match_class(run: Run, frame: Frame, pattern: ast.MatchClass, subject: Value) -> None:
    classes = run.evaluate(frame, pattern.cls)
    ask_for_instances(run, frame, subject, classes, pattern)
    names: tuple[str, ...] = ()
    kinds: list[type] = []
    for thing in classes:
        if isinstance(thing, Const) and isinstance(thing.object, type):
            kinds.append(thing.object)
            found = static(thing.object, "__match_args__")[1]
            names = found if isinstance(found, tuple) else ()
        else:
            run.share(frame, pattern, f"matches {ast.unparse(pattern.cls)}, which cannot be followed")
    matching = frozenset(thing for thing in subject if _may_be(thing, kinds))
    for position, inner in enumerate(pattern.patterns):
        if position < len(names):
            match_pattern(run, frame, inner, run.load(frame, matching, names[position], pattern))
        else:
            match_pattern(run, frame, inner, matching)  # int(x): the value itself
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        match_pattern(run, frame, inner, run.load(frame, matching, name, pattern))


def _may_be(thing: object, kinds: list[type]) -> bool:
    match thing:
        case Tup(type=kind) | Obj(type=kind) | Atom(type=kind):
            known = kind.__module__ != "anabranch.analysis.values"
            # Other classes than plain ones may count any class as derived from them.
            return not known or any(
                type(other) is not type or other in kind.__mro__ or kind in other.__mro__ for other in kinds
            )
        case _:
            return True
