"""What code of the user's is loaded: all functions and generators that exist, wherever they are kept.

A file may have been edited since it was imported, and a function may live on in a list after its name is gone. So what
can run is not read from files and namespaces: the interpreter itself is asked which functions there are.
"""

from __future__ import annotations

import dis
import gc
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, compress, repeat
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any

from anabranch.analysis.compilation import compilation
from anabranch.analysis.words import words

Codes = dict[int, CodeType]  # by identity: equal code may stand in two places

_WRITES = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_DEREF", "DELETE_DEREF")
# Through these a name can be reached that is not in the code.
_DYNAMIC = words(
    "globals exec eval vars __dict__ setattr delattr getattr __setattr__ __delattr__ __globals__ f_globals f_locals"
)


@dataclass(frozen=True, slots=True)
class CodeIn:
    """The code that was found in a namespace, which is kept: as long as this is, no other has its identity."""

    names: dict[str, Any]
    codes: Codes


def live_codes(*, without: Set[int] = frozenset()) -> dict[int, CodeIn]:
    """The code of all functions and suspended generators, by the identity of their globals."""
    found: dict[int, CodeIn] = {}
    for names, code in _globals_and_code():
        if id(names) not in without and not is_of_dataclasses(code):
            found.setdefault(id(names), CodeIn(names, {})).codes[id(code)] = code
    return found


def _globals_and_code() -> Iterator[tuple[dict[str, Any], CodeType]]:
    for thing in _with_code():
        kind = type(thing)
        if kind is FunctionType:
            yield thing.__globals__, thing.__code__
        elif kind is GeneratorType and thing.gi_frame is not None:
            yield thing.gi_frame.f_globals, thing.gi_code
        elif kind is CoroutineType and thing.cr_frame is not None:
            yield thing.cr_frame.f_globals, thing.cr_code
        elif kind is AsyncGeneratorType and thing.ag_frame is not None:
            yield thing.ag_frame.f_globals, thing.ag_code


# By identity: a metaclass may say itself how its classes are hashed.
_WITH_CODE = frozenset(map(id, (FunctionType, GeneratorType, CoroutineType, AsyncGeneratorType)))


def _with_code() -> list[Any]:
    """There may be many millions of objects: no code of ours runs for any that is of another kind.

    Nor does that of another thread, while references to all of them are held: a tuple that it is just making could
    not grow if it were not its only owner. So they are held within one call of the interpreter's own functions.
    """
    found: list[Any] = []
    with thawed():
        was_enabled = gc.isenabled()
        gc.disable()  # objects stay in their generations
        try:
            for generation in (0, 1, 2):  # they only become older, so none is missed
                # To the end of both, where the interpreter lets go of them.
                objects = chain(_objects_of(generation), repeat(None))
                found += list(compress(objects, _have_code(_objects_of(generation))))
        finally:
            if was_enabled:
                gc.enable()
    return found


@contextmanager
def thawed() -> Iterator[None]:
    """What a program has frozen is not among the objects, nor among those that refer to others: inside, it is.

    It is frozen again when the compilation ends, which may look several times, and would leave much garbage.
    """
    if not gc.get_freeze_count():
        yield
        return
    gc.unfreeze()
    within = compilation()
    if within is not None:
        within.has_thawed = True
        yield
        return
    try:
        yield
    finally:
        freeze_again()


def freeze_again() -> None:
    """What was frozen, and all that there is besides: the interpreter freezes everything or nothing."""
    gc.collect()  # garbage that is frozen would stay forever
    gc.freeze()


def _objects_of(generation: int) -> Iterator[Any]:
    """Its objects, when the first is asked for; asked again, they are the same, in order, with new ones behind."""
    return chain.from_iterable(map(gc.get_objects, (generation,)))


def _have_code(objects: Iterator[Any]) -> Iterator[bool]:
    return map(_WITH_CODE.__contains__, map(id, map(type, objects)))


def is_of_dataclasses(code: CodeType) -> bool:
    """Methods that the library writes, in the namespace of the user's class; they touch only their instance."""
    return code.co_filename == "<string>" and code.co_qualname.startswith("__create_fn__.")


def with_inner(codes: Iterable[CodeType]) -> Iterator[CodeType]:
    """These, and the code of the functions inside them."""
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


@dataclass(frozen=True)
class Strays:
    """Loaded code that stands in no text, known only by the words in it."""

    codes: tuple[CodeType, ...]
    names: frozenset[str]  # of the functions themselves
    words: frozenset[str]  # all names and strings in it
    written: frozenset[str]  # the names that it assigns, and the strings by which it may

    def may_write(self, name: str) -> bool:
        return bool(self.codes) and (name in self.written or not _DYNAMIC.isdisjoint(self.words))

    def may_use(self, name: str) -> bool:
        return bool(self.codes) and (name in self.words or not _DYNAMIC.isdisjoint(self.words))


def strays_of(codes: Iterable[CodeType]) -> Strays:
    outer = tuple(codes)
    inner = list(with_inner(outer))
    strings = {s for code in inner for constant in code.co_consts for s in _strings(constant)}
    written = {
        str(instruction.argval)
        for code in inner
        for instruction in dis.get_instructions(code)
        if instruction.opname in _WRITES
    }
    return Strays(
        outer,
        frozenset(code.co_name for code in inner),
        frozenset(words_of(inner) | strings),
        frozenset(written | strings),
    )


def words_of(codes: Iterable[CodeType]) -> set[str]:
    """The names in the code: of globals, attributes, modules, and variables that functions share."""
    return {name for code in codes for names in (code.co_names, code.co_freevars, code.co_cellvars) for name in names}


def _strings(constant: Any) -> Iterator[str]:
    match constant:
        case str():
            yield constant
        case tuple() | frozenset():
            for part in constant:
                yield from _strings(part)
        case _:
            pass
