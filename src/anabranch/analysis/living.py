"""All functions and suspended generators that exist: only those objects are looked at that are new since the last time.

There may be many millions of objects, and whoever compiles looks for code among them. Those that were looked at before
need not be looked at again: the interpreter keeps its oldest objects in order, and puts behind them what joins them.
"""

from __future__ import annotations

import gc
import operator
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress, islice, repeat, takewhile
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any

from anabranch.analysis.frozen_objects import thawed

# By identity: a metaclass may say itself how its classes are hashed.
_WITH_CODE = frozenset(map(id, (FunctionType, GeneratorType, CoroutineType, AsyncGeneratorType)))
# Later ones, and those without a global lock, keep their objects otherwise: there, all are looked at.
_KEEPS_ORDER = sys.version_info < (3, 14) and getattr(sys, "_is_gil_enabled", lambda: True)()
_OLDEST = 2
_MOST_ENDS = 500


@dataclass(frozen=True)
class _Moment:
    """How often objects had become older, at some time."""

    collections: int  # of all objects, which brings them out of order
    of_young: int  # of all but the oldest, after which those that are left are put behind these
    since: int  # how many of the latter there were since the last of the former, or since objects were frozen


@dataclass(eq=False)
class _Seen:
    """What there was when it was looked for last, by the identities of its globals and its own."""

    by_globals: dict[int, _Group] = field(default_factory=dict)
    ends: list[weakref.ref[Any]] = field(default_factory=list)  # those with code behind all others, the last one first
    moment: _Moment | None = None


@dataclass(eq=False, slots=True)
class _Group:
    names: dict[str, Any]  # kept: as long as this is, no other has its identity
    things: dict[int, weakref.ref[Any]] = field(default_factory=dict)


_seen = _Seen()
_one_at_a_time = threading.Lock()


def living_code(without: Set[int]) -> Iterator[tuple[dict[str, Any], list[CodeType]]]:
    """The code of functions and suspended generators by their globals, but for globals with these identities."""
    with _one_at_a_time:
        _look()
        for identity, group in list(_seen.by_globals.items()):
            if identity in without:
                continue
            things = {each: thing for each, ref in group.things.items() if (thing := ref()) is not None}
            if len(things) < len(group.things):
                group.things = {each: group.things[each] for each in things}
            if not things:
                del _seen.by_globals[identity]
                continue
            yield group.names, [code for thing in things.values() if (code := _code_of(thing)) is not None]


def _look() -> None:
    """No code of ours runs for any object that is of another kind.

    Nor does that of another thread, while references to all of them are held: a tuple that it is just making could
    not grow if it were not its only owner. So they are held within one call of the interpreter's own functions.
    """
    is_frozen = gc.get_freeze_count() > 0
    with thawed():
        if is_frozen:
            _seen.moment = None  # what was frozen is behind all others now
        was_enabled = gc.isenabled()
        gc.disable()  # objects stay in their generations
        try:
            before = _moment()
            end = _end_of_known(before)
            # Objects only become older, so none is missed.
            young = _with_code(0) + _with_code(1)
            old = [] if end is not None and before == _seen.moment else _with_code(_OLDEST, end)
            if end is not None and _moment() != before:  # another thread has had them collected in between
                end, old = None, _with_code(_OLDEST)
            _note(young, old, is_all=end is None)
            _seen.moment = before if _moment() == before else None
        finally:
            if was_enabled:
                gc.enable()


def _moment() -> _Moment:
    young, old = gc.get_stats()[1:3]
    return _Moment(old["collections"], young["collections"], gc.get_count()[2])


def _end_of_known(now: _Moment) -> Any:
    """The last of the oldest objects that has been seen, if all that is new stands behind it."""
    then = _seen.moment
    if not _KEEPS_ORDER or then is None or now.collections != then.collections:
        return None
    if now.since == 0 or now.since - then.since != now.of_young - then.of_young:
        return None  # one is under way, or they were frozen
    return next((end for ref in _seen.ends if (end := ref()) is not None), None)


def _with_code(generation: int, end: Any = None) -> list[Any]:
    """Of its objects those that have code; of the oldest, the last first, and only those behind the end."""
    # To the end of both, where the interpreter lets go of them.
    objects = chain(_objects_of(generation, end), repeat(None))
    return list(compress(objects, map(_WITH_CODE.__contains__, map(id, map(type, _objects_of(generation, end))))))


def _objects_of(generation: int, end: Any) -> Iterator[Any]:
    """When the first is asked for; asked again, they are the same, and new ones, never the oldest, behind."""
    lists: Iterator[Any] = map(gc.get_objects, (generation,))
    objects = chain.from_iterable(map(reversed, lists) if generation == _OLDEST else lists)
    return objects if end is None else chain(takewhile(partial(operator.is_not, end), objects))


def _note(young: Iterable[Any], old: list[Any], *, is_all: bool) -> None:
    if is_all:
        _seen.by_globals, _seen.ends = {}, []
    for thing in (*young, *old):
        names = _globals_of(thing)
        if names is not None:
            _seen.by_globals.setdefault(id(names), _Group(names)).things[id(thing)] = weakref.ref(thing)
    ends = chain(map(weakref.ref, old), (ref for ref in _seen.ends if ref() is not None))
    _seen.ends = list(islice(ends, _MOST_ENDS))


def _globals_of(thing: Any) -> dict[str, Any] | None:
    kind = type(thing)
    if kind is FunctionType:
        return thing.__globals__  # type: ignore[no-any-return]
    frame = _frame_of(thing)
    return frame.f_globals if frame is not None else None


def _frame_of(thing: Any) -> Any:
    kind = type(thing)
    if kind is GeneratorType:
        return thing.gi_frame
    return thing.cr_frame if kind is CoroutineType else thing.ag_frame


def _code_of(thing: Any) -> CodeType | None:
    """None of what has come to its end."""
    kind = type(thing)
    if kind is FunctionType:
        return thing.__code__  # type: ignore[no-any-return]
    if _frame_of(thing) is None:
        return None
    if kind is GeneratorType:
        return thing.gi_code  # type: ignore[no-any-return]
    return thing.cr_code if kind is CoroutineType else thing.ag_code  # type: ignore[no-any-return]
