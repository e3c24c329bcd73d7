"""What a program changes behind the back of its text, generated code does not take for what it was at first."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab

HEADER = """
import sys
from typing import Iterator, NamedTuple

class Item(NamedTuple):
    key: str
    n: int
"""
PROGRAMS = {
    "a constructor is called again": """
        class Config:
            def __init__(self, rate): self.rate = rate
        config = Config(1)
        def again(): config.__init__(5)
        def rated(item: Item) -> Item:
            if item.n == 5: again()
            return Item(item.key, item.n * config.rate)
        def build(items): return items.map(rated)
        """,
    "an instance becomes one of another class": """
        class Operator:
            def __init__(self): self.count = 0
            def process(self, item: Item) -> Iterator[Item]:
                if item.n >= 6: self.__class__ = Other
                self.count += 1
                yield Item(item.key, self.count)
        class Other(Operator):
            def process(self, item: Item) -> Iterator[Item]: yield Item(item.key, -1)
        def build(items): return items.process(Operator, key="key")
        """,
    "what a class makes is of another": """
        class Other:
            def process(self, item: Item) -> Iterator[Item]: yield Item(item.key, -1)
        class Operator:
            def __new__(cls): return Other()
            def process(self, item: Item) -> Iterator[Item]: yield item
        def build(items): return items.process(Operator, key="key", out=Item)
        """,
    "a method puts another one into the instance": """
        class Operator:
            def __init__(self): self.count = 0
            def change(self): super().__setattr__("process", self.other)
            def process(self, item: Item) -> Iterator[Item]:
                if item.n >= 5: self.change()
                yield item
            def other(self, item: Item) -> Iterator[Item]: yield Item(item.key, -1)
        def build(items): return items.process(Operator, key="key")
        """,
    "a helper looks at who called it": """
        def who(): return sys._getframe(1).f_code.co_name
        def named(item: Item) -> Item: return Item(who(), item.n)
        def build(items): return items.map(named)
        """,
    "globals are kept and written": """
        rate = 1
        names = globals()
        def change(): names["rate"] = 7
        def priced(item: Item) -> Item:
            if item.n == 5: change()
            return Item(item.key, item.n * rate)
        def build(items): return items.map(priced)
        """,
}
_serial = itertools.count()


def result_of(text: str, engine: Any, folder: Path) -> list[tuple[Any, ...]]:
    """In a module of its own, which is gone afterwards: nothing is left of the run before."""
    name = f"hidden_{next(_serial)}"
    (folder / f"{name}.py").write_text(HEADER + textwrap.dedent(text))
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(name)
        items = ab.from_items(module.Item, [module.Item("ab"[n % 2], n) for n in range(12)])
        return [tuple(item) for item in ab.run(module.build(items).collect("out"), engine=engine).items("out")]
    finally:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_generated_code_gives_what_the_oracle_gives(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert result_of(text, "fused", tmp_path) == result_of(text, "sequential", tmp_path)
