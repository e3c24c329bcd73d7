"""Calls of methods of builtin and library types: by the lists, or by a rule of their own."""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Callable
from datetime import datetime
from string import Template
from typing import Any

from anabranch.analysis import logging_calls
from anabranch.analysis.builtin_objects import is_plain_tuple
from anabranch.analysis.generators import send
from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.lifting import is_array, is_named_tuple_class, members
from anabranch.analysis.locales import depends_on_locale
from anabranch.analysis.lookup import static
from anabranch.analysis.making import call_pure, look_at, made, without_classes
from anabranch.analysis.methods import DictItems, denied, is_changing, is_definitely_pure, result_of
from anabranch.analysis.protocols import call_back, class_of, touch, touch_keys, turn_into_text
from anabranch.analysis.purity import CsvWriter, Pure, RandomGenerator, effect_of, hint_for
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.state import held_by, may_be_said, mind_the_order, shown
from anabranch.analysis.values import (
    NONE,
    NOTHING,
    PLAIN_ATOM,
    STR,
    UNKNOWN,
    Atom,
    AwareDatetime,
    Const,
    Obj,
    Plain,
    Stream,
    Thing,
    Tup,
    Unknown,
    Value,
    atom,
    join,
    one,
    without_sources,
)
from anabranch.analysis.words import words

Rule = Callable[[Run, Frame, Thing, Args, ast.AST], Value]

_ZONE_HINT = "use UTC explicitly: datetime.fromtimestamp(x, tz=UTC), value.replace(tzinfo=UTC)"
_SET_METHODS = words(
    """union intersection difference symmetric_difference issubset issuperset isdisjoint update intersection_update
    difference_update symmetric_difference_update"""
)
_REMOVING = frozenset({"pop", "popleft", "popitem", "setdefault", "send", "__next__"})
_COPYING = words("copy union intersection difference symmetric_difference")
_GIVING_NOTHING = words("append extend add clear remove insert reverse update")
_TAKING_DTYPES = words("astype cumprod cumsum mean prod std sum var view")  # of arrays
_TEXT_METHODS = frozenset({"format", "format_map", "substitute", "safe_substitute"})


def call_method(run: Run, frame: Frame, receiver: Thing, name: str, owner: type, args: Args, node: ast.AST) -> Value:
    """`owner` is the type whose method it is, `Plain` where the receiver's type is not known exactly."""
    if isinstance(receiver, Unknown):
        return UNKNOWN
    if isinstance(receiver, Atom) and receiver.type is type(None):
        return NOTHING
    if isinstance(receiver, Obj | Atom) and owner is not Plain and is_own_class(owner):
        # `str.lower` on what is not known to be a string may be an error, but never another method.
        owner = receiver.type if receiver.type is not Plain and issubclass(receiver.type, owner) else owner
    rule = _rule(receiver, name, owner)
    if rule is not None:
        return rule(run, frame, receiver, args, node)
    return _by_the_lists(run, frame, receiver, name, owner, args, node)


def _rule(receiver: Thing, name: str, owner: type) -> Rule | None:
    if logging_calls.rule_of(receiver, name):
        return logging_calls.log
    if isinstance(receiver, Tup) and is_named_tuple_class(receiver.type):
        return _TUPLE_RULES.get(name)
    if isinstance(receiver, Const) and isinstance(receiver.object, type):
        if is_named_tuple_class(receiver.object) and name == "_make":
            return _make_tuple
        if receiver.object is datetime and name == "fromtimestamp":
            return _from_timestamp
        if name == "from_iterable":
            return _chain
    if name in ("__init__", "__setattr__", "__delattr__", "__init_subclass__", "__enter__", "__exit__"):
        return _OBJECT_RULES.get(name)
    if owner is types.GeneratorType and name == "send":
        return send
    if issubclass(owner, datetime) and name in _TIME_RULES:
        return _TIME_RULES[name]
    if name == "join" and (owner is Plain or issubclass(owner, str | bytes)):
        return _join
    if issubclass(owner, dict | types.MappingProxyType) and name in _MAPPING_RULES:
        return _MAPPING_RULES[name]
    return None


