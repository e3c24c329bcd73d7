"""Which classes may have instances in common with a class: its bases, what derives from it, and the bases of that.

A method of a mixin writes attributes of a class that it does not know, so it counts as one of the family's own.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from anabranch.analysis.modules import Namespace, is_kind_of, namespace_of, user_modules, world
from anabranch.analysis.program import program_around
from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import Use, uses_of

_MAKING_CLASSES = ("new_class", "make_dataclass", "prepare_class", "__build_class__")
_families: dict[tuple[type, int], frozenset[str]] = {}


def related_names(cls: type) -> frozenset[str]:
    """The names of all classes of the family."""
    key = (cls, world())
    if key not in _families:
        _families[key] = _family_of(cls)
    return _families[key]


def _family_of(cls: type) -> frozenset[str]:
    module = sys.modules.get(cls.__module__)
    around = program_around(namespace_of(vars(module))) if module is not None else []
    seen: dict[int, type] = {id(cls): cls}
    waiting = [cls]
    while waiting:
        for derived in subclasses_around(waiting.pop(), around):
            if id(derived) not in seen:
                seen[id(derived)] = derived
                waiting.append(derived)
    names = {base.__name__ for each in seen.values() for base in each.__mro__}
    return frozenset(names | _made_later(names, around))


def subclasses_around(cls: type, around: list[Namespace]) -> list[type]:
    """What derives from it but the classes of modules that the program does not reach."""
    others = {module.__name__ for module in user_modules()} - {namespace.label for namespace in around}
    derived: list[type] = type.__subclasses__(cls)
    return [each for each in derived if each.__module__ not in others]


def _made_later(names: set[str], around: list[Namespace]) -> set[str]:
    """The names of classes that functions may yet join with some of these."""
    texts = [(text, namespace.names) for namespace in around for text in namespace.texts]
    if any(_makes_any_class(text, globals_) for text, globals_ in texts):
        return {name for text, _ in texts for name in _class_names(text)}
    found: set[str] = set()
    inner = [bases for text, _ in texts for bases in _inner_classes(text)]
    has_grown = True
    while has_grown:
        has_grown = False
        for bases in inner:
            if not bases <= found and not bases.isdisjoint(names | found):
                found |= bases
                has_grown = True
    known = {value.__name__: value for _, globals_ in texts for value in globals_.values() if is_kind_of(value, type)}
    return found | {base.__name__ for name in found & known.keys() for base in known[name].__mro__[:-1]}


def _class_names(text: SourceText) -> list[str]:
    return [node.name for node in walk(text.tree) if isinstance(node, ast.ClassDef)]


_inner: dict[SourceText, list[ast.ClassDef]] = {}


def _inner_definitions(text: SourceText) -> list[ast.ClassDef]:
    """The classes with bases that are defined in functions."""
    if text not in _inner:
        classes = [node for node in walk(text.tree) if isinstance(node, ast.ClassDef) and node.bases]
        _inner[text] = [node for node in classes if text.enclosing(node)]
    return _inner[text]


def _inner_classes(text: SourceText) -> list[frozenset[str]]:
    """For each of these, its name and those of its bases."""
    return [
        frozenset({node.name, *(_last_name(base) or "" for base in node.bases)}) for node in _inner_definitions(text)
    ]


def _last_name(base: ast.expr) -> str | None:
    match base:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return None


_making: dict[tuple[SourceText, int, int], bool] = {}


def _makes_any_class(text: SourceText, names: dict[str, Any]) -> bool:
    """Whether a function of the text makes classes of bases that are not plain to see."""
    key = (text, id(names), world())
    if key not in _making:
        _making[key] = _is_making_any_class(text, names)
    return _making[key]


def _is_making_any_class(text: SourceText, names: dict[str, Any]) -> bool:
    uses = uses_of(text)
    if any(use.is_deferred for name in _MAKING_CLASSES for use in (*uses.attributes[name], *uses.globals[name])):
        return True
    for name, found in uses.globals.items():
        held: Any = names.get(name, type if name == "type" else None)
        if is_kind_of(held, type) and issubclass(held, type) and any(map(_may_make_a_class, found)):
            return True
    return any(_is_unknown(base, text, names) for node in _inner_definitions(text) for base in node.bases)


def _is_unknown(base: ast.expr, text: SourceText, names: dict[str, Any]) -> bool:
    name = _last_name(base)
    if name is None:
        return True
    first: ast.expr = base
    while isinstance(first, ast.Attribute | ast.Subscript):
        first = first.value
    if isinstance(first, ast.Name) and first.id in names:
        return False
    return not any(isinstance(node, ast.ClassDef) and node.name == name for node in walk(text.tree))


def _may_make_a_class(use: Use) -> bool:
    if not use.is_deferred or use.is_annotation or not isinstance(use.node, ast.Name):
        return False
    match use.text.parents.get(use.node):
        case ast.Call(func=function, args=[ast.expr() as only], keywords=[]) if function is use.node:
            return isinstance(only, ast.Starred)
        case ast.Call(func=function, args=[_, ast.Tuple(elts=[]), _], keywords=[]) if function is use.node:
            return False  # it has no bases
        case ast.Call(func=function):
            return function is use.node or not (
                isinstance(function, ast.Name) and function.id in ("isinstance", "issubclass", "map", "super")
            )
        case ast.Compare() | ast.ClassDef() | ast.keyword() | ast.Attribute():
            return False
        case _:
            return True
