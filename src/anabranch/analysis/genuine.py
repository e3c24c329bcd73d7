"""Whether what stands in a module or a class of a library is what the library put there.

Workers import libraries anew, so a function that the program has replaced (`math.sqrt = mine`) is there the original.
A name of a library counts as the library's only if the object under it is the very one that a fresh interpreter has: a
function of C by its name and its home, which cannot be forged; a function of Python by its code, which has to be the
one that the library's file gives.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import sys
from functools import cache
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from anabranch.analysis.modules import is_library_class, is_library_file
from anabranch.analysis.per_class import PerClass

_OF_C = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
_IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: nobody can give it other methods


def is_genuine(module: ModuleType, name: str) -> bool:
    """Whether a name of a library's module stands for what the library defines under it."""
    value = vars(module).get(name)
    match value:
        case BuiltinFunctionType() | MethodType():
            if _gives(module, name, value.__name__):  # also a method of an object that the library keeps
                return True
            is_named_so = value.__name__ in (name, f"openssl_{name}")
            return is_named_so and _is_home(str(value.__module__), module)
        case FunctionType():
            home = str(value.__globals__.get("__name__"))
            return (
                vars(sys.modules.get(home, module)) is value.__globals__
                and is_own_function(value)
                and (value.__name__ == name or _gives(module, name, value.__name__))
                and _is_home(home, module)
            )
        case type():
            return _is_home(value.__module__, module) and is_own_class(value)
        case _:
            inner = getattr(value, "__wrapped__", None)
            if type(value).__name__ == "_lru_cache_wrapper" and isinstance(inner, FunctionType):
                return is_own_function(inner) and inner.__name__ == name
            return _is_of_numpy(value, name)


def is_replaced(module: ModuleType, name: str) -> bool:
    """Whether a function or class of a library's module is not the library's own, or cannot be told to be."""
    value = vars(module).get(name)
    return isinstance(value, _CALLED) and not is_genuine(module, name)


_CALLED = (type, FunctionType, MethodType, BuiltinFunctionType)


def _is_home(home: str, module: ModuleType) -> bool:
    """Whether a module may have got a function from there: from itself, its package, or its part in C."""
    if home == module.__name__ or home.split(".")[0].lstrip("_") == module.__name__.split(".")[0].lstrip("_"):
        return True
    return home in _imported_by(module)


@cache
def _tree_of(file: str) -> ast.Module | None:
    lines = linecache.getlines(file)
    try:
        return ast.parse("".join(lines)) if lines else None
    except SyntaxError:
        return None


def _imported_by(module: ModuleType) -> frozenset[str]:
    file = getattr(module, "__file__", None)
    tree = _tree_of(file) if isinstance(file, str) and file.endswith(".py") else None
    if tree is None:
        return frozenset()
    return frozenset(
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


def _gives(module: ModuleType, name: str, value: str) -> bool:
    """Whether the library's own file says `name = value` or `name = anything.value`."""
    file = getattr(module, "__file__", None)
    tree = _tree_of(file) if isinstance(file, str) and file.endswith(".py") else None
    return tree is not None and any(
        isinstance(node, ast.Assign)
        and (getattr(node.value, "id", None) == value or getattr(node.value, "attr", None) == value)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        for node in ast.walk(tree)
    )


def _is_of_numpy(value: Any, name: str) -> bool:
    """numpy's own kinds of functions: the universal ones, and those that ask their arguments first."""
    kind = type(value)
    if kind.__module__ != "numpy" or kind.__name__ not in ("ufunc", "_ArrayFunctionDispatcher"):
        return False
    if kind.__name__ == "ufunc":
        return str(value.__name__) == _UFUNC_NAMES.get(name, name)
    inner = value._implementation
    return str(value.__name__) == name and (not isinstance(inner, FunctionType) or is_own_function(inner))


_UFUNC_NAMES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert", "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder",
    "pow": "power", "true_divide": "divide",
}  # fmt: skip


# Functions ------------------------------------------------------------------------------------------------------


def is_own_function(function: FunctionType) -> bool:
    """Whether a function of a library's file has the code that the file gives it."""
    file = function.__code__.co_filename
    return is_library_file(file) and function.__code__ in _codes_of(file)


@cache
def _codes_of(file: str) -> frozenset[CodeType]:
    """All code in a library's file, as a fresh interpreter would load it."""
    module = next((m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file), None)
    spec = getattr(module, "__spec__", None)
    try:
        if file.startswith("<frozen "):
            found = importlib.util.find_spec(file[len("<frozen ") : -1])
            code = found.loader.get_code(found.name) if found is not None else None  # type: ignore[union-attr]
        else:
            code = spec.loader.get_code(spec.name) if spec is not None else None
    except (ImportError, AttributeError, OSError, SyntaxError):
        return frozenset()
    return frozenset(_with_inner(code)) if code is not None else frozenset()


def _with_inner(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(found for each in inner for found in _with_inner(each))]


# Classes --------------------------------------------------------------------------------------------------------


@PerClass
def is_own_class(cls: type) -> bool:
    """Whether a class is a library's, and all its methods and those of its bases are what the library gave it."""
    return is_library_class(cls) and all(_has_own_members(base) for base in cls.__mro__)


@PerClass
def _has_own_members(cls: type) -> bool:
    if cls.__flags__ & _IMMUTABLE_TYPE or not is_library_class(cls):
        return True
    return all(_is_own_member(cls, name, member) for name, member in list(vars(cls).items()))


def _is_own_member(cls: type, name: str, member: Any) -> bool:
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if isinstance(member, property):
        return all(_is_own_member(cls, name, f) for f in (member.fget, member.fset, member.fdel) if f is not None)
    if isinstance(member, FunctionType):
        file = member.__code__.co_filename
        if file == "<string>":  # written by the factory of NamedTuples, or for a dataclass
            return str(member.__globals__.get("__name__", "")).startswith("namedtuple_") or hasattr(
                cls, "__dataclass_fields__"
            )
        return is_own_function(member)
    # What another class defines is not this one's, unless the interpreter's type was made so.
    return not isinstance(member, _OF_C) or getattr(member, "__objclass__", cls) in cls.__mro__