def _by_the_lists(run: Run, frame: Frame, receiver: Thing, name: str, owner: type, args: Args, node: ast.AST) -> Value:
    given = join(args.all)
    may_be_said(run, given)
    reason = denied(owner, name) or depends_on_locale(name, frame.home.namespace)
    if reason is not None:
        return run.unknown(frame, node, f"calls {shown(node)}, which {reason}", hint_for(reason))
    if is_changing(owner, name):
        return _change(run, frame, receiver, name, owner, args, node)
    if not is_definitely_pure(owner, name):
        ufunc = getattr(receiver, "object", None)
        if type(ufunc).__name__ == "ufunc" and name in ("reduce", "accumulate", "outer"):
            return call_pure(run, frame, ufunc if name == "outer" else None, Pure(), args, node)
        effect = effect_of(owner) if isinstance(receiver, Const) else None
        if effect is not None:
            return run.unknown(frame, node, f"calls {shown(node)}, which {effect}", hint_for(effect))
        of = owner.__name__ if owner is not Plain else "an object"
        return run.unknown(frame, node, f"calls {shown(node)}: `{name}` of {of} is not known to be free of effects")
    if not isinstance(receiver, Atom):
        touch(run, frame, one(receiver), node)
    any_order = name in _SET_METHODS
    look_at(run, frame, given, node, any_order)
    if name in _TEXT_METHODS or issubclass(owner, Template):
        turn_into_text(run, frame, given, node)
        if name in ("format", "format_map") and any(
            class_of(t) and not is_plain_tuple(t) for t in run.heap.reachable(given)
        ):
            run.share(frame, node, f"calls {shown(node)}, which may read any attribute of an object", "use an f-string")
    held = held_by(run, receiver)
    called = call_back(run, frame, given, held | given | PLAIN_ATOM, node)
    if isinstance(receiver, Obj | Const) and name in _COPYING:
        kind = receiver.type if isinstance(receiver, Obj) else type(receiver.object)
        if kind is not Plain and not is_array(getattr(receiver, "object", None)):
            inner = join(held_by(run, thing) for thing in given)
            return run.make(kind, (node, kind), held | inner)
    if isinstance(receiver, Obj | Tup) or (isinstance(receiver, Const) and not isinstance(receiver.object, type)):
        spec = result_of(owner, name) or Pure(holds=True, may_return=True)
        if spec.makes is Plain or spec.holds:
            # A view on the receiver is possible only where its type is not known, as of arrays.
            itself = one(receiver) if owner is Plain else NOTHING
            if owner is Plain and name in _TAKING_DTYPES:
                given = without_classes(given)
            return made(run, Pure(holds=True, may_return=True), itself | held | given | called, node)
        return made(run, spec, held | given, node)
    known = result_of(owner, name)
    return made(run, known if known is not None else Pure(), given, node)


