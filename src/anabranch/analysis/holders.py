"""Who has an object that is taken to be constant: nobody but where it was found, or it may be changed through another.

The statements of a module have run when a program is compiled. However they got hold of an object (`getattr`, `vars`,
a metaclass, a registry), the interpreter knows who refers to it now, and so no word of the text has to be understood.
"""

from __future__ import annotations

import gc
import sys
import weakref
from types import CellType, FrameType, FunctionType, MappingProxyType
from typing import Any

from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.modules import neighbours
from anabranch.analysis.origins import ClassAttribute, Default, GlobalName, InstanceAttribute, Origin, Variable

_CONTAINERS = (list, dict, set, tuple)
_REFERENCES = 4  # to a part: of what it is part of, of the list of parts, of a variable, of an argument


def why_held(origin: Origin, held: Any) -> Problem | None:
    """Why somebody may change an object who is not seen in the text."""
    if weakref.getweakrefcount(held) and not is_user_class(type(held)):
        return Problem("is held by a weak reference too, through which it may be changed")
    inside = _containers_in(held)
    asked = _held_by_several(inside)
    own = _own_holders(origin)
    holders = gc.get_referrers(*asked)
    lists = {id(asked), id(inside), id(holders), id(own)}
    known = {*map(id, inside), *map(id, own)}
    for holder in holders:
        if id(holder) not in lists | known and not _is_harmless(holder, origin, lists):
            return Problem(f"is held by {_described(holder)} too, through which it may be changed")
    return None


# No comprehensions and inner functions here: what they use of the function around them has one more holder, a cell.


def _held_by_several(inside: list[Any]) -> list[Any]:
    """The object, and those of its parts that something else holds too: to look for holders takes long."""
    found = inside[:1]
    for part in inside[1:]:
        if sys.getrefcount(part) > _REFERENCES:
            found.append(part)
    return found


def _containers_in(held: Any) -> list[Any]:
    """The object, and what it consists of as far as that can be changed or holds something that can."""
    found, seen = [held], {id(held)}
    for each in found:  # grows while it is walked
        if type(each) in _CONTAINERS:
            for part in [*each, *each.values()] if isinstance(each, dict) else each:
                if type(part) in _CONTAINERS and id(part) not in seen:
                    seen.add(id(part))
                    found.append(part)
    return found


def _own_holders(origin: Origin) -> list[Any]:
    """Where it was found, and what of it the text has been read for."""
    match origin:
        case GlobalName(namespace=namespace):
            return [each.names for each in neighbours(namespace)]
        case Variable(home=home, name=name):
            return [home.cell(name)]
        case Default(home=home):
            function = home.function
            return [function.__defaults__, function.__kwdefaults__]
        case ClassAttribute(cls=cls):
            return [part for base in cls.__mro__ for part in gc.get_referents(base) if type(part) is dict]
        case _:
            return []


def _is_harmless(holder: Any, origin: Origin, lists: set[int], depth: int = 4) -> bool:
    """Whether only the analysis has it, or instances of the class whose attribute it is, or a function running now."""
    if _is_ours(holder) or _is_instance(holder, origin):
        return True
    if depth == 0 or not isinstance(holder, (*_CONTAINERS, CellType, MappingProxyType)):
        return isinstance(holder, FrameType)
    found = gc.get_referrers(holder)
    lists.update((id(found), id(holder)))
    for each in found:  # noqa: SIM110  # a generator expression would be one more holder
        if id(each) not in lists and not _is_harmless(each, origin, lists, depth - 1):
            return False
    return True


def _is_ours(holder: Any) -> bool:
    """Whether the analysis itself has it, or a shell that shows it."""
    home = holder.__module__ if isinstance(holder, FunctionType) else type(holder).__module__
    return str(home).split(".")[0] in ("anabranch", "IPython")


def _is_instance(holder: Any, origin: Origin) -> bool:
    """Whether an attribute is held by an instance of its class; what becomes of these is read from the text."""
    if not isinstance(origin, InstanceAttribute | ClassAttribute):
        return False
    return isinstance(holder, origin.cls) or issubclass(origin.cls, type(holder))


def _described(holder: Any) -> str:
    return f"a {type(holder).__name__}"


def is_held_only_by(held: Any, owner: Any) -> bool:
    """Whether an object is an attribute of its owner, and nobody else has it."""
    holders = gc.get_referrers(held)
    for holder in holders:
        if holder is not owner and holder is not vars(owner) and not isinstance(holder, FrameType):
            return False
    return True
