"""Who has an object that is taken to be constant: nobody but where it was found, or it may be changed through another.

The statements of a module have run when a program is compiled. However they got hold of an object (`getattr`, `vars`,
a metaclass, a registry), the interpreter knows who refers to it now, and so no word of the text has to be understood.
"""

from __future__ import annotations

import gc
import sys
import weakref
from dataclasses import dataclass, field
from enum import Enum
from types import CellType, CodeType, FrameType, FunctionType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any

from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import (
    Namespace,
    at_release,
    is_library_class,
    is_library_function,
    moment,
    neighbours,
)
from anabranch.analysis.origins import (
    ClassAttribute,
    Default,
    GlobalName,
    InstanceAttribute,
    Origin,
    Variable,
    namespace_around,
)

_CONTAINERS = (list, dict, set, tuple)
_PASSING_ON = (*_CONTAINERS, CellType, MappingProxyType)  # who has it depends on who has these


def why_held(origin: Origin, held: Any) -> Problem | None:
    """Why somebody may change an object who is not seen in the text."""
    if weakref.getweakrefcount(held) and not is_user_class(type(held)):
        return Problem("is held by a weak reference too, through which it may be changed")
    if _known.moment != moment():
        _known.forget()
    namespace = namespace_around(origin)
    if namespace is None:
        return None
    _known.learn(namespace)
    inside = _containers_in(held)
    whole = {id(each) for each in inside}
    own = _ids_of_own_holders(origin)
    for each in inside:
        for holder in _known.holders_of(each):
            is_own = each is held and id(holder) in own and _is_under_its_name(holder, held, origin)
            if not is_own and id(holder) not in whole and not _is_harmless(holder, each, origin):
                return Problem(f"is held by a {type(holder).__name__} too, through which it may be changed")
    return None


def is_held_only_by(held: Any, owner: Any) -> bool:
    """Whether an object is an attribute of its owner, and nobody else has it."""
    for holder in gc.get_referrers(held):
        if holder is not owner and holder is not vars(owner) and not isinstance(holder, FrameType):
            return False
    return True


# Who refers to what --------------------------------------------------------------------------------------------------


class _Objects(list[Any]):
    """Lists of this kind are the analysis' own, and known by their class when holders are looked at."""


class _Identities(dict[int, Any]):
    """Of the same kind."""


@dataclass(slots=True)
class _Known:
    """Who holds what, of all that can be reached from the modules of a program, looked up once in an analysis.

    What functions of the program may change, they reach from there; to go through all objects of the process would
    take long where it holds much else.
    """

    moment: tuple[int, int] = (0, 0)
    holders: dict[int, _Objects] = field(default_factory=dict)
    seen: _Identities = field(default_factory=_Identities)  # kept: nothing else has their identities
    modules: set[int] = field(default_factory=set)

    def forget(self) -> None:
        self.moment = moment()
        self.holders.clear()
        self.seen.clear()
        self.modules.clear()

    def holders_of(self, held: Any) -> _Objects:
        return self.holders.get(id(held), _NOBODY)

    def learn(self, namespace: Namespace) -> None:
        """Go through all that can be reached from the program's modules, and write down who holds what."""
        if not self.modules:
            for module in list(sys.modules.values()):
                if isinstance(module, ModuleType):
                    self.modules.add(id(vars(module)))
        waiting = _Objects()
        for each in neighbours(namespace):
            self.modules.add(id(each.names))
            if id(each.names) not in self.seen:
                self.seen[id(each.names)] = each.names
                waiting.append(each.names)
        while waiting:
            holder = waiting.pop()
            for part in gc.get_referents(holder):
                if type(part) in ATOM_TYPES or id(part) in self.modules or _is_of_a_library(part):
                    continue
                self.holders.setdefault(id(part), _Objects()).append(holder)
                if id(part) not in self.seen:
                    self.seen[id(part)] = part
                    waiting.append(part)


_NOBODY = _Objects()
_known = _Known()
at_release(_known.forget)


def _is_of_a_library(part: Any) -> bool:
    """Modules, and what belongs to a library or to us: from there no function of the program gets on by itself."""
    if isinstance(part, ModuleType):
        return True
    if isinstance(part, type):
        return is_library_class(part)
    if isinstance(part, FunctionType):
        return is_library_function(part)
    return isinstance(part, CodeType | FrameType) or is_ours(part)


def _containers_in(held: Any) -> _Objects:
    """The object, and what it consists of as far as that can be changed or holds something that can."""
    found, seen = _Objects([held]), {id(held)}
    for each in found:  # grows while it is walked
        if type(each) in _CONTAINERS:
            for part in each.values() if isinstance(each, dict) else each:
                if type(part) in _CONTAINERS and id(part) not in seen:
                    seen.add(id(part))
                    found.append(part)
    return found


# Which of them cannot change it --------------------------------------------------------------------------------------


def _ids_of_own_holders(origin: Origin) -> set[int]:
    """Where it was found, and what of it the text has been read for."""
    match origin:
        case GlobalName(namespace=namespace):
            return {id(each.names) for each in neighbours(namespace)}
        case Variable(home=home, name=name):
            return {id(home.cell(name))}
        case Default(home=home):
            return {id(home.function.__defaults__), id(home.function.__kwdefaults__)}
        case ClassAttribute(cls=cls):
            return {id(part) for base in cls.__mro__ for part in gc.get_referents(base) if type(part) is dict}
        case _:
            return set()


def _is_under_its_name(holder: Any, held: Any, origin: Origin) -> bool:
    """Whether a class has it as no other attribute, too; of globals, all names are read in the text."""
    if not isinstance(origin, ClassAttribute) or not isinstance(holder, dict):
        return True
    return _has_no_other(holder, held, origin.name)


def _has_no_other(names: dict[Any, Any], held: Any, name: str) -> bool:
    return not any(value is held and other != name for other, value in names.items())


def _is_harmless(holder: Any, held: Any, origin: Origin, depth: int = 4) -> bool:
    """Whether only the analysis has it, or instances of the class whose attribute it is, or a function running now."""
    if is_ours(holder) or _is_instance(holder, held, origin):
        return True
    if depth == 0 or id(holder) in _known.modules or not isinstance(holder, _PASSING_ON):
        return False
    for each in _known.holders_of(holder):
        if getattr(each, "__dict__", None) is holder:  # its attributes, of which this must be the right one
            if not is_ours(each) and not _is_instance(each, held, origin):
                return False
        elif not _is_harmless(each, holder, origin, depth - 1):
            return False
    return True


def is_ours(holder: Any) -> bool:
    """Whether the analysis itself has it, or a shell that shows it."""
    home = holder.__module__ if isinstance(holder, FunctionType) else type(holder).__module__
    return str(home).split(".")[0] in ("anabranch", "IPython")


def _is_instance(holder: Any, held: Any, origin: Origin) -> bool:
    """Whether an attribute is held by an instance of its class; what becomes of these is read from the text."""
    if not isinstance(origin, InstanceAttribute | ClassAttribute) or not isinstance(holder, origin.cls):
        return False
    if not _has_no_other(getattr(holder, "__dict__", {}), held, origin.name):
        return isinstance(holder, Enum)
    for base in type(holder).__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, MemberDescriptorType) and name != origin.name and _in_slot(slot, holder) is held:
                return False
    return True


def _in_slot(slot: MemberDescriptorType, holder: Any) -> Any:
    try:
        return slot.__get__(holder)
    except AttributeError:
        return None
