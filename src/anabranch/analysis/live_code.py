"""What code of the user's is loaded: all functions and generators that exist, wherever they are kept.

A file may have been edited since it was imported, and a function may live on in a list after its name is gone. So what
can run is not read from files and namespaces: the interpreter itself is asked which functions there are.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from types import CodeType
from typing import Any

from anabranch.analysis.living import living_code
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
    for names, codes in living_code(without):
        mine = {id(code): code for code in codes if not is_of_dataclasses(code)}
        if mine:
            found[id(names)] = CodeIn(names, mine)
    return found


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
