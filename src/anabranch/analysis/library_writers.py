"""Functions of libraries that give attributes to what they are handed, and objects that are handed to libraries."""

from __future__ import annotations

import ast
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from anabranch.analysis import purity
from anabranch.analysis.constant_uses import Problem, location_of
from anabranch.analysis.modules import Namespace, is_library_class, is_library_function, world
from anabranch.analysis.program import program_around
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import is_local, owner_of
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.words import words

# They write attributes of their arguments.
_WRITERS = words("update_wrapper wraps dataclass total_ordering parse_args parse_known_args parse_intermixed_args")
_HARMLESS: tuple[Any, ...] = (
    isinstance, issubclass, len, str, repr, print, hash, id, callable, format, hasattr, getattr, type, bool, int, float,
    sorted, list, tuple, set, frozenset, dict, min, max, sum, any, all, zip, enumerate, map, filter, iter, next, super,
    reversed, round, abs, range,
)  # fmt: skip
_writers: dict[tuple[int, int], tuple[Namespace, Problem | None]] = {}
_handed: dict[tuple[type, int], Problem | None] = {}


def written_by_library(cls: type, namespace: Namespace) -> Problem | None:
    """Why a library may assign attributes of a class or of its instances while tuples flow."""
    key = (id(namespace), world())
    if key not in _writers:
        _writers[key] = (namespace, _writer_around(namespace))
    if _writers[key][1] is not None:
        return _writers[key][1]
    if (cls, world()) not in _handed:
        _handed[cls, world()] = _handed_out(cls, namespace)
    return _handed[cls, world()]


def _writer_around(namespace: Namespace) -> Problem | None:
    for other in program_around(namespace):
        for text in other.texts:
            uses = uses_of(text)
            for name in sorted(_WRITERS):
                for use in (*uses.attributes.get(name, ()), *uses.globals.get(name, ())):
                    if _may_write_something_known(use):
                        return Problem("may be assigned by a library", location_of(use))
    return None


def _may_write_something_known(use: Use) -> bool:
    """But for `@wraps(function)` before a definition, and calls for functions that are defined around them."""
    if not isinstance(getattr(use.node, "ctx", None), ast.Load):
        return False
    parent = use.text.parents.get(use.node)
    if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False  # @dataclass
    if not isinstance(parent, ast.Call) or parent.func is not use.node:
        return True
    around = use.text.parents.get(parent)
    if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and parent in around.decorator_list:
        return False
    name = use.node.attr if isinstance(use.node, ast.Attribute) else getattr(use.node, "id", "")
    if name.startswith("parse_"):
        return use.is_deferred and (len(parent.args) > 1 or any(k.arg in ("namespace", None) for k in parent.keywords))
    return use.is_deferred and not _is_defined_around(parent.args[:1], use)


def _is_defined_around(arguments: list[ast.expr], use: Use) -> bool:
    match arguments:
        case [ast.Name(id=name) as node]:
            owner = owner_of(name, node, use.text)
            uses = uses_of(use.text).variables[owner, name] if owner is not None else []
            stores = [u.node for u in uses if not isinstance(getattr(u.node, "ctx", None), ast.Load)]
            return bool(stores) and all(isinstance(each, ast.FunctionDef) for each in stores)
        case _:
            return False


def _handed_out(cls: type, namespace: Namespace) -> Problem | None:
    """Where a function hands the class, or an instance that has a name, to a library that is not known to be pure."""
    for other in program_around(namespace):
        for name, held in list(other.names.items()):
            kind = held if isinstance(held, type) else type(held)
            if not (cls in kind.__mro__ or kind in cls.__mro__) or is_library_class(kind):
                continue
            for text in other.texts:
                for use in uses_of(text).globals.get(name, ()):
                    if use.is_deferred and not use.is_annotation and _may_be_written_by_callee(use, other):
                        return Problem("is handed to a library, which may assign it", location_of(use))
    return None


def _may_be_written_by_callee(use: Use, where: Namespace) -> bool:
    if not isinstance(getattr(use.node, "ctx", None), ast.Load):
        return False
    parent = use.text.parents.get(use.node)
    if isinstance(parent, ast.keyword | ast.Starred):
        parent = use.text.parents.get(parent)
    if not isinstance(parent, ast.Call) or parent.func is use.node:
        return False
    function = parent.func
    base = function
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name) or is_local(base.id, base, use.text):
        return False  # a function of the program's own, or a stream's
    callee = resolve(function, where.names)
    if callee is not None:
        return _may_write(callee)
    receiver = resolve(function.value, where.names) if isinstance(function, ast.Attribute) else None
    if receiver is None or isinstance(receiver, ModuleType | type):
        return False
    is_container = isinstance(receiver, list | dict | set | tuple | str)
    return not is_container and is_library_class(type(receiver)) and not _is_of_ours(type(receiver))


def _is_of_ours(held: Any) -> bool:
    return str(getattr(held, "__module__", "")).partition(".")[0] == "anabranch"


def _may_write(callee: Any) -> bool:
    if any(callee is known for known in _HARMLESS) or purity.spec_of(callee) is not None:
        return False
    if _is_of_ours(callee) or isinstance(callee, type):
        return False
    if isinstance(callee, FunctionType):
        return is_library_function(callee)
    return isinstance(callee, BuiltinFunctionType) or is_library_class(type(callee))
