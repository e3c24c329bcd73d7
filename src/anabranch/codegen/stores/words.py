"""Values as words of native state, and words as values.

A word is exact or there is none: what native code could not keep as it is does not fit, and the state it is part of
stays in the Python form.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.codegen.types import EXACT_IN_FLOAT, Type
from anabranch.graph.values import LARGEST_INT, SMALLEST_INT

if TYPE_CHECKING:
    from anabranch.codegen.runtime.string_pool import StringPool

Path = tuple[str, ...]

NOT_KEPT: Mapping[str, Any] = {"int": 0, "float": 0.0, "bool": False, "str": ""}
_CANONICAL_NAN = 0x7FF8000000000000


class Unfit(Exception):
    """A value that has no words, and why."""


def value_of(kind: str, bits: int, pool: StringPool) -> Any:
    """What a word holds; None where it is no string."""
    match kind:
        case "float":
            value = struct.unpack("<d", struct.pack("<q", bits))[0]
            return value if value == value else math.nan
        case "bool":
            return bits != 0
        case "str":
            return pool.value(bits).decode() if bits >= 0 else None
    return bits


def word_of(kind: str, value: Any, pool: StringPool) -> int:
    """The word of a value that is not None."""
    match kind:
        case "int" if type(value) is int and SMALLEST_INT <= value <= LARGEST_INT:
            return value
        case "bool" if type(value) is bool:
            return int(value)
        case "float" if type(value) is float:
            return bits_of(value)
        case "float" if type(value) is int and abs(value) <= EXACT_IN_FLOAT:
            return bits_of(float(value))  # inference has seen that it does not show
        case "str" if type(value) is str:
            try:
                return pool.add(value)
            except UnicodeEncodeError:
                raise Unfit("is text that is not valid Unicode") from None
        case "int" if type(value) is int:
            raise Unfit("needs more than 64 bits")
    raise Unfit(f"is a {type(value).__name__} where native code keeps a {kind}")


def no_word(kind: str) -> int:
    """The word in place of None."""
    return -1 if kind == "str" else 0


def bits_of(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


# Keys ---------------------------------------------------------------------------------------------------------------


def key_of_words(kinds: Sequence[str], words: Sequence[int], pool: StringPool) -> list[Any]:
    """The values of a key's attributes."""
    values = []
    at = 0
    while at < len(kinds):
        is_there = True
        if kinds[at] == "has":
            is_there = words[at] != 0
            at += 1
        value = value_of(kinds[at], words[at], pool) if is_there else None
        values.append(math.nan if value != value else value)
        at += 1
    return values


def words_of_key(kinds: Sequence[str], values: Sequence[Any], pool: StringPool) -> tuple[int, ...]:
    """Equal words for equal keys, as `keyed.py` writes them."""
    words: list[int] = []
    given = iter(values)
    flagged = False
    for kind in kinds:
        if kind == "has":
            flagged = True
            continue
        value = next(given)
        if flagged:
            words.append(value is not None)
        words.append(0 if value is None else key_word(kind, value, pool))
        flagged = False
    return tuple(map(int, words))


def key_word(kind: str, value: Any, pool: StringPool) -> int:
    if kind == "float" and type(value) is float:
        return bits_of(value + 0.0) if value == value else _CANONICAL_NAN
    return word_of(kind, value, pool)


# Fields -------------------------------------------------------------------------------------------------------------


def words_of_field(kind: Type, value: Any, path: Path, kept: Mapping[Path, str], pool: StringPool) -> dict[Path, int]:
    """The words of a value, nested tuples included, by their paths: those that are `kept`, of these kinds."""
    words: dict[Path, int] = {}
    _put(words, kind, value, path, kept, pool)
    return words


def _put(
    words: dict[Path, int], kind: Type, value: Any, path: Path, kept: Mapping[Path, str], pool: StringPool
) -> None:
    flag = (*path, "?")
    if value is None and (kind.optional or kind.kind == "none"):
        words.update({each: no_word(of) for each, of in kept.items() if each[: len(path)] == path})
        if flag in kept:
            words[flag] = 0
        return
    if flag in kept:
        words[flag] = 1
    if kind.kind == "tuple":
        if type(value) is not (kind.named or tuple) or len(value) != len(kind.members):
            raise Unfit(f"is a {type(value).__name__} where native code keeps a {kind}")
        for (name, each), member in zip(kind.members, value, strict=True):
            _put(words, each, member, (*path, name), kept, pool)
    elif path in kept:
        words[path] = word_of(kept[path], value, pool)


def field_of_words(kind: Type, path: Path, words: Mapping[Path, tuple[str, int]], pool: StringPool) -> Any:
    """A value from the words that are kept of it.

    In place of what is not kept stands a zero: nothing in the operator reads that.
    """
    flag = words.get((*path, "?"))
    if kind.optional and flag is not None and not flag[1]:
        return None
    if kind.kind == "tuple":
        members = [field_of_words(each, (*path, name), words, pool) for name, each in kind.members]
        return kind.named._make(members) if kind.named else tuple(members)  # type: ignore[attr-defined]
    return value_of(*words[path], pool) if path in words else NOT_KEPT.get(kind.kind)
