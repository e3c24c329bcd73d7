"""Calls of classes: NamedTuples, enumerations, dataclasses, the user's other classes, and types of the library."""

from __future__ import annotations

import abc
import array
import ast
import collections
import contextlib
import dataclasses
import decimal
import enum
import io
import random
import string
import types
import typing
from datetime import datetime
from typing import Any

from anabranch.analysis import special_calls
from anabranch.analysis.decimals import mind_the_context
from anabranch.analysis.instance_checks import ask_for_instances
from anabranch.analysis.lifting import CONTAINERS, is_named_tuple_class, is_user_class, members
from anabranch.analysis.lookup import static
from anabranch.analysis.making import call_pure, look_at
from anabranch.analysis.methods import LIBRARY_VALUES
from anabranch.analysis.modules import is_library_file
from anabranch.analysis.origins import ClassAttribute
from anabranch.analysis.protocols import refuse_unknown_methods, touch, turn_into_text
from anabranch.analysis.purity import Pure, RandomGenerator, effect_of, spec_of
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import is_definitely_generated, user_method
from anabranch.analysis.state import held_by, may_be_said
from anabranch.analysis.values import (
    NONE,
    NOTHING,
    PLAIN_ATOM,
    Atom,
    AwareDatetime,
    Bound,
    Const,
    Obj,
    Site,
    Tup,
    Value,
    atom,
    join,
    one,
    without_sources,
)

_METACLASSES = (type, abc.ABCMeta, type(typing.Protocol))


class _Row(typing.TypedDict):
    """Any such class: a call of it makes a dict."""


_TYPED_DICT = type(_Row)
_MANAGERS = (contextlib.suppress, contextlib.nullcontext, contextlib.closing)
_BUFFERS = (
    array.array,
    io.StringIO,
    io.BytesIO,
    bytearray,
    types.SimpleNamespace,
    types.MappingProxyType,
    string.Template,
)


def construct(run: Run, frame: Frame, cls: type, args: Args, node: ast.AST, site: Site | None) -> Value:
    handler = special_calls.handler_of(cls)
    if handler is not None:
        special_calls.touch_arguments(run, frame, cls, args, node)
        return handler(run, frame, args, node)
    if not is_user_class(cls):
        if is_named_tuple_class(cls) and is_definitely_a_plain_tuple_class(cls):
            return _named_tuple(run, frame, cls, args, node)
        return _library_object(run, frame, cls, args, node)
    if type(cls) is _TYPED_DICT:
        return construct(run, frame, dict, args, node, site)
    refuse_unknown_methods(run, frame, cls, node)
    if is_named_tuple_class(cls) and is_definitely_a_plain_tuple_class(cls):
        return _named_tuple(run, frame, cls, args, node)
    if isinstance(cls, enum.EnumType):
        return _member(run, frame, cls, args, node)
    return _instance(run, frame, cls, args, node, site)


# NamedTuples ----------------------------------------------------------------------------------------------------


def is_definitely_a_plain_tuple_class(cls: type) -> bool:
    """Whether its constructor is the one that the factory of NamedTuples wrote."""
    base, new = static(cls, "__new__")
    new = new.__func__ if isinstance(new, staticmethod) else new
    return (
        isinstance(new, types.FunctionType)
        and str(new.__globals__.get("__name__", "")).startswith("namedtuple_")
        and base is not None
        and static(cls, "__init__")[0] is object
        and type(cls) in (type, abc.ABCMeta)
        and not any(user_method(cls, name) for name in ("__iter__", "__getitem__", "__len__"))
    )


def _named_tuple(run: Run, frame: Frame, cls: type, args: Args, node: ast.AST) -> Value:
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # a NamedTuple
    defaults: dict[str, object] = cls._field_defaults  # type: ignore[attr-defined]  # likewise
    given = dict(zip(names, args.positional, strict=False)) | dict(args.keywords)
    items: list[Value] = []
    rest = (args.more or NOTHING) | (args.more_keywords or NOTHING)
    for name in names:
        value = given.get(name, NOTHING)
        if name not in given:
            if args.more is not None or args.more_keywords is not None:
                value |= rest
            if name in defaults:
                value |= one(run.lift(defaults[name], ClassAttribute(cls, name)))
        items.append(value)
    return one(Tup(cls, tuple(items)))


# Enumerations ---------------------------------------------------------------------------------------------------


def _member(run: Run, frame: Frame, cls: enum.EnumType, args: Args, node: ast.AST) -> Value:
    if type(cls) is not enum.EnumType:
        return run.unknown(frame, node, f"makes a `{cls.__name__}`, whose metaclass defines how that is done")
    given = join(args.all)
    may_be_said(run, given)
    touch(run, frame, frozenset(t for t in given if not isinstance(t, Atom)), node, members(Const(cls)))
    missing = static(cls, "_missing_")[1]
    if not isinstance(missing, classmethod) or not is_library_file(missing.__func__.__code__.co_filename):
        return run.unknown(frame, node, f"makes a `{cls.__name__}`, which defines what a missing value is")
    return members(Const(cls))


# Instances ------------------------------------------------------------------------------------------------------


