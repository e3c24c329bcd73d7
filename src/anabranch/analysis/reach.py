"""What a program reaches: the namespaces whose code may run while it does, and who holds the objects in them.

A function can only run if somebody calls it, and what a program calls it reaches: from its operators on, by the
objects that they have, and by the imports and names in their texts. What else is loaded in the process says nothing.
"""

from __future__ import annotations

import ast
import gc
import re
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime, time
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from anabranch.analysis.compilation import compilation
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import (
    Namespace,
    is_library_class,
    is_library_function,
    loaded_modules,
    module_of,
    namespace_of,
    user_modules,
)
from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import walk
from anabranch.graph.model import Graph


class Objects(list[Any]):
    """Lists of this kind are the analysis' own, and known by their class when holders are looked at."""


class Identities(dict[int, Any]):
    """Of the same kind."""


@dataclass(eq=False, slots=True)
class Reached:
    """The namespaces that are reached, and of all objects on the way who has them."""

    namespaces: list[Namespace] = field(default_factory=list)
    holders: dict[int, Objects] = field(default_factory=dict)
    seen: Identities = field(default_factory=Identities)  # kept: nothing else has their identities


def reach_of_program(graph: Graph) -> Reached:
    """From the operators of a program, and from the modules in which they were put together."""
    files = {operator.location.file for operator in graph.operators}
    homes = [vars(module) for module in user_modules() if getattr(module, "__file__", None) in files]
    given = [part for operator in graph.operators for part in _given_by_user(operator.definition)]
    return _reach(homes, given)


def reach_of_namespaces(namespaces: Iterable[Namespace]) -> Reached:
    return _reach([namespace.names for namespace in namespaces], [])


def reach_of_code(given: Any) -> Reached:
    """From a function or class that is looked at by itself, or from the names of a module."""
    return _reach([], [given])


def _given_by_user(value: Any) -> list[Any]:
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return [part for each in value[:_MOST_PARTS] for part in _given_by_user(each)]
    if is_ours(value) and is_dataclass(value):
        return [part for each in fields(value) for part in _given_by_user(getattr(value, each.name))]
    if is_ours(value):
        return gc.get_referents(value)
    return [] if type(value) in _PLAIN else [value]


_PLAIN = ATOM_TYPES - {datetime, time}
_MOST_PARTS = 1_000  # the items of a source are tuples of plain values, and may be many


def _reach(homes: list[dict[str, Any]], given: Iterable[Any]) -> Reached:
    walk = _Walk()
    for names in homes:
        walk.enter(names)
    for part in given:
        if walk.leads_on(part, given):
            walk.wait_for(part)
    walk.go()
    return walk.found


class _Walk:
    """From object to object, and from text to text; libraries lead nowhere."""

    def __init__(self) -> None:
        self.found = Reached()
        self._by_name = {module.__name__: module for module in user_modules()}
        self._of_users = {id(vars(module)): module for module in self._by_name.values()}
        self._of_libraries = {id(vars(module)) for module in loaded_modules()} - self._of_users.keys()
        self._globals: set[int] = set()
        self._waiting = Objects()

    def go(self) -> None:
        read = 0
        while self._waiting or read < len(self.found.namespaces):
            while self._waiting:
                self._follow(self._waiting.pop())
            for namespace in self.found.namespaces[read:]:
                for name in _named_modules(namespace, self._by_name):
                    self.enter(vars(self._by_name[name]))
                read += 1

    def enter(self, names: dict[str, Any]) -> None:
        if id(names) not in self._globals:  # perhaps seen, as a dictionary that somebody has
            self._globals.add(id(names))
            self.found.namespaces.append(namespace_of(names))
            self.wait_for(names)

    def wait_for(self, part: Any) -> None:
        if id(part) not in self.found.seen:
            self.found.seen[id(part)] = part
            self._waiting.append(part)

    def _follow(self, holder: Any) -> None:
        parts = gc.get_referents(holder)
        if id(holder) in self._globals:
            parts = [part for name, part in list(holder.items()) if name not in _OF_THE_LOADER]
        elif issubclass(type(holder), weakref.ref):
            parts.append(weakref.ref.__call__(holder))
        for part in parts:
            if self.leads_on(part, holder):
                self.found.holders.setdefault(id(part), Objects()).append(holder)
                self.wait_for(part)

    def leads_on(self, part: Any, holder: Any) -> bool:
        kind = type(part)  # isinstance would ask the object, too, which may be the user's
        if kind in (datetime, time) and part.tzinfo is not None:
            self.wait_for(part.tzinfo)  # perhaps of a class of the user's
        if kind in ATOM_TYPES or id(part) in self._of_libraries:
            return False
        if issubclass(kind, ModuleType):
            self._enter_module(part, holder)
            return False
        if id(part) in self._of_users:
            self.enter(part)
            return False
        if _is_of_a_library(part):
            return False
        if issubclass(kind, type) or kind is FunctionType:
            home = self._by_name.get(module_of(part))
            if home is not None:
                self.enter(vars(home))
        if kind is FunctionType and not _is_of_a_named_tuple(part):
            self._enter_globals(part.__globals__)
        return True

    def _enter_globals(self, names: dict[str, Any]) -> None:
        """Perhaps of code that was executed, and that is in no module."""
        if id(names) not in self._of_libraries:
            self.enter(names)

    def _enter_module(self, module: ModuleType, holder: Any) -> None:
        """A package has all modules of it that are loaded; whoever has the package gets at those that it names."""
        if id(vars(module)) not in self._of_users:
            return
        package = self._of_users.get(id(holder))
        if package is not None and module.__name__ == f"{package.__name__}.{module.__name__.rpartition('.')[2]}":
            return
        self.enter(vars(module))
        waiting = [module]
        texts = namespace_of(holder).texts if package is not None else None
        while waiting:
            outer = waiting.pop()
            for name, inner in list(vars(outer).items()):
                is_inside = isinstance(inner, ModuleType) and inner.__name__ == f"{outer.__name__}.{name}"
                if is_inside and id(vars(inner)) in self._of_users and _may_name(texts, name):
                    self.enter(vars(inner))
                    waiting.append(inner)


