"""One analysis under way: its heap, what it has found so far, and the parts that call each other.

The parts are functions in files of their own; `Run` is how one part reaches another.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from anabranch.analysis.counts import Count
from anabranch.analysis.heap import Heap
from anabranch.analysis.home import Home
from anabranch.analysis.scopes import Scope
from anabranch.analysis.values import (
    NOTHING,
    UNKNOWN,
    FunctionNode,
    GaveUp,
    Obj,
    Place,
    Site,
    Source,
    Thing,
    Value,
    is_too_wide,
    one,
    replaced_at_once,
)
from anabranch.errors import Location
from anabranch.graph.properties import Reason

_MOST_STEPS = 60_000


@dataclass
class Loop:
    """Where `break` and `continue` go."""

    broken: list[dict[str, Value]] = field(default_factory=list)
    continued: list[dict[str, Value]] = field(default_factory=list)


@dataclass
class Frame:
    """A function being followed. `variables` is None where no path leads."""

    home: Home
    node: FunctionNode
    scope: Scope
    chain: tuple[FunctionNode, ...]
    variables: dict[str, Value] | None
    targets: dict[str, Value] = field(default_factory=dict)  # of the comprehensions around
    returned: Value = NOTHING
    yielded: Value = NOTHING
    loops: list[Loop] = field(default_factory=list)
    handlers: list[dict[str, Value]] = field(default_factory=list)
    in_any_order: bool = False  # what is evaluated now is consumed without regard to its order
    orders_lost: int = 0  # how often that was so of a set that differs from process to process
    weak: int = 0  # depth of expressions that some paths skip
    lazy: int = 0  # depth of generator expressions, which see variables as they are later

    @property
    def name(self) -> str:
        name = getattr(self.node, "name", None)
        return f"`{name}`" if name else "the lambda"

    def at(self, node: ast.AST) -> Location | None:
        return Location(self.home.file, getattr(node, "lineno", self.home.location.line))


@dataclass(frozen=True)
class Args:
    """The arguments of a call. `more` may be any number of further positional ones, `more_keywords` of named ones."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    more: Value | None = None
    more_keywords: Value | None = None

    @property
    def all(self) -> list[Value]:
        rest = [value for value in (self.more, self.more_keywords) if value is not None]
        return [*self.positional, *(value for _, value in self.keywords), *rest]

    def after(self, first: Value) -> Args:
        return Args((first, *self.positional), self.keywords, self.more, self.more_keywords)

    def keyword(self, name: str) -> Value | None:
        return dict(self.keywords).get(name)


class Run(ABC):
    def __init__(self) -> None:
        self.heap = Heap()
        self.shared: dict[Reason, None] = {}
        self.own: dict[Reason, None] = {}
        self.changed_inputs: set[str] = set()
        self.is_initialising = False  # the operator's instance is being made
        self.is_trusting = False  # inside a function the user declared stateless
        self.counts: dict[ast.AST, Count] = {}  # how many elements a `yield from` or a call gives
        self.definite: set[str] = set()  # attributes that the operator's __init__ certainly assigns
        self.replaced_at_once: set[str] = set()  # attributes that each tuple assigns before anything else
        self.steps = 0
        self.steps_in: Counter[Home] = Counter()  # by function
        self.active: dict[object, Any] = {}  # following.py: functions being followed
        self.results: dict[object, tuple[int, Value]] = {}  # following.py: results by arguments and heap version

    # Reports ----------------------------------------------------------------------------------------------------

    def share(self, frame: Frame, node: ast.AST, text: str, hint: str | None = None) -> None:
        """An effect or a dependence beyond the call and beyond the operator's own instance."""
        self.shared[Reason("state", f"{frame.name} {text}", frame.at(node), hint)] = None

    def keep(self, frame: Frame, node: ast.AST, text: str, hint: str | None = None) -> None:
        """State kept in the operator's own instance."""
        if not self.is_initialising:
            self.own[Reason("state", f"{frame.name} {text}", frame.at(node), hint)] = None

    def unknown(self, frame: Frame, node: ast.AST, text: str, hint: str | None = None) -> Value:
        self.share(frame, node, text, hint)
        return UNKNOWN

    # Objects ----------------------------------------------------------------------------------------------------

    def make(self, kind: type, label: object, held: Value = NOTHING, source: Source | None = None) -> Value:
        """A new object; what the operator's __init__ makes belongs to its instance."""
        site = Site(Place.OWN if self.is_initialising else Place.FRESH, label)
        if held:
            self.heap.bind(site, held)
        return one(Obj(site, kind, source))

    def narrowed(self, value: Value, label: object) -> Value:
        return self.heap.coarser(value, label) if is_too_wide(value) else value

    def put_attribute(self, thing: Obj, name: str, value: Value) -> None:
        """An attribute of an instance is assigned."""
        if self.is_initialising and thing.site.label == "self" and name in self.replaced_at_once:
            value = replaced_at_once(value)
        self.heap.put_attribute(thing.site, name, value)

    def step(self, frame: Frame) -> None:
        self.steps += 1
        self.steps_in[frame.home] += 1
        if self.steps > _MOST_STEPS:
            raise GaveUp

    # Parts ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """expressions.py"""

    @abstractmethod
    def execute(self, frame: Frame, body: list[ast.stmt]) -> None:
        """statements.py"""

    @abstractmethod
    def assign(self, frame: Frame, target: ast.AST, value: Value) -> None:
        """targets.py"""

    @abstractmethod
    def load(self, frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
        """attributes.py"""

    @abstractmethod
    def store(self, frame: Frame, value: Value, name: str, stored: Value, node: ast.AST) -> None:
        """attributes.py"""

    @abstractmethod
    def call(self, frame: Frame, callee: Value, args: Args, node: ast.AST) -> Value:
        """calls.py"""

    @abstractmethod
    def construct(self, frame: Frame, cls: type, args: Args, node: ast.AST, site: Site | None = None) -> Value:
        """construct.py"""

    @abstractmethod
    def enter(self, frame: Frame, value: Value, node: ast.AST) -> Value:
        """managers.py: what `with` gives for these context managers."""

    @abstractmethod
    def iterate(self, frame: Frame, value: Value, node: ast.AST) -> Value:
        """state.py: the elements, one after the other."""

    @abstractmethod
    def change(self, frame: Frame, value: Value, node: ast.AST, what: str | None = None) -> None:
        """state.py: the objects are changed in place."""

    @abstractmethod
    def read(self, frame: Frame, value: Value, node: ast.AST) -> None:
        """state.py: what the objects hold is looked at."""

    @abstractmethod
    def ignores_order(self, callee: Value, node: ast.Call, is_ignored: bool) -> bool:
        """builtin_calls.py: whether a call gives the same for its argument's elements in any order."""

    @abstractmethod
    def lift(self, held: Any, origin: Any) -> Thing:
        """lifting.py"""


Handler = Callable[[Run, Frame, Args, ast.AST], Value]
