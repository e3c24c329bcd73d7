"""A class that defines every special method, and what of it each construct really calls."""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import gc
import io
import logging
import os
import re
import sys
import tempfile
import types
import typing
import urllib.parse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .bodies import METHODS
from .calls import MODULES, SINGLE, library_constructs
from .constructs import Construct, syntax_constructs

IMPORTED = sorted(
    {*MODULES, *(name.rpartition(".")[0] for name in SINGLE)} | {"abc", "logging", "enum", "weakref", "ast"}
)
_MODULES: dict[str, Any] = {}
exec("import " + ", ".join(IMPORTED), _MODULES)

# What a probe derives from, and how one of its kind is made: `K` is the class.
BASES: dict[str, str] = {
    "object": "K()",
    "dict": "K({'a': 1})",
    "OrderedDict": "K({'a': 1})",
    "defaultdict": "K(None, {'a': 1})",
    "Counter": "K({'a': 1})",
    "list": "K([1])",
    "tuple": "K((1,))",
    "set": "K([1])",
    "frozenset": "K([1])",
    "deque": "K([1])",
    "int": "K(1)",
    "float": "K(1.0)",
    "str": "K('a')",
    "bytes": "K(b'a')",
    "Exception": "K('a')",
    "type": "K('X', (), {})",
}
_CALLED: list[str] = []
_ASKED: list[str] = []
_state = {"active": False}
_ATTRIBUTE_METHODS = ("__getattribute__", "__getattr__")


def base_named(name: str) -> type:
    return getattr(collections, name, None) or getattr(builtins, name)


def begin() -> None:
    _state["active"] = True


def record(name: str) -> None:
    if _state["active"]:
        _CALLED.append(name)


def asked(name: str) -> None:
    if _state["active"] and name.startswith("__") and name.endswith("__"):
        _ASKED.append(name)


@functools.cache
def _members(base: str, iterates_itself: bool) -> dict[str, Any]:
    """Every special method as the interpreter would compile it in a class that derives from `base`."""
    lines = []
    for name, body in METHODS.items():
        effect = f'record("{name}")'
        if name in _ATTRIBUTE_METHODS:
            effect += "\nasked(name)"
        lines += body.text(effect, "1", base).splitlines()
    text = "class Members:\n" + "\n".join(f"    {line}" for line in lines)
    names: dict[str, Any] = {"record": record, "asked": asked, "Any": Any, **vars(collections)}
    exec(text, names)
    members = {name: vars(names["Members"])[name] for name in METHODS}
    if iterates_itself:
        members["__iter__"] = _iterate
    return members


def _iterate(self: Any) -> Any:
    record("__iter__")
    return self


@functools.lru_cache(maxsize=4096)
def _made_before(base: str, without: frozenset[str], iterates_itself: bool) -> tuple[type, dict[str, Any]]:
    probe = make_probe(base, without, iterates_itself)
    return probe, dict(vars(probe))


def _probe_as_made(base: str, without: frozenset[str], iterates_itself: bool) -> type:
    """The same class as long as nobody changes it, as `dataclass` does: what follows would be of another class."""
    probe, made = _made_before(base, without, iterates_itself)
    if dict(vars(probe)) != made:
        _made_before.cache_clear()
        probe, _ = _made_before(base, without, iterates_itself)
    return probe


def make_probe(base: str, without: frozenset[str] = frozenset(), iterates_itself: bool = False) -> type:
    """A class with every special method but those left out."""
    members = {name: member for name, member in _members(base, iterates_itself).items() if name not in without}
    if "__eq__" in members and "__hash__" not in members:
        members["__hash__"] = base_named(base).__hash__
    return type("K", (base_named(base),), {"__module__": __name__, **members})


@dataclass(frozen=True)
class Seen:
    """A special method that a construct was seen to call, and the first probe that showed it.

    `beside` are the other special methods that were called: a trap may need them beside its own. `without` are those
    that the probe lacked.
    """

    construct: Construct
    method: str
    base: str
    beside: tuple[str, ...]
    iterates_itself: bool
    without: frozenset[str]


@dataclass(frozen=True)
class _Calls:
    """What one run of a construct called, and which attributes it asked for."""

    called: list[str]
    asked: list[str]
    without: frozenset[str]
    iterates_itself: bool


