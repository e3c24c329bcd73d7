"""The special methods that the interpreter itself has, so that the probe cannot forget one."""

from __future__ import annotations

import builtins
import collections
import contextlib
import datetime
import decimal
import enum
import fractions
import functools
import io
import itertools
import numbers
import operator
import pathlib
import re
import types
import typing

_HOMES = (
    builtins, collections, contextlib, datetime, decimal, enum, fractions, functools, io, itertools, numbers, operator,
    pathlib, re, types, typing,
)  # fmt: skip
_CALLED = (
    types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType,
    types.ClassMethodDescriptorType, classmethod, staticmethod,
)  # fmt: skip

# Callable under such a name, but not looked up by the interpreter on other objects than its own.
NOT_LOOKED_UP = {
    "__alloc__": "a method of bytearray",
    "__getformat__": "a method of float",
    "__setformat__": "a method of float",
    "__getitem_inner__": "a helper of typing's own classes",
    "__new_member__": "a helper of enumerations",
    "__subclasses__": "called by name only",
    "__build_class__": "a function",
    "__import__": "a function",
    "__concat__": "a name of __add__",
    "__iconcat__": "a name of __iadd__",
    "__inv__": "a name of __invert__",
    "__not__": "a name of `not`",
    "__typing_is_unpacked_typevartuple__": "read by typing of its own classes",
    "__typing_unpacked_tuple_args__": "read by typing of its own classes",
    "__set_typeparams__": "called by the compiler's own code",
    "__evaluate__": "a method of typing's own references",
    "__annotate__": "called by name only, for annotations that are postponed",
    "__cast__": "a method of typing's own references",
    "__convert_to_ast__": "a method of annotationlib's own references",
    "__make_new__": "a method of annotationlib's own references",
    "__resolve__": "a method of annotationlib's own references",
}


def special_method_names() -> frozenset[str]:
    """Every special name of the builtin and library types under which something can be called."""
    kinds = {kind for home in _HOMES for kind in vars(home).values() if isinstance(kind, type)}
    kinds |= {type(iter(made)) for made in ([], (), {}, set(), "", b"", range(1), reversed([]))}
    names = {name for kind in kinds for name, member in vars(kind).items() if isinstance(member, _CALLED)}
    names |= {name for name in vars(operator) if callable(getattr(operator, name))}
    return frozenset(name for name in names if name.startswith("__") and name.endswith("__"))
