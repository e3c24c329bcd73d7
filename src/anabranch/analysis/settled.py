"""Objects that are finished before tuples flow: a model that was fitted when the program was built, say.

A method that assigns attributes counts as changing them while tuples flow, since anybody might call it. It does not
where nobody can: no function that may run then names it, and the object itself is nowhere but where its methods are
called, so that no library gets it and calls a method that the program does not name.
"""

from __future__ import annotations

import ast
import functools
import gc
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, FrameType, FunctionType, MethodType
from typing import Any

from anabranch.analysis.constant_globals import may_be_module
from anabranch.analysis.constant_uses import is_known, is_store
from anabranch.analysis.frozen_objects import thawed
from anabranch.analysis.lifting import is_array
from anabranch.analysis.modules import Namespace, moment, namespace_of, world
from anabranch.analysis.program import program_around
from anabranch.analysis.reach import Identities, Objects, is_ours
from anabranch.analysis.reflection import may_call_by_name
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import FUNCTIONS, scope_of
from anabranch.analysis.shapes import is_judged_by_attributes
from anabranch.analysis.source import SourceText, locate
from anabranch.analysis.strings import words_in_strings
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import FunctionNode

# Functions that only run while a program is built -----------------------------------------------------------------

_idle: dict[tuple[FunctionNode, int], bool] = {}


def is_in_idle_code(use: Use, namespace: Namespace) -> bool:
    """Whether it stands in a function that cannot run while tuples flow, and in none that this makes."""
    node = use.node
    around = [n for n in use.text.enclosing(node) if isinstance(n, (*FUNCTIONS, ast.GeneratorExp))]
    return len(around) == 1 and isinstance(around[0], ast.FunctionDef) and _is_idle(around[0], use.text, namespace)


def _is_idle(function: ast.FunctionDef, text: SourceText, namespace: Namespace) -> bool:
    key = (function, world())
    if key not in _idle:
        _idle[key] = True  # functions that call only each other are not called at all
        _idle[key] = _is_definitely_idle(function, text, namespace)
        if not _idle[key]:
            _forget_guesses()
    return _idle[key]


def _forget_guesses() -> None:
    """What was concluded while this one was taken to be idle may be wrong."""
    for key in [key for key, is_idle in _idle.items() if is_idle]:
        del _idle[key]


def _is_definitely_idle(function: ast.FunctionDef, text: SourceText, namespace: Namespace) -> bool:
    name, scope = function.name, scope_of(function)
    holder = text.parents.get(function)
    if isinstance(holder, ast.ClassDef):
        holder = text.parents.get(holder)
    if not isinstance(holder, ast.Module) or name.startswith("__") or scope.is_generator or scope.is_asynchronous:
        return False
    is_app = any(_is_app(resolve(each, namespace.names)) for each in function.decorator_list)
    if function.decorator_list and not (is_app and len(function.decorator_list) == 1):
        return False
    if may_call_by_name(namespace):
        return False
    # An operator need not be named anywhere: a function is known to build something only where it is called for that.
    calls = 0
    for other in program_around(namespace):
        if (other.codes and not is_known(other)) or other.strays.may_use(name):
            return False
        for each in other.texts:
            if name not in each.text:
                continue
            if name in words_in_strings(each):
                return False  # getattr(model, "fit")
            for use in _uses(each, name):
                if not isinstance(use.node, ast.FunctionDef | ast.Import | ast.ImportFrom):
                    calls += 1
                if not is_app and not _is_idle_use(use, other):
                    return False
    return is_app or calls > 0


def _is_app(decorator: Any) -> bool:
    return getattr(decorator, "__module__", "") == "anabranch.api.app" and decorator.__name__ == "app"


def _uses(text: SourceText, name: str) -> Iterator[Use]:
    uses = uses_of(text)
    yield from uses.globals[name]
    yield from uses.attributes[name]
    for (_, own), found in uses.variables.items():
        if own == name and any(isinstance(use.node, ast.Import | ast.ImportFrom) for use in found):
            yield from found
    for (_, own), found in uses.class_names.items():
        if own == name:
            yield from found


def _is_idle_use(use: Use, namespace: Namespace) -> bool:
    node = use.node
    if isinstance(node, ast.FunctionDef):
        return not use.is_deferred
    if isinstance(node, ast.Import | ast.ImportFrom):
        return not use.is_deferred and all(alias.asname is None for alias in node.names)
    parent = use.text.parents.get(node)
    if not (isinstance(parent, ast.Call) and parent.func is node):
        return False
    return not use.is_deferred or is_in_idle_code(use, namespace)


# Objects that nobody else has -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Answer:
    held: Any
    moment: tuple[int, int]
    is_settled: bool


_answers: dict[int, _Answer] = {}


def is_settled(held: Any) -> bool:
    """Whether all that can be done to an instance while tuples flow is to call the methods that functions name."""
    known = _answers.get(id(held))
    if known is not None and known.moment != moment():
        _answers.clear()  # whom objects belong to may have changed
        known = None
    if known is None:
        known = _answers[id(held)] = _Answer(held, moment(), _is_definitely_settled(held))
    return known.is_settled


def _is_definitely_settled(held: Any) -> bool:
    module = sys.modules.get(type(held).__module__)
    if module is None or not is_judged_by_attributes(type(held)) or weakref.getweakrefcount(held):
        return False
    around = program_around(namespace_of(vars(module)))
    if any(_reaches_everything(namespace) for namespace in around):
        return False
    if not _keeps_to_itself(type(held)):
        return False
    with thawed():
        holders = gc.get_referrers(held)
        for holder in holders:  # a generator expression would be one more holder
            if not _is_harmless(holder, held, around, holders):
                return False
    return True


