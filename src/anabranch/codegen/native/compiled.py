"""The kernels of a part, compiled or taken from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anabranch.codegen import cache
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.part import Part


@dataclass(frozen=True, eq=False)
class Compiled:
    """Machine code by the name of its kernel."""

    kernels: dict[str, Callable[..., None]]


def compiled(part: Part, assembled: Assembled) -> Compiled:
    """Compile the kernels, which get all they need as two arrays of words."""
    names = ["process", *(f"close_{part.operators.index(name)}" for name in assembled.closing)]

    def build(module: Any) -> dict[str, Any]:
        from numba.core import types

        words = types.Array(types.int64, 1, "C")
        found = {name: getattr(module, name) for name in names}
        for kernel in found.values():
            kernel.compile((words, words))
            kernel.disable_compile()
        return found

    return Compiled(cache.load(assembled.source, build, compiled_for="two arrays of words"))