def _change(run: Run, frame: Frame, receiver: Thing, name: str, owner: type, args: Args, node: ast.AST) -> Value:
    """A method that changes its receiver."""
    given = join(args.all)
    what = shown(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    held = held_by(run, receiver)
    if name == "pop" and owner is not Plain and issubclass(owner, set) and isinstance(receiver, Obj | Const):
        mind_the_order(run, frame, receiver, node)
    run.change(frame, one(receiver), node, what)
    if isinstance(receiver, Obj) and issubclass(owner, collections.defaultdict):
        held |= run.call(frame, run.heap.attribute(receiver.site, "default_factory"), Args(), node)
    inside = frozenset(t for t in held if class_of(t) is not None)  # compared, or hashed
    touch(run, frame, frozenset(t for t in given | inside if not isinstance(t, Atom)), node)
    run.read(frame, given, node)
    if name in _SET_METHODS or name.startswith("extend") or name in ("update", "subtract", "writelines"):
        look_at(run, frame, given, node, any_order=issubclass(owner, set))
    call_back(run, frame, given, held | given, node)
    if owner is RandomGenerator:
        return _draw(run, frame, name, given, node)
    if owner is CsvWriter:
        run.change(frame, held, node)  # what it writes to
    inner = join(held_by(run, thing) for thing in given)
    if isinstance(receiver, Obj):
        deeper = join(held_by(run, thing) for thing in inner) if name == "update" else NOTHING
        named = join(value for _, value in args.keywords)
        # Which of its own elements a method moves does not matter; what comes in does.
        taken_apart = NOTHING if name in ("append", "add", "appendleft") else inner
        run.heap.put(receiver.site, given | named | taken_apart | deeper)
    if name in _REMOVING or owner is Plain:
        return held | given | (PLAIN_ATOM if owner is Plain else NOTHING) | NONE
    if name == "sort" and owner is not Plain:
        return NONE
    if name.startswith("read"):
        return PLAIN_ATOM
    return NONE if name in _GIVING_NOTHING else held | NONE | PLAIN_ATOM


def _draw(run: Run, frame: Frame, name: str, given: Value, node: ast.AST) -> Value:
    """A random number, or elements of what was given."""
    if name == "shuffle":
        run.change(frame, given, node)
        return NONE
    look_at(run, frame, given, node)
    elements = without_sources(join(held_by(run, thing) for thing in given))
    return PLAIN_ATOM | elements | run.make(Plain, (node, "drawn"), elements | PLAIN_ATOM)


# NamedTuples ----------------------------------------------------------------------------------------------------


def _replace(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    assert isinstance(receiver, Tup)
    names: tuple[str, ...] = receiver.type._fields  # type: ignore[attr-defined]  # a NamedTuple
    if args.more_keywords is not None:
        items = tuple(without_sources(item) | args.more_keywords for item in receiver.items)
        return one(Tup(receiver.type, items))
    given = dict(args.keywords)
    return one(Tup(receiver.type, tuple(given.get(n, i) for n, i in zip(names, receiver.items, strict=False))))


def _as_dict(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    return run.make(dict, (node, "dict"), STR | held_by(run, receiver))


def _index_or_count(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    touch(run, frame, join(args.all), node)
    return atom(int)


def _make_tuple(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    cls: Any = receiver.object if isinstance(receiver, Const) else getattr(receiver, "type", tuple)
    given = args.positional[0] if args.positional else (args.more or NOTHING)
    elements = run.iterate(frame, given, node)
    result: Value = NOTHING
    for thing in given:
        if isinstance(thing, Tup):
            result |= one(Tup(cls, thing.items))
        else:
            result |= one(Tup(cls, tuple(without_sources(elements) for _ in cls._fields)))
    return result


_TUPLE_RULES: dict[str, Rule] = {
    "_replace": _replace,
    "_asdict": _as_dict,
    "_make": _make_tuple,
    "index": _index_or_count,
    "count": _index_or_count,
}


# Time -----------------------------------------------------------------------------------------------------------


def _from_timestamp(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    look_at(run, frame, join(args.all), node)
    zone = args.positional[1] if len(args.positional) > 1 else args.keyword("tz") or NONE
    if zone & NONE:
        run.share(frame, node, f"calls {shown(node)}, which uses the time zone of the machine", _ZONE_HINT)
    return atom(AwareDatetime)


def _timestamp(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    if not (isinstance(receiver, Atom) and receiver.type is AwareDatetime):
        run.share(frame, node, f"calls {shown(node)}, which may use the time zone of the machine", _ZONE_HINT)
    return atom(float)


def _to_zone(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    look_at(run, frame, join(args.all), node)
    is_aware = isinstance(receiver, Atom) and receiver.type is AwareDatetime
    zone = args.positional[0] if args.positional else args.keyword("tz") or NONE
    if not is_aware or zone & NONE:
        run.share(frame, node, f"calls {shown(node)}, which may use the time zone of the machine", _ZONE_HINT)
    return atom(AwareDatetime)


def _replace_time(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    look_at(run, frame, join(args.all), node)
    zone = args.keyword("tzinfo")
    if zone is not None:
        return atom(datetime if zone & NONE else AwareDatetime)
    return atom(receiver.type) if isinstance(receiver, Atom) else atom(datetime)


_TIME_RULES: dict[str, Rule] = {"timestamp": _timestamp, "astimezone": _to_zone, "replace": _replace_time}


# Text and mappings ----------------------------------------------------------------------------------------------


def _join(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    run.iterate(frame, join(args.all), node)
    return atom(bytes) if isinstance(receiver, Atom) and receiver.type is bytes else STR


def _items(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    run.read(frame, one(receiver), node)
    keys, values = _keys_and_values(run, receiver)
    return run.make(DictItems, (node, "items"), one(Tup(tuple, (keys, values))))


def _keys_and_values(run: Run, receiver: Thing) -> tuple[Value, Value]:
    if isinstance(receiver, Const):
        return members(receiver, values=False), members(receiver, keys=False)
    held = held_by(run, receiver)
    return held, held


def _keys(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    run.read(frame, one(receiver), node)
    return run.make(type({}.keys()), (node, "keys"), _keys_and_values(run, receiver)[0])


def _values(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    run.read(frame, one(receiver), node)
    return run.make(type({}.values()), (node, "values"), _keys_and_values(run, receiver)[1])


def _get(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    run.read(frame, one(receiver), node)
    touch_keys(run, frame, one(receiver), join(args.positional[:1]), node)
    default = join(args.positional[1:]) if len(args.positional) > 1 else NONE
    return _keys_and_values(run, receiver)[1] | default


def _from_keys(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    keys = run.iterate(frame, args.positional[0] if args.positional else NOTHING, node)
    touch(run, frame, frozenset(t for t in keys if not isinstance(t, Atom)), node)
    return run.make(dict, (node, "dict"), keys | join(args.positional[1:]) | NONE)


_MAPPING_RULES: dict[str, Rule] = {
    "items": _items,
    "keys": _keys,
    "values": _values,
    "get": _get,
    "fromkeys": _from_keys,
}


# Objects --------------------------------------------------------------------------------------------------------


def _initialise(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    """`super().__init__(…)` that ends at a builtin type."""
    if isinstance(receiver, Obj):
        inner = run.iterate(frame, frozenset(t for t in join(args.all) if not isinstance(t, Atom)), node)
        if issubclass(receiver.type, (dict, list, set, collections.deque, BaseException)):
            run.change(frame, one(receiver), node)
            run.heap.put(receiver.site, inner | join(args.all))
        return NONE
    return NONE if isinstance(receiver, Tup | Atom) else _unfollowed(run, frame, receiver, args, node)


def _set_attribute(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    """`object.__setattr__(self, "x", value)`, as frozen classes use it, and `super().__setattr__`."""
    names = [a.value for a in getattr(node, "args", []) if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if len(names) != 1 or not isinstance(receiver, Obj) or static(receiver.type, names[0])[1] is property:
        return run.unknown(frame, node, f"calls {shown(node)}, through which any attribute can be changed")
    run.change(frame, one(receiver), node, f"`{names[0]}`")
    run.heap.put_attribute(receiver.site, names[0], join(args.positional[-1:]))
    return NONE


def _nothing(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    return NONE


def _unfollowed(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    return run.unknown(frame, node, f"calls {shown(node)}, which cannot be followed")


_OBJECT_RULES: dict[str, Rule] = {
    "__init__": _initialise,
    "__setattr__": _set_attribute,
    "__delattr__": _unfollowed,
    "__init_subclass__": _nothing,
    "__enter__": _unfollowed,
    "__exit__": _unfollowed,
}


def _chain(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    """itertools.chain.from_iterable"""
    inner = run.iterate(frame, join(args.all), node)
    return run.make(Stream, (node, "chain"), run.iterate(frame, inner, node))