def forget() -> None:
    """What the library keeps for the next who asks with something equal, as every probe is to another."""
    re.purge()
    urllib.parse.clear_cache()
    for clear in getattr(typing, "_cleanups", ()):
        clear()


def _run(code: types.CodeType, base: str, without: frozenset[str], iterates_itself: bool) -> _Calls:
    forget()
    probe = _probe_as_made(base, without, iterates_itself)
    names: dict[str, Any] = {**_MODULES, "K": probe, "begin": begin, "__name__": __name__}
    try:
        names["x"] = eval(BASES[base], names)
    except Exception:
        return _Calls([], [], without, iterates_itself)
    _CALLED.clear()
    _ASKED.clear()
    try:
        exec(code, names)
        names["run"](names["x"])
    except BaseException as problem:
        _state["active"] = False
        if isinstance(problem, KeyboardInterrupt):
            raise
    finally:
        _state["active"] = False
        names.clear()
    return _Calls(list(_CALLED), list(_ASKED), without, iterates_itself)


def observe(construct: Construct, bases: Iterable[str] = tuple(BASES)) -> Iterator[Seen]:
    """Everything that the construct calls, whichever special methods the object has and lacks, once for each base."""
    code = compile(construct.text(), f"<{construct.kind}>", "exec", dont_inherit=True)
    for base in bases:
        known: set[str] = set()
        for run in _runs(code, base):
            for name in [*run.called, *(each for each in run.asked if each not in METHODS)]:
                if name not in known:
                    known.add(name)
                    yield Seen(construct, name, base, _others(run.called, name), run.iterates_itself, run.without)


def _others(called: list[str], method: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in called if name != method))


def _runs(code: types.CodeType, base: str) -> Iterator[_Calls]:
    """With all methods; without each that was called; without all that were called, until none is called anymore."""
    for iterates_itself in (False, True):
        run = _run(code, base, frozenset(), iterates_itself)
        yield run
        first = set(run.called)
        gone: set[str] = set()
        if len(first) > 1:
            for method in sorted(first):
                yield _run(code, base, frozenset({method}), iterates_itself)
        while more := set(run.called) - gone:
            gone |= more
            run = _run(code, base, frozenset(gone), iterates_itself)
            yield run
        if "__iter__" not in first:
            return


# Their own methods are written in Python, so that any use of them may call any method of the object.
_WRITTEN_IN_PYTHON = {"Counter": "collections.Counter"}


@functools.cache
def observed(is_sample: bool = False) -> dict[tuple[str, str], tuple[Seen, ...]]:
    """All pairs of a kind of construct and a special method that it calls, with constructs that show it.

    A sample has all of the syntax, and the calls of every fortieth function.
    """
    found: dict[tuple[str, str], list[Seen]] = {}
    late: list[Seen] = []
    for seen in _observe_all(is_sample):
        if seen.base in _WRITTEN_IN_PYTHON:
            late.append(seen)
        else:
            found.setdefault((seen.construct.kind, seen.method), []).append(seen)
    for seen in late:
        if (seen.construct.kind, seen.method) not in found:
            found.setdefault((_WRITTEN_IN_PYTHON[seen.base], seen.method), []).append(seen)
    return {pair: tuple(found[pair]) for pair in sorted(found)}


def _observe_all(is_sample: bool) -> list[Seen]:
    """Objects end only where the construct ends them: the collector of cycles would do so anywhere."""
    library = list(library_constructs())[:: 40 if is_sample else 1]
    constructs = [*syntax_constructs(), *(call for _, calls in library for call in calls)]
    found: list[Seen] = []
    with quiet():
        for at, construct in enumerate(constructs):
            found += observe(construct)
            if at % 500 == 0:
                gc.collect()
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed, logged or left behind by what is tried, and the collector of cycles sleeps."""
    before = os.getcwd()
    gc.disable()
    logging.disable()
    sys.unraisablehook = lambda problem: None
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            tempfile.TemporaryDirectory() as folder,
        ):
            warnings.simplefilter("ignore")
            os.chdir(folder)
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    yield
            finally:
                os.chdir(before)
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        logging.disable(logging.NOTSET)
        gc.enable()


def observed_pairs(is_sample: bool = False) -> frozenset[tuple[str, str]]:
    return frozenset(observed(is_sample))


if __name__ == "__main__":
    for kind, method in sorted(observed_pairs()):
        print(kind, method, sep="\t")
