"""Whether an object that exists already may change while tuples flow.

Only what runs during a run can do that: functions, not the statements of a module, which have run by then. So the
texts that can reach the object are searched for functions that write it, or hand it where it cannot be followed.
"""

from __future__ import annotations

from typing import Any

from anabranch.analysis.constant_globals import changing_global, rebound_global
from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.constant_variables import (
    changing_attribute,
    changing_default,
    changing_variable,
    rebound_variable,
)
from anabranch.analysis.instances import IsIdle, never, written_attribute
from anabranch.analysis.modules import moment, world
from anabranch.analysis.origins import (
    ClassAttribute,
    Default,
    Given,
    GlobalName,
    Inside,
    InstanceAttribute,
    Origin,
    Variable,
)
from anabranch.analysis.settled import is_in_idle_code
from anabranch.analysis.shapes import UNKNOWN_SHAPE, shape_of
from anabranch.analysis.values import Const

_rebound: dict[tuple[Origin, int], Problem | None] = {}
_changing: dict[tuple[Origin, int], tuple[Any, tuple[int, int], Problem | None]] = {}


def why_rebound(origin: Origin) -> Problem | None:
    """Why the name may come to stand for something else during a run."""
    key = (origin, world())
    if key not in _rebound:
        match origin:
            case Inside():
                _rebound[key] = why_rebound(origin.origin)
            case GlobalName():
                _rebound[key] = rebound_global(origin)
            case Variable():
                _rebound[key] = rebound_variable(origin)
            case ClassAttribute(cls=cls, name=name) | InstanceAttribute(cls=cls, name=name):
                is_frozen = isinstance(origin, InstanceAttribute) and origin.is_frozen
                found = written_attribute(
                    cls, name, isinstance(origin, InstanceAttribute), is_frozen, _idle_for(origin)
                )
                _rebound[key] = Problem(found[0], found[1]) if found else None
            case Default() | Given():
                _rebound[key] = None
    return _rebound[key]


def why_changing(origin: Origin | None, held: Any) -> Problem | None:
    """Why a mutable object that was found there may change during a run."""
    if origin is None:
        return Problem("may be changed elsewhere")
    key = (origin, id(held))
    known = _changing.get(key)
    if known is None or known[0] is not held or known[1] != moment():
        problem = why_rebound(origin) or _changing_object(origin, held)
        known = _changing[key] = (held, moment(), problem)
    return known[2]


def _changing_object(origin: Origin, held: Any) -> Problem | None:
    # What is inside another object can be reached through that, so the whole of it counts.
    root = _root(origin.origin, held) if isinstance(origin, Inside) else held
    shape = shape_of(root) if root is not None else UNKNOWN_SHAPE
    match origin.origin if isinstance(origin, Inside) else origin:
        case GlobalName() as origin:
            return changing_global(origin, shape)
        case Variable() as origin:
            return changing_variable(origin, shape)
        case Default() as origin:
            return changing_default(origin, shape)
        case (ClassAttribute(cls=cls, name=name) | InstanceAttribute(cls=cls, name=name)) as origin:
            return changing_attribute(cls, name, shape, _idle_for(origin))
        case Given():
            return Problem("may be changed by whoever made it")


def _idle_for(origin: ClassAttribute | InstanceAttribute) -> IsIdle:
    return is_in_idle_code if isinstance(origin, InstanceAttribute) and origin.settled is not None else never


def _root(origin: Origin, held: Any) -> Any:
    """The object that was found there, where only a part of it is at hand; None where it is not known."""
    match origin:
        case GlobalName(namespace=namespace, name=name):
            return namespace.names.get(name)
        case Variable(home=home, name=name):
            cell = home.cell(name)
            return cell.cell_contents if cell is not None else None
        case ClassAttribute(cls=cls, name=name):
            return vars(cls).get(name)
        case InstanceAttribute(name=name, settled=Const(object=instance)):
            return getattr(instance, "__dict__", {}).get(name)
        case _:
            return None
