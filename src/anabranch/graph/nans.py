"""Which object a NaN is: `x in known` and `t == last` ask whether two are the same object before they compare them.

So that no program sees how its tuples travel, the NaN in a tuple is `math.nan`, whoever computed, read or sent it. Its
sign and its other bits are not kept: Python itself does not say what they are. NaNs that a program keeps elsewhere, in
its globals and in its state, are its own: in a pickle, one object stays one object.
"""

from __future__ import annotations

import importlib
import math
import struct
import sys
from typing import Any

_bits = struct.Struct("<d")
_LIBRARIES = ("math", "numpy", "cmath")  # each has a NaN of its own


class NanNames:
    """For a pickle: the NaNs in it by names, since floats are written without regard to which object they are."""

    def __init__(self) -> None:
        self._own: dict[int, tuple[float, int]] = {}  # with the object itself, so that its address stays its own

    def name(self, thing: Any) -> tuple[str, bytes | int] | None:
        """As `persistent_id` gives it; None of what is no NaN."""
        if type(thing) is not float or thing == thing:
            return None
        for library in _LIBRARIES:
            if getattr(sys.modules.get(library), "nan", None) is thing:
                return library, 0
        number = self._own.setdefault(id(thing), (thing, len(self._own)))[1]
        return f"own {number}", _bits.pack(thing)


class NamedNans:
    """The other way."""

    def __init__(self) -> None:
        self._own: dict[str, float] = {}

    def find(self, name: tuple[str, Any]) -> float:
        which, bits = name
        if which in _LIBRARIES:
            found: float = importlib.import_module(which).nan
            return found
        return self._own.setdefault(which, _bits.unpack(bits)[0])


def with_one_nan(values: list[Any]) -> list[Any]:
    """Floats, or None, as they are in tuples."""
    return [math.nan if value != value else value for value in values]
