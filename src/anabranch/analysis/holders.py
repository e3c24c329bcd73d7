"""Who has an object that is taken to be constant: nobody but where it was found, or it may be changed through another.

The statements of a module have run when a program is compiled. However they got hold of an object (`getattr`, `vars`,
a metaclass, a registry), the interpreter knows who refers to it now, and so no word of the text has to be understood.
"""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from types import CellType, FrameType, MappingProxyType, MemberDescriptorType
from typing import Any

from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.frozen_objects import thawed
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.modules import Namespace
from anabranch.analysis.origins import (
    ClassAttribute,
    Default,
    GlobalName,
    InstanceAttribute,
    Origin,
    Variable,
    namespace_around,
)
from anabranch.analysis.program import holders_of, program_around
from anabranch.analysis.reach import OURS, Objects, is_ours

_CONTAINERS = (list, dict, set, tuple)
_PASSING_ON = (*_CONTAINERS, CellType, MappingProxyType)  # who has it depends on who has these


def why_held(origin: Origin, held: Any) -> Problem | None:
    """Why somebody may change an object who is not seen in the text."""
    if weakref.getweakrefcount(held) and not is_user_class(type(held)):
        return Problem("is held by a weak reference too, through which it may be changed")
    namespace = namespace_around(origin)
    if namespace is None:
        return None
    inside = _containers_in(held)
    whole = {id(each) for each in inside}
    own = _ids_of_own_holders(origin)
    for each in inside:
        for holder in holders_of(each, namespace):
            is_own = each is held and id(holder) in own and _is_under_its_name(holder, held, origin)
            if not is_own and id(holder) not in whole and not _is_harmless(holder, each, origin, namespace):
                return Problem(f"is held by a {type(holder).__name__} too, through which it may be changed")
    return None


def is_held_only_by(held: Any, owner: Any) -> bool:
    """Whether an object is an attribute of its owner, and nobody else has it.

    What another thread has in hand for a moment it lets go of: who has it for good is there at every look.
    """
    for look in range(_LOOKS):
        if look:
            time.sleep(_BETWEEN_LOOKS)
        with thawed():
            kinds = _kinds_of_holders((held,))
        if all(identity in (id(owner), id(vars(owner))) or _has_in_passing(kind) for identity, kind in kinds.items()):
            return True
    return False


_LOOKS, _BETWEEN_LOOKS = 5, 0.001  # seconds, for which others may go on


def _kinds_of_holders(held: tuple[Any]) -> dict[int, type]:
    """Who has an object, by identity, and of which class each is.

    Nobody of them is held by us while code of another thread runs: a tuple that it is just making could not grow. So
    they are looked at within one call of the interpreter's own functions.
    """
    kinds = dict(zip(map(id, _holders(held)), map(type, _holders(held)), strict=False))
    return {identity: kind for identity, kind in kinds.items() if identity != id(held)}


def _holders(held: tuple[Any]) -> Iterator[Any]:
    """When the first is asked for; asked again, they are the same, in order."""
    return chain.from_iterable(map(gc.get_referrers, held))


_LIST_ITERATOR: type = type(iter(list[Any]()))


def _has_in_passing(kind: type) -> bool:
    """A function that runs, or a loop over it in some thread, which may wait within; or the analysis itself."""
    return kind in (FrameType, _LIST_ITERATOR) or str(kind.__module__).split(".")[0] in OURS


def _containers_in(held: Any) -> Objects:
    """The object, and what it consists of as far as that can be changed or holds something that can."""
    found, seen = Objects([held]), {id(held)}
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
            return {id(each.names) for each in program_around(namespace)}
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


def _is_harmless(holder: Any, held: Any, origin: Origin, namespace: Namespace, depth: int = 4) -> bool:
    """Whether only the analysis has it, or instances of the class whose attribute it is, or a function running now."""
    if is_ours(holder) or _is_instance(holder, held, origin):
        return True
    if depth == 0 or not isinstance(holder, _PASSING_ON):
        return False
    if any(holder is each.names for each in program_around(namespace)):
        return False
    for each in holders_of(holder, namespace):
        if getattr(each, "__dict__", None) is holder:  # its attributes, of which this must be the right one
            if not is_ours(each) and not _is_instance(each, held, origin):
                return False
        elif not _is_harmless(each, holder, origin, namespace, depth - 1):
            return False
    return True


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
