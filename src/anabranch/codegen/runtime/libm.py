"""The C library's functions that CPython itself calls, under names that compilers do not know.

LLVM knows `pow` and `exp`: it replaces pow(x, 2.0) by x * x, folds constants with arithmetic of its own, and makes
calls of vector libraries out of loops, all of which may differ in the last place. Of `anabranch_pow` it knows nothing.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import types

from anabranch.codegen.runtime.intrinsics import DOUBLE, instruction


def _c_function(name: str, arity: int = 1) -> Any:
    symbol = f"anabranch_{name}"
    # What the process itself has loaded is what CPython calls.
    llvmlite.binding.add_symbol(symbol, ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value)

    def call(builder: Any, *values: Any) -> Any:
        declared = builder.module.globals.get(symbol)
        if declared is None:
            declared = ir.Function(builder.module, ir.FunctionType(DOUBLE, [DOUBLE] * arity), symbol)
            declared.attributes.add("nounwind")
            declared.attributes.add("readnone")  # but for errno, which nothing here reads
        return builder.call(declared, values)

    call.__name__ = f"c_{name}"
    return instruction(types.float64, *[types.float64] * arity)(call)


c_exp = _c_function("exp")
c_expm1 = _c_function("expm1")
c_log = _c_function("log")
c_log2 = _c_function("log2")
c_log10 = _c_function("log10")
c_log1p = _c_function("log1p")
c_sin = _c_function("sin")
c_cos = _c_function("cos")
c_tan = _c_function("tan")
c_asin = _c_function("asin")
c_acos = _c_function("acos")
c_atan = _c_function("atan")
c_sinh = _c_function("sinh")
c_cosh = _c_function("cosh")
c_tanh = _c_function("tanh")
c_asinh = _c_function("asinh")
c_acosh = _c_function("acosh")
c_atanh = _c_function("atanh")
c_erf = _c_function("erf")
c_erfc = _c_function("erfc")
c_pow = _c_function("pow", 2)
c_fmod = _c_function("fmod", 2)
c_atan2 = _c_function("atan2", 2)
