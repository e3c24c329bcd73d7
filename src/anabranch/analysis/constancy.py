"""Whether an object that exists already may change while tuples flow.

Only what runs during a run can do that: functions, not the statements of a module, which have run by then. So the
texts that can reach the object are searched for functions that write it, or hand it where it cannot be followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.analysis.constant_globals import changing_global, may_stand_for, rebound_global
from anabranch.analysis.constant_uses import Problem
from anabranch.analysis.constant_variables import (
    changing_attribute,
    changing_default,
    changing_variable,
    rebound_variable,
)
from anabranch.analysis.holders import why_held
from anabranch.analysis.instances import IsIdle, never, spellings, written_attribute
from anabranch.analysis.later_code import why_not_all_is_loaded
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
    namespace_around,
)
from anabranch.analysis.receivers import may_belong_to
from anabranch.analysis.reflection import MayBeOwner, exchanged_by_other_means, reached_by_other_means
from anabranch.analysis.settled import is_in_idle_code
from anabranch.analysis.shapes import UNKNOWN_SHAPE, Shape, shape_of
from anabranch.analysis.values import Const


@dataclass(frozen=True, eq=False, slots=True)
class _Answer:
    held: Any
    moment: tuple[int, int]
    problem: Problem | None


_rebound: dict[tuple[Origin, int], Problem | None] = {}
_changing: dict[tuple[Origin, int], _Answer] = {}


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
        namespace = namespace_around(origin)
        if _rebound[key] is None and namespace is not None:
            names = _names_of(origin)
            _rebound[key] = exchanged_by_other_means(namespace, names) or why_not_all_is_loaded(namespace)
    return _rebound[key]


def why_changing(origin: Origin | None, held: Any) -> Problem | None:
    """Why a mutable object that was found there may change during a run."""
    if origin is None:
        return Problem("may be changed elsewhere")
    key = (origin, id(held))
    known = _changing.get(key)
    if known is None or known.held is not held or known.moment != moment():
        problem = why_rebound(origin) or _changing_object(origin, held)
        known = _changing[key] = _Answer(held, moment(), problem)
    return known.problem


def _changing_object(origin: Origin, held: Any) -> Problem | None:
    # What is inside another object can be reached through that, so the whole of it counts.
    outer = origin.origin if isinstance(origin, Inside) else origin
    root = _root(outer, held) if isinstance(origin, Inside) else held
    shape = shape_of(root) if root is not None else UNKNOWN_SHAPE
    problem = _changed_by_name(outer, shape)
    namespace = namespace_around(outer)
    if problem is None and namespace is not None:
        problem = reached_by_other_means(namespace, _names_of(outer), shape, _owner_test(outer))
    return problem or why_held(outer, held if root is None else root)


def _owner_test(origin: Origin) -> MayBeOwner:
    """How to tell whether an expression may stand for the module, the class or the instance that has it."""
    match origin:
        case GlobalName(namespace=namespace):
            return lambda node, use, where: may_stand_for(node, use, where, namespace)
        case ClassAttribute(cls=cls) | InstanceAttribute(cls=cls):
            return lambda node, use, where: may_belong_to(node, use, where, cls)
        case _:
            return lambda node, use, where: False  # a variable is no attribute of anything


def _changed_by_name(origin: Origin, shape: Shape) -> Problem | None:
    match origin:
        case GlobalName():
            return changing_global(origin, shape)
        case Variable():
            return changing_variable(origin, shape)
        case Default():
            return changing_default(origin, shape)
        case ClassAttribute(cls=cls, name=name) | InstanceAttribute(cls=cls, name=name):
            return changing_attribute(cls, name, shape, _idle_for(origin))
        case Given() | Inside():
            return Problem("may be changed by whoever made it")


def _names_of(origin: Origin) -> list[str]:
    match origin:
        case ClassAttribute(cls=cls, name=name) | InstanceAttribute(cls=cls, name=name):
            return spellings(cls, name)
        case GlobalName(name=name) | Variable(name=name) | Default(name=name):
            return [name]
        case Inside(origin=outer):
            return _names_of(outer)
        case Given():
            return []


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
