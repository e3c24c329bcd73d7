"""The ordinary programs: every themed file as one app, with all of its operators.

A file names its operators in `OPERATORS`. A function is for `map`, `filter` or `flat_map` by what it says it returns; a
class is for `process`, keyed by the first attribute of what it takes.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import sys
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import anabranch as ab
from anabranch.compiler import compile
from anabranch.graph.model import Graph
from anabranch.graph.properties import Properties
from anabranch.run import as_program

from . import records
from .samples import SAMPLED, samples

HERE = Path(__file__).parent
OF_THE_TESTS = {"__init__", "conftest", "programs", "samples", "records"}
THEMES = sorted({file.name.removesuffix(".py") for file in HERE.glob("*.py")} - OF_THE_TESTS)


@dataclass(frozen=True)
class Ordinary:
    """An operator, the tuples it takes, and the call of the API that it is meant for."""

    theme: str
    name: str
    operator: Any
    takes: type
    kind: str

    @property
    def id(self) -> str:
        return f"{self.theme}.{self.name}"

    @property
    def label(self) -> str:
        return f"the_{self.name.replace('.', '_')}"

    @property
    def output(self) -> str:
        """What it gives is collected under this name."""
        return f"of_{self.label}"

    @property
    def truth(self) -> str:
        return "partitioned" if self.kind == "process" else "stateless"


def operators_of(theme: str) -> list[Ordinary]:
    module = importlib.import_module(f"{__package__}.{theme}")
    return [_ordinary(theme, name, module) for name in module.OPERATORS.split()]


def _ordinary(theme: str, name: str, module: ModuleType) -> Ordinary:
    found = operator.attrgetter(name)(module)
    function = _unwrapped(found)
    if isinstance(function, type):
        return Ordinary(theme, name, found, _first_type(function.process, skip=1), "process")
    is_object = not inspect.isroutine(inspect.unwrap(function))
    function = type(function).__call__ if is_object else inspect.unwrap(function)
    takes = _first_type(function, skip=int(is_object))
    returned = typing.get_type_hints(function).get("return", bool)
    if returned is bool:
        return Ordinary(theme, name, found, takes, "filter")
    is_one = isinstance(returned, type) and issubclass(returned, tuple)
    return Ordinary(theme, name, found, takes, "map" if is_one else "flat_map")


def _unwrapped(operator: Any) -> Any:
    while isinstance(operator, functools.partial):
        operator = operator.func
    return operator


def _first_type(function: Any, skip: int) -> type:
    """The type of the tuples it takes; trades, for a lambda, which does not say."""
    hints = typing.get_type_hints(function)
    found = [hints[name] for name in list(inspect.signature(function).parameters)[skip:] if name in hints]
    return next((kind for kind in found if kind in SAMPLED), records.Trade)


def graph_of(theme: str, count: int = 12) -> Graph:
    """The file as a program: one source for each type, and each operator's output collected under its name."""
    found = operators_of(theme)
    sources: dict[type, Any] = {
        kind: ab.from_items(kind, samples(kind, count)) for kind in {one.takes: 0 for one in found}
    }
    sinks = [_applied(sources[one.takes], one).named(one.label).collect(one.output) for one in found]
    return as_program(*sinks).graph


def _applied(stream: Any, one: Ordinary) -> Any:
    match one.kind:
        case "map":
            return stream.map(one.operator)
        case "filter":
            return stream.filter(one.operator)
        case "flat_map":
            return stream.flat_map(one.operator)
        case _:
            return stream.process(one.operator, key=one.takes._fields[0])


@functools.cache
def properties_of(theme: str) -> dict[str, Properties]:
    """What the compiler knows of each operator of the file, by its name."""
    with alone(theme, f"{__package__}.programs", __name__):
        plan = compile(graph_of(theme), until="properties")
        return {one.name: plan.properties[one.label] for one in operators_of(theme)}


@contextmanager
def alone(theme: str, *others: str) -> Iterator[None]:
    """Meanwhile the file is loaded anew, with empty caches, and no other: each is a program of its own.

    Others are out of sight on demand: this module gets at operators by their names, so nothing of theirs is constant.
    """
    names = [*(f"{__package__}.{each}" for each in THEMES), *others]
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    try:
        importlib.import_module(f"{__package__}.{theme}")
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def missed() -> dict[str, str]:
    """The operators that are not called what they are, and why."""
    return {
        one.id: "; ".join(str(reason) for reason in found.about("state"))
        for theme in THEMES
        for one in operators_of(theme)
        if (found := properties_of(theme)[one.name]).state.value != one.truth
    }


if __name__ == "__main__":
    wrong = missed()
    total = sum(len(operators_of(theme)) for theme in THEMES)
    for name, why in wrong.items():
        print(f"{name}: {why}")
    print(f"{total - len(wrong)} of {total} ordinary operators ({1 - len(wrong) / total:.1%}) are called parallel")