def _reaches_everything(namespace: Namespace) -> bool:
    """Whether it may find objects that nobody gave to it, or keeps some where they are not found."""
    values = list(namespace.names.values())
    has_arrays = any(is_array(value) and value.dtype.kind == "O" for value in values)
    return has_arrays or any("get_objects" in text.text or "get_referrers" in text.text for text in namespace.texts)


def _keeps_to_itself(cls: type) -> bool:
    """Whether no method hands its own object to anybody, but, while the program is built, to who called it."""
    for base in filter(is_judged_by_attributes, cls.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, staticmethod):
                continue
            for function in _functions_of(member):
                located = locate(function.__code__, function.__globals__)
                if located is None and name.startswith("__") and name.endswith("__"):
                    continue  # the dataclass decorator made it
                if located is None or not _keeps_its_first_argument(located.node, located.text, function):
                    return False
    return True


def _functions_of(member: Any) -> list[FunctionType]:
    held = [getattr(member, name, None) for name in ("__func__", "fget", "fset", "fdel", "func")]
    return [each for each in (member, *held) if isinstance(each, FunctionType)]


def _keeps_its_first_argument(node: FunctionNode, text: SourceText, function: FunctionType) -> bool:
    parameters, namespace = scope_of(node).parameters, namespace_of(function.__globals__)
    for use in uses_of(text).variables[node, parameters[0]] if parameters else ():
        is_returned = isinstance(text.parents.get(use.node), ast.Return) and is_in_idle_code(use, namespace)
        if not is_returned and not _is_read_by_attribute(use):
            return False
    return True


def _is_read_by_attribute(use: Use) -> bool:
    parent = use.text.parents.get(use.node)
    return isinstance(use.node, ast.Name) and isinstance(parent, ast.Attribute) and not is_store(use.node)


def _is_harmless(holder: Any, held: Any, around: list[Namespace], holders: list[Any]) -> bool:
    """Whether who holds the object can only call its methods by their names."""
    match holder:
        case FrameType():
            return True
        case _ if is_ours(holder):
            return True
        case MethodType():
            return holder.__self__ is held and not _is_a_way_to_idle_code(holder.__func__)
        case CellType():
            return _is_harmless_cell(holder, held, holders)
        case dict():
            return _is_harmless_namespace(holder, held, around)
        case tuple():
            return _are_harmless_arguments(holder, held, holders)
        case _:
            return False


def _is_a_way_to_idle_code(function: Any) -> bool:
    located = locate(function.__code__, function.__globals__) if isinstance(function, FunctionType) else None
    if located is None or not isinstance(located.node, ast.FunctionDef):
        return True
    return _is_idle(located.node, located.text, namespace_of(function.__globals__))


def _is_harmless_namespace(names: dict[str, Any], held: Any, around: list[Namespace]) -> bool:
    owners = [namespace for namespace in around if namespace.names is names]
    return bool(owners) and all(_are_harmless_globals(owner, held, around) for owner in owners)


def _are_harmless_globals(owner: Namespace, held: Any, around: list[Namespace]) -> bool:
    for name in [name for name, value in list(owner.names.items()) if value is held]:
        for other in around:
            for text in other.texts:
                uses = uses_of(text)
                plain = uses.globals[name] if other is owner else []
                dotted = [use for use in uses.attributes[name] if may_be_module(use, other, owner)]
                for use in (*plain, *dotted):
                    is_attribute = isinstance(text.parents.get(use.node), ast.Attribute) and not is_store(use.node)
                    if use.is_deferred and not is_attribute and not is_in_idle_code(use, other):
                        return False
    return True


# These look for holders of what they are given themselves: in a generator expression, that would have one more.


def _is_harmless_cell(cell: CellType, held: Any, holders: list[Any]) -> bool:
    closures = gc.get_referrers(cell)
    for closure in closures:
        functions = gc.get_referrers(closure) if isinstance(closure, tuple) else [closure]
        for function in functions if closure is not holders and not _is_a_note(closure) else ():
            is_variable = isinstance(function, FunctionType) and _is_harmless_variable(function, held)
            if function is not closures and not is_variable and not _is_a_note(function):
                return False
    return True


def _are_harmless_arguments(arguments: tuple[Any, ...], held: Any, holders: list[Any]) -> bool:
    for owner in gc.get_referrers(arguments):
        if owner is not holders and not _is_a_note(owner) and not _is_harmless_partial(owner, arguments, held):
            return False
    return True


def _is_a_note(holder: Any) -> bool:
    """What the analysis itself has written down."""
    return type(holder) in (Objects, Identities)


def _is_harmless_variable(function: FunctionType, held: Any) -> bool:
    located = locate(function.__code__, function.__globals__)
    if located is None:
        return False
    names = [
        name
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        if cell.cell_contents is held
    ]
    for name in names:
        around = [n for n in located.text.enclosing(located.node) if isinstance(n, FUNCTIONS)]
        owner = next((n for n in around if name in scope_of(n).own), None)
        if owner is None or scope_of(owner).is_generator:
            return False
        inner = [use for use in uses_of(located.text).variables[owner, name] if use.function is not owner]
        if not all(map(_is_read_by_attribute, inner)):
            return False
    return True


def _is_harmless_partial(holder: Any, arguments: tuple[Any, ...], held: Any) -> bool:
    function = holder.func if isinstance(holder, functools.partial) and holder.args is arguments else None
    located = locate(function.__code__, function.__globals__) if isinstance(function, FunctionType) else None
    if located is None:
        return False
    for name, value in zip(scope_of(located.node).parameters, arguments, strict=False):
        uses = uses_of(located.text).variables[located.node, name] if value is held else []
        if not all(map(_is_read_by_attribute, uses)):
            return False
    return True
