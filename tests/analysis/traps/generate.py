"""Makes operators that are certainly not safe in parallel, from what the probe saw, and sees each of them fire."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import multiprocessing
import re
import sys
import textwrap
import types
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from .bodies import METHODS, body_of
from .effects import EFFECTS, NO_EFFECT, Effect, watching
from .places import PLACES, Place, body_at
from .probe import BASES, IMPORTED, Seen, forget, observed, observed_pairs, quiet

HEADER = f"""from typing import NamedTuple
import os, sys, time
import {", ".join(sorted({*IMPORTED, "itertools", "random", "time"}))}
from collections import Counter, OrderedDict, defaultdict, deque


class T(NamedTuple):
    k: int
    v: float


class Manager:
    async def __aenter__(self):
        return 1

    async def __aexit__(self, *problem):
        return None


async def go_on(value):
    return value


async def count_up():
    yield 1
"""


# Places that are taken in turn for each pair of the library, of which there are many; all are for the language's own.
LIBRARY_PLACES = 2
# How many combinations of a construct and a place are tried for a pair of which no trap was found so.
TRIED = 400


@dataclass(frozen=True)
class Trap:
    """An operator that calls a special method with an effect.

    `source` is its own part of a module that begins with `HEADER`. `changes_reached` says whether the effect changes
    something that the operator's code names: a global, or a class attribute.
    """

    name: str
    pair: tuple[str, str]
    place: str
    effect: str
    base: str
    source: str
    operator: str
    kind: str  # map, filter, flat_map, or process: a keyed class
    changes_reached: bool
    twin: str = ""  # the same source without the effect

    @property
    def is_keyed(self) -> bool:
        return self.kind == "process"


@dataclass(frozen=True)
class LeftOut:
    """A combination that no trap could be made of."""

    pair: tuple[str, str]
    place: str
    effect: str
    reason: str


def make_traps(sample: int | None = None) -> tuple[Trap, ...]:
    """All traps, or about so many, always the same ones, spread over pairs, places and effects."""
    made = generated(is_sample=sample is not None).traps
    if sample is None or sample >= len(made):
        return made
    return tuple(sorted(made, key=lambda trap: zlib.crc32(f"{trap.name} {trap.source}".encode()))[:sample])


@dataclass(frozen=True)
class Generated:
    pairs: frozenset[tuple[str, str]]  # all that were observed
    traps: tuple[Trap, ...]
    left_out: tuple[LeftOut, ...]


@functools.cache
def generated(is_sample: bool = False) -> Generated:
    """The traps of every pair that was observed, or of the language's own and a few of the library.

    To call everything that the library has with odd objects changes it: the module that `len` is from, say. So that
    is done in a process of its own.
    """
    if is_sample:
        return _generate(is_sample=True)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(_generate, is_sample=False).result()


def _generate(is_sample: bool) -> Generated:
    found: list[Trap | LeftOut] = []
    with quiet(), _loaded_as(TRIAL):
        for pair, seen in observed(is_sample).items():
            some = list(_traps_of(pair, seen))
            if not any(isinstance(one, Trap) for one in some):
                last = _last_resort(pair, seen)
                some += [last] if last is not None else []
            found += some
    traps = tuple(one for one in found if isinstance(one, Trap))
    return Generated(observed_pairs(is_sample), traps, tuple(one for one in found if isinstance(one, LeftOut)))


def _traps_of(pair: tuple[str, str], seen: Sequence[Seen]) -> Iterator[Trap | LeftOut]:
    """One for each place, with the effects and the constructs in turn."""
    variants = _varied(seen)
    turn = zlib.crc32("/".join(pair).encode())
    is_library = "." in pair[0] and not pair[0].startswith("builtins.")
    places = [PLACES[(turn + at) % len(PLACES)] for at in range(LIBRARY_PLACES)] if is_library else PLACES
    for at, place in enumerate(places):
        effect = EFFECTS[(turn + at) % len(EFFECTS)]
        reason = ""
        for one in itertools.islice(itertools.chain(variants[at:], variants[:at]), 8):
            found = _trap(pair, one, place, effect)
            if isinstance(found, Trap):
                yield found
                break
            reason = reason or found
        else:
            yield LeftOut(pair, place.name, effect.name, reason)


def _last_resort(pair: tuple[str, str], seen: Sequence[Seen]) -> Trap | None:
    """A trap of the very class that the probe had, less what it does without, at the first place where it fires."""
    places = itertools.product(seen, zip(PLACES, itertools.cycle(EFFECTS), strict=False))
    for one, (place, effect) in itertools.islice(places, TRIED):
        beside = tuple(name for name in METHODS if name != one.method and name not in one.without)
        if not isinstance(_tried(pair, one, place, effect, beside), Trap):
            continue
        for name in beside:
            fewer = tuple(other for other in beside if other != name)
            if isinstance(_tried(pair, one, place, effect, fewer), Trap):
                beside = fewer
        found = _tried(pair, one, place, effect, beside)
        return found if isinstance(found, Trap) else None
    return None


def _varied(seen: Sequence[Seen]) -> list[Seen]:
    """The bases in turn, so that the first few differ most."""
    by_base = collections.defaultdict(list)
    for one in seen:
        by_base[one.base].append(one)
    turns = itertools.zip_longest(*by_base.values())
    return [one for turn in turns for one in turn if one is not None][: 2 * len(PLACES)]


def _trap(pair: tuple[str, str], seen: Seen, place: Place, effect: Effect) -> Trap | str:
    reason = ""
    for beside in _companions(seen):
        found = _tried(pair, seen, place, effect, beside)
        if isinstance(found, Trap):
            return found
        reason = found if found == DOES_NOT_FIRE else reason or found
    return reason


DOES_NOT_FIRE = "does not fire"


def _tried(pair: tuple[str, str], seen: Seen, place: Place, effect: Effect, beside: tuple[str, ...]) -> Trap | str:
    """The trap of a class with these special methods beside its own, or why there is none."""
    for guarded in (False, True):
        source = source_of(seen, place, effect, beside, guarded)
        try:
            has_fired, has_raised = fires(source, place.kind, effect)
        except Exception as problem:
            return f"cannot be set up ({type(problem).__name__})"
        if has_fired and not has_raised:
            name = re.sub(r"\W+", "_", f"{pair[0]}_{pair[1].strip('_')}_{place.name}_{effect.name}_{seen.base}")
            twin = source_of(seen, place, NO_EFFECT, beside, guarded)
            where = (place.name, effect.name, seen.base)
            return Trap(name, pair, *where, source, "op_I", place.kind, bool(effect.reached), twin)
        if not has_fired:
            break
    return DOES_NOT_FIRE


def _companions(seen: Seen) -> Iterator[tuple[str, ...]]:
    """Special methods that the trap's own may need beside it, from none to all that were called with it."""
    yield ()
    for count in (1, 2):
        yield from itertools.combinations(seen.beside[:4], count)
    if len(seen.beside) > 2:
        yield seen.beside
    for name in ("__call__", "__iter__", "__eq__"):  # asked for, not called
        if name != seen.method and name not in seen.beside:
            yield (*seen.beside, name)