def _is_of_a_named_tuple(function: FunctionType) -> bool:
    """`__new__`, which the library makes in a namespace of its own."""
    return function.__name__ == "__new__" and str(function.__globals__.get("__name__")).startswith("namedtuple_")


_OF_THE_LOADER = ("__loader__", "__spec__", "__builtins__")  # which may know all that it has loaded
_DYNAMIC = r"getattr|attrgetter|vars|__dict__|eval|exec|getmembers"


def _may_name(texts: list[SourceText] | None, name: str) -> bool:
    return texts is None or any(re.search(rf"\b({name}|{_DYNAMIC})\b", text.text) for text in texts)


def _is_of_a_library(part: Any) -> bool:
    """What belongs to a library or to us: from there no function of the program gets on by itself."""
    kind = type(part)
    if issubclass(kind, type):
        return is_library_class(part)
    if kind is FunctionType:
        return is_library_function(part)
    return kind in (CodeType, FrameType) or is_ours(part)


def is_ours(holder: Any) -> bool:
    """Whether the analysis itself has it, or a shell that shows it."""
    home = holder.__module__ if type(holder) is FunctionType else type(holder).__module__
    return str(home).split(".")[0] in OURS


OURS = ("anabranch", "IPython")


# What texts name -----------------------------------------------------------------------------------------------------


def _named_modules(namespace: Namespace, by_name: dict[str, ModuleType]) -> list[str]:
    named = {name for text in namespace.texts for name in mentioned_modules(text, namespace.names)}
    # What runs may import it where the text does not any more.
    stray = namespace.strays.words
    return [name for name in by_name if name in named or (stray and name.rpartition(".")[2] in stray)]


_mentioned: dict[SourceText, set[str]] = {}


def mentioned_modules(text: SourceText, names: dict[str, Any]) -> set[str]:
    """The modules that a text imports anywhere, or whose names stand in it as strings."""
    if text not in _mentioned:
        package = str(names.get("__package__") or "").split(".")
        found: set[str] = set()
        for node in walk(text.tree):
            match node:
                case ast.Import(names=aliases):
                    found |= {alias.name for alias in aliases}
                case ast.ImportFrom(module=module, level=level, names=aliases):
                    parents = package[: len(package) - level + 1] if level else []
                    base = ".".join([*parents, *([module] if module else [])])
                    found |= {base, *(f"{base}.{alias.name}" for alias in aliases)}
                case ast.Constant(value=str(string)) if string != "__main__":
                    found.add(string)  # importlib.import_module("…"), sys.modules["…"]
                case _:
                    pass
        _mentioned[text] = found
    return _mentioned[text]


# By imports alone, both ways -----------------------------------------------------------------------------------------


def linked_to(namespace: Namespace) -> list[Namespace]:
    """The namespaces that are linked to one by imports, in whichever direction: who may have run before it."""
    within = compilation()
    if within is None:
        return Links().around(namespace)
    if within.links is None:
        within.links = Links()
    return within.links.around(namespace)


class Links:
    """Which modules refer to which, as they are now."""

    def __init__(self) -> None:
        self._all = [namespace_of(vars(module)) for module in user_modules()]
        self._by_module: dict[str | int, list[int]] = {}  # several modules may have one name
        for at, each in enumerate(self._all):
            for key in _keys(each):
                self._by_module.setdefault(key, []).append(at)
        self._linked: list[set[int]] = [set() for _ in self._all]  # places in `_all`, both ways
        for at, each in enumerate(self._all):
            for other in self._referred(each):
                self._linked[at].add(other)
                self._linked[other].add(at)
        self._known: dict[int, list[Namespace]] = {}

    def around(self, namespace: Namespace) -> list[Namespace]:
        if id(namespace) not in self._known:
            self._known[id(namespace)] = self._component(namespace)
        return self._known[id(namespace)]

    def _component(self, namespace: Namespace) -> list[Namespace]:
        begin = next((at for at, each in enumerate(self._all) if each.names is namespace.names), None)
        found = sorted(self._referred(namespace)) if begin is None else [begin]
        inside = set(found)
        for at in found:  # grows while it is walked
            more = sorted(self._linked[at] - inside)
            inside.update(more)
            found += more
        return [namespace, *(self._all[at] for at in found if at != begin)]

    def _referred(self, one: Namespace) -> set[int]:
        """By what it holds: modules, and what was defined in them; or by the modules that its texts name."""
        keys: set[str | int] = {name for text in one.texts for name in mentioned_modules(text, one.names)}
        for value in list(one.names.values()):
            kind = type(value)
            keys.add(id(value) if issubclass(kind, ModuleType) else module_of(_of_a_module(value, kind)))
        return {at for key in keys for at in self._by_module.get(key, ())}


def _of_a_module(value: Any, kind: type) -> Any:
    return value if issubclass(kind, type) or kind is FunctionType else kind


def _keys(namespace: Namespace) -> Iterator[str | int]:
    if namespace.module is not None:
        yield namespace.module.__name__
        yield id(namespace.module)