def _instance(run: Run, frame: Frame, cls: type, args: Args, node: ast.AST, site: Site | None) -> Value:
    if type(cls) not in _METACLASSES:
        return run.unknown(frame, node, f"makes a `{cls.__name__}`, whose metaclass defines how that is done")
    base, new = static(cls, "__new__")
    if isinstance(new, types.FunctionType | staticmethod) and not _is_of_typing(new):
        return run.unknown(frame, node, f"makes a `{cls.__name__}`, whose __new__ cannot be followed", "use __init__")
    if base is not None and base is not object and not issubclass(base, (*CONTAINERS, BaseException)):
        return run.unknown(frame, node, f"makes a `{cls.__name__}`, whose base `{base.__name__}` cannot be followed")
    made = run.make(cls, node) if site is None else one(Obj(site, cls))
    owner, initialise = static(cls, "__init__")
    for thing in made:
        assert isinstance(thing, Obj)
        if not isinstance(initialise, types.FunctionType) or _is_of_typing(initialise):
            inner = run.iterate(frame, frozenset(t for t in join(args.all) if not isinstance(t, Atom)), node)
            run.heap.put(thing.site, inner | join(args.all))
        elif owner is not None and is_definitely_generated(owner, "__init__", initialise):
            _fill_fields(run, frame, thing, cls, args, node)
        else:
            run.call(frame, one(Bound(Const(initialise), thing)), args, node)
    return made


def _is_of_typing(function: object) -> bool:
    inner = function.__func__ if isinstance(function, staticmethod) else function
    return getattr(inner, "__module__", "") == "typing"


def _fill_fields(run: Run, frame: Frame, thing: Obj, cls: type, args: Args, node: ast.AST) -> None:
    """What a dataclass's generated __init__ does."""
    declared: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    if any(f._field_type.name == "_FIELD_INITVAR" for f in declared.values()):
        run.share(frame, node, f"makes a `{cls.__name__}`, whose InitVar fields cannot be followed")
        return
    fields = dataclasses.fields(cls)
    ordered = [f for f in fields if f.init and not f.kw_only]
    given = dict(zip([f.name for f in ordered], args.positional, strict=False)) | dict(args.keywords)
    for field in fields:
        value = given.get(field.name, NOTHING) if field.init else NOTHING
        if field.name not in given or not field.init:
            for rest in (args.more, args.more_keywords):
                value |= rest or NOTHING
            if field.default is not dataclasses.MISSING:
                value |= one(run.lift(field.default, ClassAttribute(cls, field.name)))
            elif field.default_factory is not dataclasses.MISSING:
                value |= run.call(frame, one(run.lift(field.default_factory, None)), Args(), node)
        _, member = static(cls, field.name)
        if hasattr(type(member), "__set__") and not isinstance(member, types.MemberDescriptorType):
            run.share(frame, node, f"makes a `{cls.__name__}`, whose `{field.name}` is a descriptor")
        run.put_attribute(thing, field.name, value)
    if isinstance(static(cls, "__post_init__")[1], types.FunctionType):
        run.call(frame, run.load(frame, one(thing), "__post_init__", node), Args(), node)


# The library ----------------------------------------------------------------------------------------------------


def _library_object(run: Run, frame: Frame, cls: type, args: Args, node: ast.AST) -> Value:
    given = join(args.all)
    spec = spec_of(cls)
    if spec is not None:
        return call_pure(run, frame, cls, spec, args, node)
    if cls in LIBRARY_VALUES:
        look_at(run, frame, given, node)
        if cls is decimal.Decimal:
            mind_the_context(run, frame, node)
        if cls is datetime:
            zone = args.positional[7] if len(args.positional) > 7 else args.keyword("tzinfo") or NONE
            return atom(AwareDatetime if not zone & NONE else datetime)
        return atom(cls)
    if issubclass(cls, BaseException):
        turn_into_text(run, frame, frozenset(t for t in given if isinstance(t, Atom)), node)
        return run.make(cls, node, without_sources(given))
    if cls in _MANAGERS:
        ask_for_instances(run, frame, NOTHING, given, node)  # whether an error is one of those
        return run.make(cls, node, given)
    if cls in _BUFFERS:
        look_at(run, frame, given, node)
        inner = join(held_by(run, thing) for thing in given)
        made = run.make(cls, node, inner | PLAIN_ATOM)
        for name, value in args.keywords:
            for thing in made:
                assert isinstance(thing, Obj)
                run.heap.put_attribute(thing.site, name, value)
        return made
    if cls is random.Random and is_definitely_seeded(args):
        return run.make(RandomGenerator, node)
    if cls is collections.ChainMap:
        return call_pure(run, frame, cls, Pure(holds=True, may_return=True), args, node)
    effect = effect_of(cls) or "is not known to be free of effects"
    return run.unknown(frame, node, f"makes a `{cls.__module__}.{cls.__name__}`, which {effect}")


def is_definitely_seeded(args: Args) -> bool:
    """Whether a generator of random numbers gets a seed that is the same in every process."""
    seeds = {thing.type if isinstance(thing, Atom) else None for value in args.all for thing in value}
    return len(args.all) == 1 and bool(seeds) and seeds <= {int, float, str, bytes}
