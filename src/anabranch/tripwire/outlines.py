"""The outline of a value that takes long to digest: what it is, how much of it there is, and a few parts of it."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Any

from anabranch.tripwire.objects import attributes_of, is_users
from anabranch.tripwire.values import ATOMS, Identities, marshal_2

_PARTS = 64
_DEPTH = 3


def outline(value: Any, identities: Identities, depth: int = _DEPTH) -> bytes:
    kind = type(value)
    if kind in ATOMS:
        return marshal_2(value)
    head = f"{kind.__qualname__}:".encode()
    if issubclass(kind, dict):
        count = dict.__len__(value)
        ends = [*islice(dict.items(value), _PARTS), *islice(reversed(dict.items(value)), _PARTS)]
        parts = [part for pair in ends for part in pair]
    elif issubclass(kind, (list, tuple)):
        plain = list if issubclass(kind, list) else tuple
        count = plain.__len__(value)
        parts = [plain.__getitem__(value, at) for at in range(0, count, max(1, count // _PARTS))]
    elif issubclass(kind, (set, frozenset)):
        count, parts = (set if issubclass(kind, set) else frozenset).__len__(value), []
    elif kind is deque:
        count, parts = len(value), [value[0], value[-1]] if value else []
    elif is_users(kind):
        held = dict(attributes_of(value))
        count, parts = len(held), [part for name in sorted(held) for part in (name, held[name])]
    else:
        count, parts = identities.number(value), []
    head += b"%d;" % count
    return head + b"".join(outline(part, identities, depth - 1) for part in parts) if depth else head