def source_of(seen: Seen, place: Place, effect: Effect, beside: tuple[str, ...], guarded: bool) -> str:
    """The trap's part of a module; `_I` stands for its number."""
    methods = [body_of(seen.method).text(effect.statement, effect.number, seen.base)]
    for name in beside:
        text = body_of(name).text("", "1", seen.base)
        methods.append(text.replace("return iter((1,))", "return self") if seen.iterates_itself else text)
    if "__eq__" in (seen.method, *beside) and "__hash__" in seen.without:
        methods.append(f"__hash__ = {seen.base}.__hash__")  # as the probe, which can be hashed
    inside = textwrap.indent("\n\n".join(methods), "    ")
    definition = _class(place.style, seen.base, inside)
    making = BASES[seen.base].replace("K(", "K_I(")
    body = body_at(place, re.sub(r"\bK\b", "K_I", seen.construct.code), guarded)
    operator = place.operator.replace("BODYBODY", textwrap.indent(body, "    ")).replace("BODY", body)
    parts = [effect.setting_up, definition, place.setting_up, operator]
    return "\n\n\n".join(part for part in parts if part).replace("OBJECT", making) + "\n"


def _class(style: str, base: str, inside: str) -> str:
    if style == "own":
        return f"class K_I({base}):\n{inside}"
    if style == "inherited":
        return f"class Base_I({base}):\n{inside}\n\n\nclass K_I(Base_I):\n    pass"
    return f"class Mixin_I:\n{inside}\n\n\nclass K_I(Mixin_I, {base}):\n    pass"


@functools.cache
def _header() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "traps_header"}
    exec(compile(HEADER, "<header>", "exec", dont_inherit=True), names)
    return names


TRIAL = "traps_trial"


@contextlib.contextmanager
def _loaded_as(name: str) -> Iterator[None]:
    """The library looks into the modules of classes."""
    sys.modules[name] = types.ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


def trial(source: str) -> dict[str, Any]:
    """The names of a module with that source, loaded only to be tried."""
    names = {**_header(), "__name__": TRIAL}
    exec(compile(source, "<trap>", "exec", dont_inherit=True), names)
    return names


def fires(source: str, kind: str, effect: Effect) -> tuple[bool, bool]:
    """Whether the effect happens when the operator gets a few tuples, one after the other; and whether it raises.

    Instances live on, as in a run: what happens at their end changes no tuple.
    """
    forget()
    names = trial(source)
    operator = names["op_I"]
    instances: dict[int, Any] = {}
    has_raised = False
    with watching(names, effect) as has_fired:
        for value in range(3):
            item = names["T"](value % 2, float(value))
            try:
                if kind == "process":
                    if item.k not in instances:
                        instances[item.k] = operator()
                    list(instances[item.k].process(item))
                else:
                    operator(item)
            except Exception:
                has_raised = True
        return has_fired(), has_raised


def numbered(trap: Trap, number: int) -> tuple[str, str]:
    """The source and the operator's name with a number, so that many traps can share a module."""
    return re.sub(r"_I\b", f"_{number}", trap.source), f"op_{number}"
