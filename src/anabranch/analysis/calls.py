"""Calls: what is called decides which part takes over; what is not definitely pure is reported."""

from __future__ import annotations

import ast
import functools
import operator
import types
from typing import Any

from anabranch.analysis import library_calls, logging_calls, purity, special_calls
from anabranch.analysis.cached_functions import CACHED, call_cached
from anabranch.analysis.construct import is_definitely_seeded
from anabranch.analysis.dispatch_calls import call_any, registered
from anabranch.analysis.following import call_function, call_local
from anabranch.analysis.home import home_of
from anabranch.analysis.lifting import CONTAINERS, is_user_class
from anabranch.analysis.making import call_pure, made
from anabranch.analysis.method_calls import call_method
from anabranch.analysis.methods import SCALARS
from anabranch.analysis.modules import is_library_function, namespace_of
from anabranch.analysis.origins import Given, Origin
from anabranch.analysis.patching import CALL_YOUR_OWN, changed_library, patched_function
from anabranch.analysis.program import program_around
from anabranch.analysis.protocols import class_of, refuse_unknown_methods
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import shown
from anabranch.analysis.uses import uses_of
from anabranch.analysis.values import (
    NOTHING,
    UNKNOWN,
    Atom,
    Bound,
    Const,
    Fun,
    Method,
    Obj,
    Partial,
    Sent,
    Thing,
    Tup,
    Unknown,
    Value,
    join,
    one,
)

_DECLARE = 'if it is safe, say so: @ab.declare(state="stateless", because="…")'
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def call(run: Run, frame: Frame, callee: Value, args: Args, node: ast.AST) -> Value:
    run.step(frame)
    return join(_call_one(run, frame, thing, args, node) for thing in callee)


def _call_one(run: Run, frame: Frame, thing: Thing, args: Args, node: ast.AST) -> Value:
    match thing:
        case Const(object=held, origin=origin):
            return _call_const(run, frame, thing, held, origin, args, node)
        case Fun(node=function, home=home, chain=chain):
            return call_local(run, frame, function, home, chain, args, node)
        case Bound(function=inner, receiver=receiver):
            return _call_one(run, frame, inner, args.after(one(receiver)), node)
        case Method(receiver=receiver, name=name, owner=owner):
            return call_method(run, frame, receiver, name, owner, args, node)
        case Partial(function=inner_value, positional=positional, keywords=keywords):
            names = dict(args.keywords)
            merged = tuple((n, v) for n, v in keywords if n not in names) + args.keywords
            joined = Args(positional + args.positional, merged, args.more, args.more_keywords)
            return run.call(frame, inner_value, joined, node)
        case Unknown():
            return UNKNOWN
        case Atom(type=kind) if kind in SCALARS:
            return NOTHING  # an error
        case Obj() | Tup():
            return _call_instance(run, frame, thing, args, node)
        case _:
            return run.unknown(frame, node, f"calls {shown(node)}, which is not known")


def _call_instance(run: Run, frame: Frame, thing: Thing, args: Args, node: ast.AST) -> Value:
    cls = class_of(thing)
    if cls is not None:
        refuse_unknown_methods(run, frame, cls, node)
    method = user_method(cls, "__call__") if cls is not None else None
    if method is not None:
        return run.call(frame, one(Bound(Const(method), thing)), args, node)
    if isinstance(thing, Obj) and (cls is not None or thing.type in CONTAINERS):
        return NOTHING  # an error
    return run.unknown(frame, node, f"calls {shown(node)}, which is not known")


def _call_const(
    run: Run, frame: Frame, const: Const, held: Any, origin: Origin | None, args: Args, node: ast.AST
) -> Value:
    changed = changed_library(held, frame.home.namespace)
    if changed is not None:
        run.share(frame, node, f"calls {shown(node)}, which {changed}", CALL_YOUR_OWN)
    if isinstance(held, type):
        return run.construct(frame, held, args, node)
    handler = special_calls.handler_of(held) or logging_calls.handler_of(held)
    if handler is not None:
        special_calls.touch_arguments(run, frame, held, args, node)
        return handler(run, frame, args, node)
    spec = purity.spec_of(held)
    if spec is not None:
        return call_pure(run, frame, held, spec, args, node)
    if purity.is_seedable(held) and is_definitely_seeded(args):
        return run.make(purity.RandomGenerator, node)
    if type(held) is CACHED:
        return call_cached(run, frame, held, args, node)
    match held:
        case types.FunctionType():
            return _call_existing_function(run, frame, held, args, node)
        case types.MethodType() if isinstance(held.__self__, type) and _is_of_library(held.__func__):
            return call_method(run, frame, Const(held.__self__), held.__name__, held.__self__, args, node)
        case types.MethodType():
            receiver = run.lift(held.__self__, origin or Given(f"the object of {shown(node)}"))
            function = run.lift(held.__func__, None)
            return _call_one(run, frame, Bound(function, receiver), args, node)
        case types.BuiltinFunctionType() | types.MethodWrapperType() if _has_receiver(held):
            owner = held.__self__
            kind = owner if isinstance(owner, type) else type(owner)
            return call_method(run, frame, run.lift(owner, origin), held.__name__, kind, args, node)
        case types.MethodDescriptorType() | types.WrapperDescriptorType():
            return _call_unbound(run, frame, held.__name__, held.__objclass__, args, node)
        case functools.partial():
            return _call_partial(run, frame, held, origin, args, node)
    inner = getattr(held, "py_func", None)
    if type(held).__module__.split(".")[0] == "numba" and isinstance(inner, types.FunctionType):
        return _call_existing_function(run, frame, inner, args, node)
    if isinstance(held, _GETTERS):
        arguments = [repr(argument) for argument in held.__reduce__()[1]]
        return run.call(frame, library_calls.getter(type(held).__name__, arguments, frame), args, node)
    cls = type(held)
    if is_user_class(cls) and user_method(cls, "__call__") is not None:
        return _call_instance(run, frame, const, args, node)
    return not_pure(run, frame, held, node)


