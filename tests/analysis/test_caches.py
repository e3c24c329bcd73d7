"""A cache is judged by all operators of a program that use it."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.compiler import compile
from anabranch.run import as_program

PROGRAM = """
    import functools
    from typing import NamedTuple
    import anabranch as ab

    class Item(NamedTuple):
        key: str
        n: int

    @functools.lru_cache(maxsize=64)
    def label(key, n):
        return f"{key}{n!r}"

    def one(item: Item) -> Item:
        return item._replace(key=label(item.key, item.n))

    def other(item: Item) -> Item:
        return item._replace(key=label(item.key, OTHER))

    items = ab.from_items(Item, [Item("a", 1)])
    sinks = items.map(one).named("first").collect("a"), items.map(other).named("second").collect("b")
"""
States = Callable[[str], list[str]]


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[States]:
    """The states of both operators, for what the second one gives to the cache."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def load(other: str, more: str = "") -> list[str]:
        made.append(f"program_with_a_cache_{tmp_path.name}_{len(made)}".replace("-", "_"))
        text = textwrap.dedent(PROGRAM).replace("OTHER", other) + textwrap.dedent(more)
        (tmp_path / f"{made[-1]}.py").write_text(text)
        importlib.invalidate_caches()
        program: Any = importlib.import_module(made[-1])
        plan = compile(as_program(*program.sinks).graph, until="properties")
        return [plan.properties[name].state.value for name in ("first", "second")]

    yield load
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("other", ["item.n + 1", "len(item.key)", "None", "7"])
def test_operators_may_share_a_cache_whose_arguments_are_told_apart(states: States, other: str) -> None:
    assert states(other) == ["stateless", "stateless"]


@pytest.mark.parametrize("other", ["item.n > 1", "item.n / 2", "item.n * 1.0", "True", "(lambda: 1)()  or print()"])
def test_one_operator_spoils_a_cache_for_all_of_them(states: States, other: str) -> None:
    assert states(other) == ["stateful", "stateful"]


@pytest.mark.parametrize(
    "more",
    [
        "label('warm', 1)",
        "table = {'label': label}",
        "def unused(item): return getattr(items, 'label')",
        "def unused(item): return label(item.key, item.n)",
        "class Name(str): pass",
        "again = functools.partial(label, 'a')",
    ],
)
def test_what_else_may_come_into_a_cache_spoils_it(states: States, more: str) -> None:
    assert states("item.n + 1", more) == ["stateful", "stateful"]
