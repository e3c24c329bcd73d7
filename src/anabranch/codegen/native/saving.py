"""Native state as bytes, whole or as what changed since the last save.

A save holds records, not tables: those are built again from the keys in the records. Strings are saved by the pool, of
which a save of changes holds only what is new.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from anabranch.codegen.native.kernel import TEXTS
from anabranch.codegen.native.state import NativeState, OperatorState

if TYPE_CHECKING:
    from anabranch.codegen.native.element import NativeElement


_NATIVE = b"anabranch native state\n"


class WrongState(ValueError):
    """These bytes are not the state of this processing element."""


def is_native(saved: bytes) -> bool:
    return saved.startswith(_NATIVE)


def save(element: NativeElement, *, whole: bool) -> bytes:
    """The state; a save of changes builds on the saves before it."""
    state = element.state
    operators = {name: _saved(state, each, whole=whole) for name, each in state.operators.items()}
    first = 0 if whole else state.saved_texts
    pool = state.pool
    texts = pool.offsets[first : pool.count + 1].tobytes(), _bytes_from(pool, first).tobytes()
    for each in state.operators.values():
        each.changed[:] = 0
    state.saved_texts = pool.count
    content = (_mark(element), whole, first, state.meta.tobytes(), dict(element.ended), texts, operators)
    return _NATIVE + pickle.dumps(content, protocol=5)


def _bytes_from(pool: Any, first: int) -> Any:
    return pool.bytes[int(pool.offsets[first]) : int(pool.offsets[pool.count])]


def _saved(state: NativeState, each: OperatorState, *, whole: bool) -> tuple[int, bytes, bytes]:
    """How many records there are, which of them are here, and their words."""
    count = state.count(each.record)
    slots = np.arange(count, dtype=np.int64)
    if not whole and each.record.is_keyed:
        slots = np.flatnonzero(each.changed[:count])
    # `take` on rows of words: fancy indexing is many times slower (design, section 9).
    return count, slots.tobytes(), np.take(each.rows(count), slots, axis=0).tobytes()


def _mark(element: NativeElement) -> str:
    """What the layout of the state depends on."""
    return code_mark(element.source)


@lru_cache(maxsize=64)
def code_mark(source: str) -> str:
    """A mark of generated code without its comments: they name the lines of the program, which may move."""
    return sha256(ast.dump(ast.parse(source)).encode(errors="surrogatepass")).hexdigest()


def restore(element: NativeElement, saves: Iterable[bytes], *, is_whole: bool = True) -> None:
    """Take over what was saved: a whole and the changes since, or else only changes of what is here."""
    for number, each in enumerate(saves):
        if not is_native(each):
            raise WrongState("these bytes are not the state of a native processing element")
        _apply(element, pickle.loads(each[len(_NATIVE) :]), is_first=is_whole and number == 0)
    state = element.state
    for operator in state.operators.values():
        state.rebuild(operator)
        operator.changed[:] = 0
    state.saved_texts = state.pool.count


def _apply(element: NativeElement, content: Any, *, is_first: bool) -> None:
    mark, whole, first, meta, ended, texts, operators = content
    state = element.state
    if mark != _mark(element):
        raise WrongState("these bytes are the state of another processing element, or of another version of this one")
    if is_first and not whole:
        raise WrongState("the first of the saves to restore must be a whole one")
    state.meta[:] = np.frombuffer(meta, np.int64)
    element.ended = dict(ended)
    state.pool.extend(first, np.frombuffer(texts[0], np.int64), np.frombuffer(texts[1], np.uint8))
    state.meta[TEXTS] = state.pool.count
    for name, (count, slots, words) in operators.items():
        each = state.operators[name]
        while each.room < count:
            each.make_room()
        width = max(each.record.width, 1)
        places = np.frombuffer(slots, np.int64)
        each.records.reshape(-1, width)[places] = np.frombuffer(words, np.int64).reshape(-1, width)
