"""What a piece of code names: the globals it reads and writes, and attributes; and its digest. Each is read once."""

from __future__ import annotations

import dis
import hashlib
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

_LOAD, _LOAD_IN_CLASS, _STORE, _DELETE, _MORE = (
    dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "EXTENDED_ARG")
)
# Code that names one of these may reach any attribute or global, by a text that it makes.
_BY_TEXT = frozenset(
    ("globals", "vars", "__dict__", "setattr", "delattr", "exec", "eval", "__setattr__", "__delattr__")
)


@dataclass(frozen=True)
class CodeNames:
    """Of a function's code and of all code within it, in the order of the text."""

    token: bytes
    globals: tuple[str, ...]
    attributes: tuple[str, ...]  # whatever follows a dot, and texts that could be the name of an attribute
    texts: tuple[str, ...]  # those that could be names of globals, where the code looks for some by their names
    is_by_text: bool
    words: tuple[str, ...]  # texts without blanks, which something may be registered by


_known: dict[
    int, tuple[CodeType, CodeNames]
] = {}  # by address, with the code itself, so that the address stays its own


def names_of(code: CodeType) -> CodeNames:
    found = _known.get(id(code))
    if found is None:
        found = _known[id(code)] = (code, _read(code))
    return found[1]


def _read(code: CodeType) -> CodeNames:
    globals_: dict[str, None] = {}
    attributes: dict[str, None] = {}
    words: dict[str, None] = {}
    for each in codes_in(code):
        globals_ |= dict.fromkeys(_globals_in(each))
        attributes |= dict.fromkeys(each.co_names)
        words |= dict.fromkeys(text for text in _texts(each.co_consts) if text and " " not in text and "\0" not in text)
    texts = dict.fromkeys(word for word in words if word.isidentifier())
    is_by_text = not _BY_TEXT.isdisjoint(attributes)
    return CodeNames(
        code_token(code),
        tuple(globals_),
        tuple(attributes | texts),
        tuple(name for name in texts if name not in globals_) if is_by_text else (),
        is_by_text,
        tuple(words),
    )


def _globals_in(code: CodeType) -> Iterator[str]:
    """The names of globals, a pair of bytes at a time: `dis` would take longer than all the rest.

    Within a class statement any name may be one.
    """
    pairs, more = code.co_code, 0
    for at in range(0, len(pairs), 2):
        operation, argument = pairs[at], pairs[at + 1] | more
        more = argument << 8 if operation == _MORE else 0
        if operation == _LOAD:
            yield code.co_names[argument >> 1]  # its last bit is for calls
        elif operation in (_LOAD_IN_CLASS, _STORE, _DELETE):
            yield code.co_names[argument]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def _texts(constants: Any) -> Iterator[str]:
    for each in constants:
        if type(each) is str:
            yield each
        elif type(each) in (tuple, frozenset):
            yield from sorted(_texts(each)) if type(each) is frozenset else _texts(each)


def code_token(code: CodeType) -> bytes:
    """The same in every process of the same Python, wherever the file is."""
    found = hashlib.blake2b(code.co_code, digest_size=16)
    found.update(code.co_exceptiontable)
    numbers = (code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    found.update(marshal.dumps((numbers, names), 2))
    for constant in code.co_consts:
        found.update(_constant(constant))
    return found.digest()


def _constant(constant: Any) -> bytes:
    if isinstance(constant, CodeType):
        return code_token(constant)
    if isinstance(constant, frozenset):
        return b"{" + b"".join(sorted(_constant(each) for each in constant)) + b"}"
    if isinstance(constant, tuple):
        return b"(" + b"".join(_constant(each) for each in constant) + b")"
    return marshal.dumps(constant, 2)
