"""One compilation: what it found out about what is around a program, and what it follows at this moment, as one object.

It belongs to the thread that compiles. What other threads ask or compile meanwhile is not answered from it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from anabranch.analysis.live_code import CodeIn
    from anabranch.analysis.modules import Namespace
    from anabranch.analysis.purity import Pure
    from anabranch.analysis.reach import Links, Reached
    from anabranch.graph.model import Graph


@dataclass(eq=False, slots=True)
class CachedCalls:
    """How functions with caches are called in a program, as far as that was seen."""

    version: int = 0  # grows with every call that has not been seen before
    is_open: bool = False  # calls were seen that had not been seen before, again and again
    calls: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary)
    followed: list[Any] = field(default_factory=list)  # the functions that are being followed


@dataclass(eq=False, slots=True)
class Compilation:
    """Of a program, or without a graph of a function or class that is looked at by itself."""

    moment: int  # another one for each program
    graph: Graph | None = None
    namespaces: list[Namespace] = field(default_factory=list)  # what the program reaches
    settled: dict[int, Namespace] = field(default_factory=dict)  # the same by their names, if it is only a part of it
    number: int = 0  # of the code that is loaded, and of what of it belongs to the program
    reached: Reached | None = None  # who holds its objects is looked up when that is asked for first
    links: Links | None = None  # which modules refer to which, likewise
    live: dict[int, CodeIn] = field(default_factory=dict)  # the code of users' that is loaded
    has_looked: bool = False  # for it, at all objects there are
    has_thawed: bool = False  # what the program had frozen out of the collector's sight
    pure: dict[int, tuple[ModuleType, str, Pure]] | None = None  # the functions that are definitely pure
    cached: CachedCalls = field(default_factory=CachedCalls)
    receivers: set[Any] = field(default_factory=set)  # the parameters whose calls are being looked for


class _OfThisThread(threading.local):
    compilation: Compilation | None = None


_of_this_thread = _OfThisThread()


def compilation() -> Compilation | None:
    """The one that this thread is in."""
    return _of_this_thread.compilation


def the_compilation() -> Compilation:
    """The same, for what is only done in one."""
    assert _of_this_thread.compilation is not None, "it is not asked for while something is compiled"
    return _of_this_thread.compilation


def enter(entered: Compilation | None) -> None:
    _of_this_thread.compilation = entered
