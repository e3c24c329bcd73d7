"""Arrays of a kernel from where they are in memory.

A kernel is called with the addresses and lengths of its arrays as words. Handing over the arrays themselves would cost
several microseconds for each, and references to them would be counted in its loop.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np.arrayobj import populate_array

from anabranch.codegen.runtime.intrinsics import INT, array_instruction

ROWS_OF_A_BLOCK = 256  # few enough to stay in the processor's nearest cache


def _array(context: Any, builder: Any, kind: Any, place: Any, length: Any) -> Any:
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(place, array.data.type),
        shape=cgutils.pack_array(builder, [length]),
        strides=cgutils.pack_array(builder, [size]),
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()


def _view(dtype: Any) -> Any:
    kind = types.Array(dtype, 1, "C")

    def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        places, at = values
        words = context.make_array(_signature.args[0])(context, builder, places).data
        address = builder.load(builder.gep(words, [at]))
        length = builder.load(builder.gep(words, [builder.add(at, at.type(1))]))
        place = builder.inttoptr(address, context.get_data_type(dtype).as_pointer())
        return _array(context, builder, kind, place, length)

    def view(_context: Any, places: Any, at: Any) -> Any:
        return kind(places, types.intp), codegen

    view.__name__ = f"{dtype}s"
    return intrinsic(view)


int64s = _view(types.int64)
float64s = _view(types.float64)
int32s = _view(types.int32)
uint16s = _view(types.uint16)
uint8s = _view(types.uint8)
booleans = _view(types.boolean)


@array_instruction
def block_of_rows(_context: Any) -> Any:
    """Room for a number for each row of a block, on the stack of the kernel; what is in it is not known."""
    kind = types.Array(types.int64, 1, "C")

    def codegen(context: Any, builder: Any, _signature: Any, _values: Any) -> Any:
        length = context.get_constant(types.intp, ROWS_OF_A_BLOCK)
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(INT, ROWS_OF_A_BLOCK))
        return _array(context, builder, kind, room, length)

    return kind(), codegen