def _is_of_library(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and is_library_function(function)


def _has_receiver(function: Any) -> bool:
    return function.__self__ is not None and not isinstance(function.__self__, types.ModuleType)


def _call_existing_function(run: Run, frame: Frame, function: types.FunctionType, args: Args, node: ast.AST) -> Value:
    module = str(getattr(function, "__module__", ""))
    if module.split(".")[0] == "anabranch" and function.__name__ == "to":
        item = args.positional[1] if len(args.positional) > 1 else (args.keyword("item") or NOTHING)
        return one(Tup(Sent, (item,)))
    declared = vars(function).get("__anabranch_declared__")
    if declared is not None and declared.state == "stateless" and not run.is_trusting:
        return _call_trusted(run, frame, function, args, node)
    if is_library_function(function):
        choices = registered(function)
        if choices is not None:
            return call_any(run, frame, function, choices, args, node)
        inner = getattr(function, "__wrapped__", None)
        # The maker of a manager, and not what a manager makes of a function that it decorates.
        is_maker = function.__code__.co_filename.endswith("contextlib.py") and function.__code__.co_name == "helper"
        if is_maker and isinstance(inner, types.FunctionType):
            return _call_manager(run, frame, inner, args, node)
        return not_pure(run, frame, function, node)
    home = home_of(function)
    if home is None:
        return run.unknown(
            frame, node, f"calls `{function.__name__}`, whose source is not to be found", "define it in a file"
        )
    patch = patched_function(function)
    if patch is not None:
        run.share(frame, node, f"calls `{function.__name__}`, which {patch}")
    return call_function(run, frame, home, args, node)


def _call_trusted(run: Run, frame: Frame, function: types.FunctionType, args: Args, node: ast.AST) -> Value:
    """A function the user declared stateless: followed for its result only, without believing what it seems to do."""
    reports = dict(run.shared), dict(run.own), run.results
    run.results, run.is_trusting = {}, True
    try:
        result = _call_existing_function(run, frame, function, args, node)
    finally:
        run.shared, run.own, run.results = reports
        run.is_trusting = False
    if result & UNKNOWN:
        return (result - UNKNOWN) | made(run, purity.PART, join(args.all), node)
    return result


def _call_manager(run: Run, frame: Frame, inner: types.FunctionType, args: Args, node: ast.AST) -> Value:
    """A function under @contextlib.contextmanager: what it yields is what `with` gives."""
    generator = run.call(frame, one(Const(inner)), args, node)
    return run.make(GeneratorManager, node, run.iterate(frame, generator, node))


class GeneratorManager:
    """Stands for the type of what a function under @contextlib.contextmanager gives."""


def _call_unbound(run: Run, frame: Frame, name: str, owner: type, args: Args, node: ast.AST) -> Value:
    """`str.lower(text)`: the first argument is the receiver."""
    if not args.positional:
        receivers, rest = args.more or NOTHING, args
    else:
        receivers, rest = args.positional[0], Args(args.positional[1:], args.keywords, args.more, args.more_keywords)
    return join(call_method(run, frame, receiver, name, owner, rest, node) for receiver in receivers)


def _call_partial(
    run: Run, frame: Frame, held: functools.partial[Any], origin: Origin | None, args: Args, node: ast.AST
) -> Value:
    if _may_rewrite_partials(frame):
        run.share(frame, node, f"calls {shown(node)}, whose `keywords` a function may change")
    given = Given("an argument of functools.partial")
    positional = tuple(one(run.lift(value, given)) for value in held.args)
    keywords = tuple((name, one(run.lift(value, given))) for name, value in held.keywords.items())
    return _call_one(run, frame, Partial(one(run.lift(held.func, origin)), positional, keywords), args, node)


def _may_rewrite_partials(frame: Frame) -> bool:
    """Whether a function may write to the arguments that a partial holds."""
    for namespace in program_around(namespace_of(frame.home.namespace)):
        if namespace.strays.may_use("keywords"):
            return True
        if any(use.is_deferred for text in namespace.texts for use in uses_of(text).attributes["keywords"]):
            return True
    return False


def not_pure(run: Run, frame: Frame, function: Any, node: ast.AST) -> Value:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None)
    full = name if module in (None, "builtins") else f"{module}.{name}"
    effect = purity.effect_of(function)
    if effect is not None:
        return run.unknown(frame, node, f"calls `{full}`, which {effect}", purity.hint_for(effect) or _DECLARE)
    return run.unknown(frame, node, f"calls `{full}`, which is not known to be free of effects", _DECLARE)
