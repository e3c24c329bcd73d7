"""Who has an object that is taken to be constant: nobody but where it was found, or it may be changed through another.

The statements of a module have run when a program is compiled. However they got hold of an object (`getattr`, `vars`,
a metaclass, a registry), the interpreter knows who refers to it now, and so no word of the text has to be understood.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from types import CellType, FrameType, FunctionType, MappingProxyType, MemberDescriptorType
from typing import Any

from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.lifting import READABLE, is_array, is_user_class
from anabranch.analysis.modules import at_release, moment, neighbours
from anabranch.analysis.origins import ClassAttribute, Default, GlobalName, InstanceAttribute, Origin, Variable

_CONTAINERS = (list, dict, set, tuple)
_PASSING_ON = (*_CONTAINERS, CellType, MappingProxyType)  # who has it depends on who has these
_REFERENCES = 4  # to a part: of what it is part of, of the list of parts, of a variable, of an argument


def why_held(origin: Origin, held: Any) -> Problem | None:
    """Why somebody may change an object who is not seen in the text."""
    if weakref.getweakrefcount(held) and not is_user_class(type(held)):
        return Problem("is held by a weak reference too, through which it may be changed")
    if _known.moment != moment():
        _known.forget()
    if isinstance(origin, GlobalName):
        _learn_globals(origin)
    inside = _containers_in(held)
    whole = {id(each) for each in inside}
    own = _ids_of_own_holders(origin)
    asked = _held_by_several(inside)
    _known.learn(asked)
    for each in asked:
        for holder in _known.holders_of(_Objects([each])):
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


@dataclass(slots=True)
class _Known:
    """Holders that were asked for in one analysis: to ask goes through all objects there are, so for many at once."""

    moment: tuple[int, int] = (0, 0)
    holders: dict[int, _Objects] = field(default_factory=dict)
    asked: _Objects = field(default_factory=_Objects)  # as long as they are here, nothing else has their identities

    def forget(self) -> None:
        self.moment = moment()
        self.holders.clear()
        self.asked.clear()

    def holders_of(self, objects: _Objects) -> Iterable[Any]:
        self.learn(objects)
        for each in objects:
            yield from self.holders[id(each)]

    def learn(self, objects: _Objects) -> None:
        new = _Objects()
        for each in objects:
            if id(each) not in self.holders:
                self.holders[id(each)] = _Objects()
                new.append(each)
        if not new:
            return
        self.asked += new
        wanted = set(map(id, new))
        for holder in gc.get_referrers(*new):
            if not isinstance(holder, _Objects | FrameType):
                for part in wanted.intersection(map(id, gc.get_referents(holder))):
                    self.holders[part].append(holder)


_known = _Known()
at_release(_known.forget)


def _learn_globals(origin: GlobalName) -> None:
    """All tables of the program at once, as most of them will be asked for, and then what holds them."""
    own = set()
    tables = _Objects()
    for namespace in neighbours(origin.namespace):
        own.add(id(namespace.names))
        for value in list(namespace.names.values()):
            if (type(value) in READABLE or is_array(value)) and id(value) not in _known.holders:
                tables += _held_by_several(_containers_in(value))
    outer = _Objects()
    for holder in _known.holders_of(tables):
        if isinstance(holder, _PASSING_ON) and id(holder) not in own:
            outer.append(holder)
    _known.learn(outer)


# No comprehensions and inner functions over the objects here: what they use of the function around them is in a cell,
# and so has one more holder.


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


def _held_by_several(inside: _Objects) -> _Objects:
    """The object, and those of its parts that something else holds too."""
    found = _Objects(inside[:1])
    for part in inside[1:]:
        if sys.getrefcount(part) > _REFERENCES:
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
    for other, value in names.items():  # noqa: SIM110  # a generator expression would be a holder
        if value is held and other != name:
            return False
    return True


def _is_harmless(holder: Any, held: Any, origin: Origin, depth: int = 4) -> bool:
    """Whether only the analysis has it, or instances of the class whose attribute it is, or a function running now."""
    if _is_ours(holder) or _is_instance(holder, held, origin):
        return True
    if depth == 0 or not isinstance(holder, _PASSING_ON):
        return False
    for each in _known.holders_of(_Objects([holder])):
        if getattr(each, "__dict__", None) is holder:  # its attributes, of which this must be the right one
            if not _is_ours(each) and not _is_instance(each, held, origin):
                return False
        elif not _is_harmless(each, holder, origin, depth - 1):
            return False
    return True


def _is_ours(holder: Any) -> bool:
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
