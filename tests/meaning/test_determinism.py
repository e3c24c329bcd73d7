"""Determinism: "Routing never uses Python's `hash()` (salted)"; the same program gives the same ids, the same order of
keys and the same results in every process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab

PROGRAM = """
from typing import NamedTuple
import anabranch as ab

class Word(NamedTuple):
    word: str
    n: int

class Count(NamedTuple):
    word: str
    n: int

class Total:
    def __init__(self): self.word, self.n = "", 0
    def process(self, w: Word) -> Word:
        self.word, self.n = w.word, self.n + w.n
        return Word(self.word, self.n)
    def finish(self) -> Word:
        return Word(self.word, -self.n)

def first(one: Word, other: Word) -> Word:
    return one

@ab.app
def words():
    texts = "the quick brown fox jumps over the lazy dog while the cat sleeps".split()
    source = ab.from_items(Word, [Word(text, n) for n, text in enumerate(texts)], partition_by="word")
    again = ab.from_items(Word, [Word(text, -n) for n, text in enumerate(texts)])
    met = source.union(again)
    met.process(Total, key="word").collect("totals")
    met.process(Total, key="word").distinct("word").collect("distinct")
    met.window(ab.tumbling(count=9)).aggregate(Count, group_by="word", n=ab.sum_("n")).collect("counts")
    met.window(ab.tumbling(seconds=3, on="n", clock="key"), key="word").aggregate(Count, n=ab.count()).collect("times")
    every = ab.sliding(count=5)
    source.join(again, left=every, right=every, on="word", out=first).collect("joined")
    parts = met.split({"short": lambda w: len(w.word) < 4, "long": lambda w: True})
    parts.long.union(parts.short).sort("word", count=4).collect("sorted")

program = words()
for operator in program.graph.operators:
    print(operator.id, operator.kind, [port.name for port in operator.outputs])
for edge in program.graph.edges:
    print(edge)
print(ab.explain(program))
result = ab.run(program)
for name in ("totals", "distinct", "counts", "times", "joined", "sorted"):
    print(name, result.items(name))
print(result.metrics.operators)
"""


def outputs_of(program: str) -> list[str]:
    """What a program prints in several processes, each with another salt for hashes."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(Path(ab.__file__).parent.parent), str(root)])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )
        for salt in ("0", "1", "12345")
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    return outputs


def test_ids_orders_plans_and_results_are_the_same_in_every_process() -> None:
    first, *others = outputs_of(PROGRAM)
    assert "Total_2 process ['out']" in first
    assert others == [first, first]


VERDICTS = """
import re
from tests.analysis.corpus import verdicts, worlds
for entry in worlds.load_all():
    print(entry.id, re.sub(r"\\([^()]*/", "(", str(verdicts.verdict_of(entry))))
"""


@pytest.mark.slow
def test_what_the_analysis_finds_is_the_same_in_every_process() -> None:
    first, *others = outputs_of(VERDICTS)
    assert len(first.splitlines()) > 100
    assert others == [first, first]


def test_a_program_built_twice_has_the_same_ids() -> None:
    @ab.app
    def twice() -> None:
        letters = ab.from_items(ab.DeadLetter, [])
        letters.filter(lambda d: True).filter(lambda d: True).named("kept").filter(lambda d: True).collect("out")

    ids = [operator.id for operator in twice().graph.operators]
    assert ids == ["from_items", "filter", "kept", "filter_2", "out"]
    assert [operator.id for operator in twice().graph.operators] == ids
