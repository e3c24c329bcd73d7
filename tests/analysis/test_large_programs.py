"""A program may be one long expression; the analysis of its operators does not depend on how long."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import anabranch as ab
from anabranch.compiler import compile

HEAD = """
from typing import NamedTuple
import anabranch as ab

class Item(NamedTuple):
    n: int

RATES = {"a": 1}

def step(item: Item) -> Item:
    n = item.n
    for rate in RATES.values():
        n += rate
    return Item(n)

@ab.app
def long_chain():
    (ab.from_items(Item, [Item(1)])
"""


def test_a_chain_of_1000_operators_in_one_expression_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a_chain_of_many_operators.py"
    path.write_text(HEAD + "\n".join(["        .map(step)"] * 1000) + '\n        .collect("out"))\n')
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    program: ab.Program = module.long_chain()
    assert len(compile(program.graph).regions[0].operators) == 1000
