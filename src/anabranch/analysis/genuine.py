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

from anabranch.analysis.modules import is_library_file, is_library_module
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
        case BuiltinFunctionType():
            return value.__name__ == name and _is_home(str(value.__module__), module)
        case FunctionType():
            home = sys.modules.get(value.__module__)
            return (
                home is not None
                and value.__globals__ is vars(home)
                and is_own_function(value)
                and (value.__name__ == name or _assigns(module, name))
                and _is_home(value.__module__, module)
            )
        case MethodType():
            # A method of an object that the library keeps, as in `random`.
            return _assigns(module, name)
        case type():
            home = sys.modules.get(value.__module__)
            return home is not None and _is_home(value.__module__, module) and is_genuine_class(value)
        case _:
            return _is_of_numpy(value, name)


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


def _assigns(module: ModuleType, name: str) -> bool:
    """Whether the library's own file gives something else this name, too."""
    file = getattr(module, "__file__", None)
    tree = _tree_of(file) if isinstance(file, str) and file.endswith(".py") else None
    return tree is not None and _has_assignment(tree.body, name)


def _has_assignment(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _is_of_numpy(value: Any, name: str) -> bool:
    """numpy's own kinds of functions: the universal ones, and those that ask their arguments first."""
    kind = type(value)
    if kind.__module__ != "numpy" or kind.__name__ not in ("ufunc", "_ArrayFunctionDispatcher"):
        return False
    inner = getattr(value, "_implementation", None)
    return not isinstance(inner, FunctionType) or is_own_function(inner)


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
def is_genuine_class(cls: type) -> bool:
    """Whether all methods of a library's class, and of its bases, are those that the library gave it."""
    return all(_has_own_members(base) for base in cls.__mro__)


def _has_own_members(cls: type) -> bool:
    if cls.__flags__ & _IMMUTABLE_TYPE:
        return True
    module = sys.modules.get(cls.__module__)
    if module is None or not is_library_module(module):
        return False
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
    return True
