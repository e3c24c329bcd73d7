"""Whether copies of a set have its order: whole numbers hash the same everywhere, yet a worker makes its copy anew.

Where two elements want one place in a set, it matters which came first; and how much room a set has depends on how it
was made. Neither may matter here, so that also what is made of copies is the same.
"""

from __future__ import annotations

import ast
import marshal
from typing import Any

_LARGEST = 10_000  # larger ones are not tried
_ROOM = 8  # that a set begins with
_EMPTY, _SLOT = set[int]().__sizeof__(), 16


def is_kept_by_copies(held: set[Any] | frozenset[Any]) -> bool:
    """Whether a copy that is made of its elements one after the other has the same order, and room."""
    plain: Any = set if isinstance(held, set) else frozenset
    elements = list(plain.__iter__(held))
    if len(elements) > _LARGEST:
        return False
    copied = plain(elements)
    is_same = list(copied) == elements and _room(copied) == _room(held)
    return is_same and _have_places_of_their_own(elements, _room(held))


def is_kept_by_compiled_code(node: ast.Set) -> bool:
    """Whether a set that is written out has one order, though Python keeps it in another in the files of its own."""
    try:
        values = [ast.literal_eval(part) for part in node.elts]
        kept = frozenset(values)
    except (ValueError, TypeError):
        return True  # made anew each time, in the order of the text; or an error
    made: list[set[Any] | frozenset[Any]] = [
        kept,
        frozenset(sorted(kept, key=marshal.dumps)),
        set(kept),
        set[Any]().union(values),
    ]
    return all(list(each) == list(kept) and _have_places_of_their_own(list(each), _room(each)) for each in made)


def _room(held: set[Any] | frozenset[Any]) -> int:
    plain: Any = set if isinstance(held, set) else frozenset
    return max(_ROOM, (int(plain.__sizeof__(held)) - _EMPTY) // _SLOT)


def _have_places_of_their_own(elements: list[Any], room: int) -> bool:
    return len({hash(each) % room for each in elements}) == len(elements)
