"""The kernels of a part, compiled or taken from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anabranch.codegen import cache
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.signatures import signature
from anabranch.codegen.part import Part


@dataclass(frozen=True, eq=False)
class Compiled:
    """Machine code by the name of its kernel."""

    kernels: dict[str, Callable[..., None]]


def compiled(part: Part, assembled: Assembled) -> Compiled:
    """Compile the kernels for the types of their arrays."""
    last = "uint16" if len(part.inputs) > 1 else None
    wanted = {"process": signature(part, assembled.arguments, last)}
    for name in assembled.closing:
        wanted[f"close_{part.operators.index(name)}"] = signature(part, assembled.arguments, "int64")

    def build(module: Any) -> dict[str, Any]:
        found = {}
        for name, types in wanted.items():
            kernel = getattr(module, name)
            kernel.compile(types)
            kernel.disable_compile()
            found[name] = kernel
        return found

    return Compiled(cache.load(assembled.source, build, compiled_for=str(wanted)))
