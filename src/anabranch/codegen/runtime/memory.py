"""Memory as compiled code handles it: words at any place of an array of bytes, and blocks copied.

The places must be inside the arrays; nobody checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from anabranch.codegen.runtime.intrinsics import INT, array_instruction


def _place(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [at])


def _loading(width: int) -> Callable[..., Any]:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], *values)
        word = builder.load(builder.bitcast(place, ir.IntType(width).as_pointer()), align=1)
        return builder.zext(word, INT) if width < 64 else word

    return codegen


@array_instruction
def load8(_context: Any, data: Any, at: Any) -> Any:
    """Eight bytes as a word, the first byte lowest."""
    return types.int64(data, types.int64), _loading(64)


@array_instruction
def load4(_context: Any, data: Any, at: Any) -> Any:
    """Four bytes as a word, the first byte lowest."""
    return types.int64(data, types.int64), _loading(32)


@array_instruction
def load1(_context: Any, data: Any, at: Any) -> Any:
    return types.int64(data, types.int64), _loading(8)


@array_instruction
def copy(_context: Any, target: Any, at: Any, source: Any, start: Any, count: Any) -> Any:
    """Copies `count` elements. (A loop would do; the compiler would spend a quarter of a second on its vectors.)"""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, at, other, start, count = values
        into = _place(context, builder, signature.args[0], array, at)
        source = _place(context, builder, signature.args[2], other, start)
        size = context.get_abi_sizeof(into.type.pointee)
        cgutils.raw_memcpy(builder, into, source, count, size)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64, types.int64), codegen


@array_instruction
def borrowed(_context: Any, array: Any) -> Any:
    """The same array, without counting references to it, which is atomic and slow where a loop calls functions.

    For arrays that somebody else keeps alive: the arguments of a kernel.
    """

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = context.make_array(signature.return_type)(context, builder, values[0])
        made.meminfo = cgutils.get_null_value(made.meminfo.type)
        made.parent = cgutils.get_null_value(made.parent.type)
        return made._getvalue()

    return array(array), codegen
