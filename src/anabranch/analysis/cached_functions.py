"""Calls of functions under `functools.cache` and `lru_cache`, whose cache all calls share.

Such a call is what the function itself would give, and no more than that, where nobody can tell who called before: the
function is pure, what it gives cannot be changed, and no two arguments that any call of the program gives are equal and
yet different. 1, 1.0 and True share an entry, and so do 0.0 and -0.0. For that, every call in the program must have
been seen.
"""

from __future__ import annotations

import ast
import enum
import functools
import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import FunctionType
from typing import Any

from anabranch.analysis.compilation import the_compilation
from anabranch.analysis.constant_globals import may_be_module
from anabranch.analysis.constant_uses import is_known, is_store
from anabranch.analysis.lifting import is_named_tuple_class, is_user_class
from anabranch.analysis.lookup import static
from anabranch.analysis.modules import Namespace, namespace_of
from anabranch.analysis.program import program_around
from anabranch.analysis.resolving import resolve
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import Atom, Const, Obj, Site, Thing, Tup, Value, join, one, without_sources

CACHED: Any = functools._lru_cache_wrapper
_DECLARE = 'call the function without its cache, or declare it: @ab.declare(state="stateless", because="…")'
# Of each of these, equal values are the same value; and none of one is equal to one of another, but of the numbers.
_TELLING: frozenset[type] = frozenset({str, bytes, int, bool, type(None), date, timedelta})
_NUMBERS: frozenset[object] = frozenset({int, bool})
_ANYTHING = object()


@dataclass
class _Calls:
    """What a cached function is given in the program under analysis, and where."""

    nodes: set[ast.AST] = field(default_factory=set)
    kinds: set[object] = field(default_factory=set)

    def add(self, node: ast.AST, args: Args) -> None:
        kinds: set[object] = {_ANYTHING} if args.more is not None or args.more_keywords is not None else set()
        for value in args.all:
            for thing in value:
                kinds |= _kinds(thing) or {_ANYTHING}
        if node not in self.nodes or not kinds <= self.kinds:
            self.nodes.add(node)
            self.kinds |= kinds
            the_compilation().cached.version += 1


def _calls_of(cached: Any) -> _Calls:
    calls: _Calls = the_compilation().cached.calls.setdefault(cached, _Calls())
    return calls


def version() -> int:
    """Grows with every call that has not been seen before: what was concluded until then may be wrong."""
    return the_compilation().cached.version


def give_up() -> None:
    """From now on, no cache of this program is taken to be without effect."""
    the_compilation().cached.is_open = True


def call_cached(run: Run, frame: Frame, cached: Any, args: Args, node: ast.AST) -> Value:
    name = f"`{getattr(cached, '__qualname__', 'a cached function')}`"
    function = _function_of(cached)
    if function is None:
        return run.unknown(frame, node, f"calls {name}, whose cache all calls share", _DECLARE)
    calls = _calls_of(cached)
    calls.add(node, args)
    followed = the_compilation().cached.followed
    is_recursive = any(cached is one for one in followed)
    own = dict(run.own)
    followed.append(cached)
    try:
        result = without_sources(run.call(frame, one(Const(function)), args, node))
    finally:
        followed.pop()
    if not all(_is_definitely_immutable(run, thing, set()) for thing in result):
        text = f"calls {name}, whose cache gives all calls the same object, which may be changed"
        return run.unknown(frame, node, text, "return a tuple, a text or a number")
    problem = _RECURSIVE if is_recursive else _problem(cached, function, calls, is_quiet=run.own == own)
    if problem is not None:
        run.share(frame, node, f"calls {name}, {problem[0]}", problem[1])
    return result


def _function_of(cached: Any) -> FunctionType | None:
    """What is called where the cache has no answer, whatever `__wrapped__` says."""
    held = [one for one in gc.get_referents(cached) if isinstance(one, FunctionType)]
    return held[0] if len(held) == 1 and cached.__wrapped__ is held[0] else None


def _problem(cached: Any, function: FunctionType, calls: _Calls, *, is_quiet: bool) -> tuple[str, str] | None:
    """Why it may matter who called before, and what to do about it; the text follows the name of the function."""
    if not is_quiet:
        return "which does something beyond its result, and only where its cache has no answer", _DECLARE
    if not _are_definitely_told_apart(calls.kinds, cached.cache_parameters()["typed"]):
        return "whose cache takes arguments that are equal for the same one, such as 1, 1.0 and True", _ARGUMENTS
    if cached.cache_info().currsize:
        return "whose cache holds results from before the run", f"empty it first: {function.__name__}.cache_clear()"
    unseen = "elsewhere" if the_compilation().cached.is_open else _unseen_use(cached, function, calls)
    if unseen is not None:
        return f"whose cache may be used with other arguments {unseen}", _DECLARE
    return None


_RECURSIVE = (
    "which calls itself through its cache: how deep it gets depends on what the cache holds",
    "write it as a loop, or call the function without its cache",
)
_ARGUMENTS = "give it texts, bytes, dates or whole numbers, or call the function without its cache"


