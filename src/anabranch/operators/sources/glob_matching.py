"""Whether a path, as names, is matched by a glob; some names are no data unless they are asked for."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from anabranch.operators.formats.partial_output import is_partial


def is_matched(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path matches a glob, name by name."""
    if not patterns:
        return not names
    first, *rest = patterns
    if first == "**":
        if is_matched(names, rest):
            return True
        return bool(names) and is_data(names[0], "*") and is_matched(names[1:], patterns)
    return bool(names) and is_data(names[0], first) and fnmatch.fnmatch(names[0], first) and is_matched(names[1:], rest)


def is_data(name: str, pattern: str) -> bool:
    if name.startswith((".", "_")) and not pattern.startswith(name[0]):
        return False
    return not is_partial(name) or is_partial(pattern)
