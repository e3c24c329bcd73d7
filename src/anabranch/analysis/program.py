"""The program that is being compiled: while it is, what it reaches is settled, and no other thread compiles.

Whatever is asked of the modules and objects around a function is asked of these namespaces, and of no others.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from anabranch.analysis.compilation import Compilation, compilation, enter, the_compilation
from anabranch.analysis.frozen_objects import freeze_again
from anabranch.analysis.handed_out import hand_something_out
from anabranch.analysis.modules import Namespace, loaded_state, look_around, number_of
from anabranch.analysis.reach import Objects, linked_to, reach_of_code, reach_of_namespaces, reach_of_program
from anabranch.graph.model import Graph

# What is loaded is looked at for all threads, and what follows from texts is kept for all.
_one_at_a_time = threading.Lock()
_programs = 0  # that were compiled so far


@contextmanager
def look_at_program(graph: Graph, *, thoroughly: bool) -> Iterator[None]:
    """While a program is compiled nothing is loaded or exchanged: one look around is enough for all of it.

    What belongs to it was settled when it was compiled as a whole; a part of it, later, has the same around it.
    """
    with _compiling(lambda: _begin_program(graph.whole, thoroughly)):
        yield


@contextmanager
def look_at_code(given: Any) -> Iterator[None]:
    """While a function or class is analysed: within its program, or by itself."""
    with _compiling(lambda: _begin_code(given)):
        yield


@contextmanager
def _compiling(begin: Callable[[], None]) -> Iterator[None]:
    """What is within another compilation is part of that one."""
    if compilation() is not None:
        yield
        return
    with _one_at_a_time:
        try:
            begin()
            yield
        finally:
            begun = compilation()
            enter(None)
            if begun is not None and begun.has_thawed:
                freeze_again()


@dataclass(frozen=True)
class _Known:
    """What a program reached when it was compiled as a whole."""

    graph: weakref.ref[Graph]
    state: int  # of the code that was loaded
    namespaces: list[Namespace]
    is_wide: bool


_known: dict[int, _Known] = {}


def _begin_program(graph: Graph, thoroughly: bool) -> None:
    global _programs
    _programs += 1
    begun = Compilation(_programs, graph, has_looked=thoroughly)
    enter(begun)
    begun.live = look_around(thoroughly)
    known = None if thoroughly else _known.get(id(graph))
    if known is not None and known.graph() is not graph:
        known = None
    if known is not None and known.state == loaded_state():
        begun.namespaces = known.namespaces
        begun.settled = {id(each.names): each for each in begun.namespaces}
    else:
        begun.reached = reach_of_program(graph)
        begun.namespaces = begun.reached.namespaces
        _remember(graph, begun.namespaces, is_wide=False)
        if known is not None and known.is_wide:
            widen()
    begun.number = number_of(begun.namespaces)


def _begin_code(given: Any) -> None:
    begun = Compilation(_programs)
    enter(begun)
    look_around()
    begun.reached = reach_of_code(given)
    begun.namespaces = begun.reached.namespaces
    begun.number = number_of(begun.namespaces)


def _remember(graph: Graph, namespaces: list[Namespace], *, is_wide: bool) -> None:
    reference = weakref.ref(graph, partial(_forget, id(graph)))
    _known[id(graph)] = _Known(reference, loaded_state(), namespaces, is_wide)


def _forget(identity: int, gone: weakref.ref[Graph]) -> None:
    if identity in _known and _known[identity].graph is gone:
        del _known[identity]


def widen() -> bool:
    """Count in who is linked to the program by imports, in whichever direction, and has handed something to a library.

    What calls something that is not known may lead there: to a handler, say, that another module gave to a library. It
    says whether there is anybody.
    """
    within = the_compilation()
    around = {id(each.names): each for each in within.namespaces}
    linked = {id(other.names): other for each in within.namespaces for other in linked_to(each)}
    others = [each for identity, each in linked.items() if identity not in around]
    more = hand_something_out(others) if others else []
    if not more:
        return False
    within.reached = reach_of_namespaces([*within.namespaces, *more])
    within.namespaces = within.reached.namespaces
    if within.graph is not None:
        _remember(within.graph, within.namespaces, is_wide=True)
    within.number = number_of(within.namespaces)
    return True


def program_around(namespace: Namespace) -> list[Namespace]:
    """The namespaces of the program that this one belongs to, beginning with itself."""
    within = compilation()
    found = within.namespaces if within is not None else reach_of_code(namespace.names).namespaces
    if found and found[0] is namespace:
        return found
    return [namespace, *(each for each in found if each is not namespace)]


def holders_of(part: Any, namespace: Namespace) -> Objects:
    """Who has an object, of all that the program reaches."""
    within = compilation()
    if within is None:
        return reach_of_code(namespace.names).holders.get(id(part), _NOBODY)
    if within.reached is None:
        within.reached = reach_of_namespaces(within.namespaces)
    return within.reached.holders.get(id(part), _NOBODY)


_NOBODY = Objects()
