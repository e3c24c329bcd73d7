"""Classes that were defined again, as by a cell of a notebook that is run again: one name, and two types."""

from __future__ import annotations

import sys
from weakref import WeakKeyDictionary

from anabranch.api.where import Caller
from anabranch.errors import BuildError, Location
from anabranch.graph.schema import is_defined_again

_first_used: WeakKeyDictionary[type, Location] = WeakKeyDictionary()


def note_use(kind: type, where: Caller) -> None:
    """Remember at which line a type was first used in a program."""
    _first_used.setdefault(kind, where.location)


def check_not_redefined(what: str, wanted: type, carried: type, where: Caller) -> None:
    """A `BuildError` where a function is for tuples of a class, and a stream carries those of its other definition."""
    if not is_defined_again(wanted, carried):
        return
    name, used = carried.__name__, _used_at(carried)
    if _is_current(carried, where):
        raise BuildError(
            f"{what} takes an earlier definition of {name} than the stream carries{used}",
            location=where.location,
            hint="the class was defined again: define the function anew, too (in a notebook, run its cell again)",
        )
    raise BuildError(
        f"{what} takes {name}, but the stream carries an earlier definition of {name}{used}",
        location=where.location,
        hint="the class was defined again: build the stream anew, too, from its source on (in a notebook, run those "
        "cells again)",
    )


def check_one_definition(what: str, one: type, other: type, where: Caller) -> None:
    """The same of streams that something takes together."""
    if is_defined_again(one, other):
        raise BuildError(
            f"{what} takes streams of one type, not of two definitions of {one.__name__}{_used_at(one, other)}",
            location=where.location,
            hint="the class was defined again: build both streams anew, from their sources on (in a notebook, run "
            "those cells again)",
        )


def _used_at(*kinds: type) -> str:
    places = [str(_first_used[kind]) for kind in kinds if kind in _first_used]
    return f", first used at {' and at '.join(places)}" if places else ""


def _is_current(kind: type, where: Caller) -> bool:
    """Whether the name of a class stands for this one."""
    module = sys.modules.get(kind.__module__)
    return kind in (where.local_names.get(kind.__name__), getattr(module, kind.__name__, None))
