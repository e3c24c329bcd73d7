"""The functions that compiled code calls: `from anabranch.codegen.runtime import find1`.

They are found when they are asked for, since they bring numba with them, which takes a third of a second to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from anabranch.codegen.runtime.native_functions import NATIVE_FUNCTIONS

_MODULES = {
    "intrinsics": "bits_of float_of natural",
    "views": "int64s float64s int32s uint16s uint8s booleans block_of_rows",
    "arithmetic": """
        add_int sub_int mul_int neg_int abs_int floordiv_int mod_int pow_int truediv_int lshift_int rshift_int
        truediv_float floordiv_float mod_float pow_float
        int_of_float trunc_float floor_float ceil_float round_float
        lt_int_float le_int_float gt_int_float ge_int_float eq_int_float ne_int_float""",
    "functions": " ".join(function.runtime for function in NATIVE_FUNCTIONS.values()),
    "hash": "key_hash",
    "hash_native": "hash_int hash_float hash_string hash_none hash_tuple",
    "tables": "float_key find1 insert1 findw insertw",
    "strings": "intern equals",
    "axis": "boundary_float edge_float",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["NATIVE_FUNCTIONS", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
