"""Whether copies of a set have its order. Whole numbers hash the same everywhere, but where two want one place in a set
it matters which came first, and how large the set was made: a worker puts its copy together anew."""

from __future__ import annotations

import ast
import marshal
import sys
from typing import Any

_LARGEST = 10_000  # larger ones are not tried


def is_kept_by_copies(held: set[Any] | frozenset[Any]) -> bool:
    """Whether a copy that is made of its elements one after the other has the same order, and room."""
    plain: Any = set if isinstance(held, set) else frozenset
    elements = list(plain.__iter__(held))
    if len(elements) > _LARGEST:
        return False
    copied = plain(elements)
    return list(copied) == elements and sys.getsizeof(copied) == plain.__sizeof__(held) + _overhead(copied)


def _overhead(made: Any) -> int:
    return sys.getsizeof(made) - int(made.__sizeof__())


def is_kept_by_compiled_code(node: ast.Set) -> bool:
    """Whether a set that is written out has one order, though Python keeps it in another in the files of its own."""
    try:
        values = [ast.literal_eval(part) for part in node.elts]
    except (ValueError, TypeError):
        return True  # made anew each time, in the order of the text
    try:
        made = [frozenset(values), frozenset(sorted(values, key=marshal.dumps))]
    except TypeError:
        return True  # an element that cannot be hashed is an error
    orders = [list(each) for kept in made for each in (kept, set(kept), set().union([*kept]))]
    return all(order == orders[0] for order in orders)