# Results ---------------------------------------------------------------------------------------------------------


def _is_definitely_immutable(run: Run, thing: Thing, seen: set[Site]) -> bool:
    match thing:
        case Atom():
            return True
        case Tup(type=kind, items=items):
            inner = join(items)
            return not kind.__dictoffset__ and all(_is_definitely_immutable(run, part, seen) for part in inner)
        case Obj(type=kind, site=site) if kind is tuple:
            if site in seen:
                return True
            return all(_is_definitely_immutable(run, part, seen | {site}) for part in run.heap.held(site))
        case Const(object=enum.Enum()):
            return True
        case _:
            return False


# Arguments -------------------------------------------------------------------------------------------------------


def _kinds(thing: Thing) -> frozenset[object]:
    """The types in an argument, if it is none that may be equal to a different one; else nothing."""
    match thing:
        case Atom(type=kind) if kind in _TELLING:
            return frozenset({kind})
        case Tup(type=kind, items=items) if kind is tuple or _is_plain_named_tuple(kind):
            inner = [_kinds(part) for item in items for part in item]
            return frozenset({(tuple, kind)}).union(*inner) if all(inner) else frozenset()
        case Const(object=enum.Enum() as member) if _is_plain_enum(type(member)):
            return frozenset({type(member)})
        case _:
            return frozenset()


def _is_plain_named_tuple(cls: type) -> bool:
    return is_named_tuple_class(cls) and all(static(cls, name)[0] is tuple for name in ("__eq__", "__hash__"))


def _is_plain_enum(cls: type) -> bool:
    is_own = static(cls, "__eq__")[0] is object and static(cls, "__hash__")[0] is enum.Enum
    return is_own and all(base in (object, enum.Enum) or is_user_class(base) for base in cls.__mro__)


def _are_definitely_told_apart(kinds: set[object], is_typed: bool) -> bool:
    """Whether values of these types are never equal across types; inside tuples, `typed` makes no difference."""
    tuples = [kind for kind in kinds if isinstance(kind, tuple)]
    numbers = len(kinds & _NUMBERS)
    return _ANYTHING not in kinds and len(tuples) <= 1 and (numbers <= 1 or (is_typed and not tuples))


def _has_lookalikes(around: list[Namespace]) -> bool:
    """Whether the program has classes of its own whose instances are texts, numbers, … and may pass for these."""
    names = {str(namespace.names.get("__name__")) for namespace in around}
    waiting: list[type] = [str, bytes, int, date, timedelta]
    for cls in waiting:  # grows while it is walked
        waiting += cls.__subclasses__()
    return any(cls.__module__ in names and is_user_class(cls) and not issubclass(cls, enum.Enum) for cls in waiting)


# All other uses --------------------------------------------------------------------------------------------------


def _unseen_use(cached: Any, function: FunctionType, calls: _Calls) -> str | None:
    """Where the program may call it with what was not seen, in words."""
    around = program_around(namespace_of(function.__globals__))
    if _has_lookalikes(around):
        return "(there are classes derived from str, int, …)"
    owners = [(n, name) for n in around for name, value in list(n.names.items()) if value is cached]
    names = {name for _, name in owners}
    if not names:
        return "(it has no name of its own)"
    for namespace in around:
        is_unknown = bool(namespace.codes) and not is_known(namespace)  # where no function is, none can call it
        if is_unknown or any(namespace.strays.may_use(name) for name in names):
            return f"in {namespace.label}, whose source is not known"
        for text in namespace.texts:
            for use in _uses(text, namespace, owners):
                if not _is_seen(use, text, namespace, cached, calls):
                    return f"({text.file}:{getattr(use.node, 'lineno', 1)})"
            if any(f'"{name}"' in text.text or f"'{name}'" in text.text for name in names):
                return f"in {text.file}, where its name is a text"
    return None


def _uses(text: SourceText, namespace: Namespace, owners: list[tuple[Namespace, str]]) -> Iterator[Use]:
    uses = uses_of(text)
    for owner, name in owners:
        if name not in text.text:
            continue
        yield from uses.globals[name] if owner is namespace else ()
        is_of_class = any(own == name for _, own in uses.class_names)
        for use in uses.attributes[name]:
            if is_of_class or may_be_module(use, namespace, owner):
                yield use
        for (_, own), found in uses.variables.items():
            if own == name and any(isinstance(use.node, ast.Import | ast.ImportFrom) for use in found):
                yield from found


def _is_seen(use: Use, text: SourceText, namespace: Namespace, cached: Any, calls: _Calls) -> bool:
    node = use.node
    if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
        return not use.is_deferred
    if is_store(node):
        return False
    parent = text.parents.get(node)
    if parent in calls.nodes:
        return True  # called there, or handed to what called it
    if isinstance(node, ast.Name | ast.Attribute):
        found = resolve(node, namespace.names)
        if found is not None and found is not cached and not use.is_deferred:
            return True
    # What a module's statement has called is in the cache, and that is empty.
    return not use.is_deferred and isinstance(parent, ast.Call) and parent.func is node
