"""The kernels of a part, compiled or taken from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anabranch.codegen import cache
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.state import text_words
from anabranch.codegen.part import Part


@dataclass(frozen=True, eq=False)
class Compiled:
    """Machine code by the name of its kernel."""

    kernels: dict[str, Callable[..., None]]


def _prepare_state(assembled: Assembled) -> None:
    """The compiled code that makes the state larger, and takes it from what was saved: as little as it may need."""
    keyed = [record for record in assembled.records.values() if record.is_keyed]
    if keyed:
        from anabranch.codegen.runtime import tables

        tables.prepare(len(record.key_kinds) for record in keyed)
    uses_pool = any(argument.role == "pool" for argument in assembled.arguments)
    if uses_pool or assembled.texts or any(map(text_words, assembled.records.values())):
        from anabranch.codegen.runtime import string_pool

        string_pool.prepare()


def compiled(part: Part, assembled: Assembled) -> Compiled:
    """Compile the kernels, which get all they need as two arrays of words."""
    _prepare_state(assembled)
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
