"""A stream knows its program again: the same one in every process, and none whose code or values have changed."""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.python import PythonElement
from anabranch.codegen.python.unboxed import UnboxedInstances
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError, Commit
from anabranch.dataflow.streams.code_texts import CodeTexts
from anabranch.operators.sort import _SortMeaning
from anabranch.run import as_program
from tests.engines.spark.session.test_kinds_of_sessions import ROOT
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream


class Item(NamedTuple):
    a: int
    b: int


ITEMS = [Item(n, 20 - n) for n in range(20)]
MEMO: dict[int, int] = {}
LIMIT = 5


def restarted(folder: Path, first: Any, then: Any, **options: Any) -> None:
    """A stream is begun with one function and started again with another."""
    for each in (first, then):
        begin(folder, each(ab.from_items(Item, ITEMS)).collect("out"), **options)


def begin(folder: Path, sink: ab.Sink, **options: Any) -> None:
    begun = SimulatedStream(as_program(sink).graph, Disk(folder), random.Random(0), **options)
    begun.checkpoint.write_commit(Commit())
    begun.checkpoint.unlock()


def refused(folder: Path, first: Any, then: Any) -> str:
    with pytest.raises(CheckpointError, match="was written by another program") as caught:
        restarted(folder, first, then)
    return caught.value.message.partition("by another program: ")[2]


def filtered(test: Callable[[Item], bool]) -> Any:
    return lambda items: items.filter(test).named("big")


def code_of(thing: Any) -> tuple[list[str], dict[str, str]]:
    texts = CodeTexts()
    texts.read(thing)
    return texts.code, texts.values


# What may not change --------------------------------------------------------------------------------------------------


def test_a_lambda_within_a_chain_of_calls_that_reads_another_attribute_is_other_code(tmp_path: Path) -> None:
    def one(items: Any) -> Any:
        return (
            items
            .filter(lambda t: t.a > 5).named("big")
        )  # fmt: skip

    def other(items: Any) -> Any:
        return (
            items
            .filter(lambda t: t.b > 5).named("big")
        )  # fmt: skip

    assert refused(tmp_path, one, other) == "the code or the settings of 'big' have changed"


def test_code_without_a_source_counts_with_the_names_in_it() -> None:
    one, other, same = (eval(f"lambda t: any(t.{name} > n for n in [5])", {}) for name in ("a", "b", "a"))
    assert code_of(one) == code_of(same)
    assert code_of(one) != code_of(other)


def above(limit: Any) -> Callable[[Item], bool]:
    return lambda t: t.a > limit


def test_another_value_that_a_lambda_is_closed_over_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path, filtered(above(5)), filtered(above(6)))
    assert said == "'limit', which 'big' uses, has another value"


def test_another_value_of_a_default_or_an_argument_is_noticed(tmp_path: Path) -> None:
    def test(t: Item, limit: int) -> bool:
        return t.a > limit

    def with_default(limit: int) -> Callable[[Item], bool]:
        def big(t: Item, limit: int = limit) -> bool:
            return t.a > limit

        return big

    said = refused(tmp_path / "default", filtered(with_default(5)), filtered(with_default(6)))
    assert said == "'limit', which 'big' uses, has another value"
    assert code_of(functools.partial(test, limit=5)) != code_of(functools.partial(test, limit=6))


def test_another_value_of_a_global_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(items: Any) -> Any:
        return items.filter(lambda t: t.a > LIMIT).named("big")

    restarted(tmp_path, program, program)
    monkeypatch.setitem(globals(), "LIMIT", 6)
    assert refused(tmp_path, program, program) == "'LIMIT', which 'big' uses, has another value"


def scaled(n: int) -> int:
    return n * 2


def scaled_more(n: int) -> int:
    return n * 3


def test_a_function_that_is_called_is_code_of_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(items: Any) -> Any:
        return items.filter(lambda t: any(scaled(n) > 5 for n in t)).named("big")

    restarted(tmp_path, program, program)
    monkeypatch.setitem(globals(), "scaled", scaled_more)
    assert refused(tmp_path, program, program) == "the code or the settings of 'big' have changed"


class Base:
    step = 1

    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += self.step
        yield Item(self.seen, item.b)


def test_a_class_counts_with_the_classes_it_is_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Derived(Base):
        pass

    def program(items: Any) -> Any:
        return items.process(Derived, key="b").named("count")

    restarted(tmp_path, program, program)
    with monkeypatch.context() as patched:
        patched.setattr(Base, "step", 2)
        assert refused(tmp_path, program, program) == "'step', which 'count' uses, has another value"

    def process(self: Base, item: Item) -> Iterator[Item]:
        self.seen += 10
        yield Item(self.seen, item.b)

    monkeypatch.setattr(Base, "process", process)
    assert refused(tmp_path, program, program) == "the code or the settings of 'count' have changed"


def test_other_items_of_from_items_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = filtered(above(5))
    restarted(tmp_path, program, program)
    monkeypatch.setitem(globals(), "ITEMS", [*ITEMS[:-1], Item(-1, -1)])
    assert refused(tmp_path, program, program) == "the items of 'from_items' have changed"


def test_another_form_of_the_code_is_said_as_such(tmp_path: Path) -> None:
    program = filtered(above(5))
    restarted(tmp_path, program, program, form="python")
    with pytest.raises(CheckpointError, match="its code had the form 'python', and now 'native'"):
        restarted(tmp_path, program, program, form="native")


def test_another_version_of_python_is_named_where_code_looks_different_to_it(tmp_path: Path) -> None:
    restarted(tmp_path, filtered(above(5)), filtered(above(5)))
    found = Checkpoint(tmp_path).identity() or {}
    found["operators"]["big"]["code"], found["python"] = "other", "3.1"
    Checkpoint(tmp_path).write_identity(found)
    assert refused(tmp_path, filtered(above(5)), filtered(above(5))) == "it was begun with Python 3.1"


class Count:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Item:
        self.seen += 1
        return item._replace(a=self.seen)


def counted(items: Any) -> Any:
    return items.process(Count, key="a")


def test_what_an_operator_keeps_in_another_version_is_not_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarted(tmp_path, counted, counted, form="python")
    assert "R1" in (Checkpoint(tmp_path).identity() or {})["places"]
    monkeypatch.setattr(UnboxedInstances, "state", (*UnboxedInstances.state, "more"))
    with pytest.raises(CheckpointError, match="its code was laid out by another version of anabranch"):
        restarted(tmp_path, counted, counted, form="python")


def test_code_that_another_version_generates_is_not_that_of_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarted(tmp_path, counted, counted, form="python")
    monkeypatch.setattr(PythonElement, "source", property(lambda element: "another = 1"))
    with pytest.raises(CheckpointError, match="its code was laid out by another version of anabranch"):
        restarted(tmp_path, counted, counted, form="python")


def test_what_the_tail_keeps_in_another_version_is_not_its_state_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sorted_by_a(items: Any) -> Any:
        return items.sort("a", count=3)

    restarted(tmp_path, sorted_by_a, sorted_by_a)
    monkeypatch.setattr(_SortMeaning, "state", (*_SortMeaning.state, "more"))
    with pytest.raises(CheckpointError, match="its code was laid out by another version of anabranch"):
        restarted(tmp_path, sorted_by_a, sorted_by_a)


def test_a_sink_may_call_another_function(tmp_path: Path) -> None:
    for function in (lambda item: None, print):
        begin(tmp_path, counted(ab.from_items(Item, ITEMS)).for_each(function), form="python")


def test_another_fusion_is_said_as_such(tmp_path: Path) -> None:
    restarted(tmp_path, counted, counted)
    found = Checkpoint(tmp_path).identity() or {}
    found["fuse"], found["places"]["R1"]["code"] = "none", ["another", "and one more"]
    Checkpoint(tmp_path).write_identity(found)
    assert refused(tmp_path, counted, counted) == "its operators were fused with 'none', and now 'manual'"


# What may -------------------------------------------------------------------------------------------------------------


def test_what_the_program_itself_changes_while_it_runs_does_not_count(tmp_path: Path) -> None:
    count = 0

    def counted(t: Item) -> bool:
        nonlocal count
        count += 1
        return t.a > MEMO.setdefault(t.b, 5)

    restarted(tmp_path, filtered(counted), filtered(counted))
    counted(ITEMS[0])
    try:
        restarted(tmp_path, filtered(counted), filtered(counted))
    finally:
        MEMO.clear()


@pytest.mark.parametrize("form", ["python", "native"])
def test_layout_and_comments_do_not_count(tmp_path: Path, form: str) -> None:
    def one(items: Any) -> Any:
        return items.filter(lambda t: t.a > 5 and t.b > 6).named("big")

    def other(items: Any) -> Any:
        return (
            items
            # only large ones
            .filter(lambda t: t.a > 5
                    and t.b > 6).named("big")
        )  # fmt: skip

    restarted(tmp_path, one, other, form=form)


def test_objects_that_hold_each_other_are_read_once() -> None:
    held: list[Any] = [above, object()]
    held.append(held)
    code, _ = code_of(held)
    assert len(code) < 20


PROGRAM = """
import sys
from enum import Enum
from pathlib import Path
from typing import NamedTuple
import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.engines.spark.streams.prepare import prepare
from anabranch.run import as_program

class Item(NamedTuple):
    a: int
    s: str

class Color(Enum):
    RED = 1
    BLUE = 2

WORDS = {"one", "two", "three", "four"}
MARK = object()
COLORS = {Color.RED: frozenset("abcdef")}

class Base:
    words = frozenset({"x", "y", "z"})
    def good(self, t): return t.s in self.words or t.s in {"k", "l", "m"}

class Count(Base):
    def __init__(self): self.seen = 0
    def process(self, t: Item) -> Item:
        self.seen += sum(1 for w in WORDS if w != t.s) + (t.s in COLORS[Color.RED]) + (MARK is None)
        return Item(self.seen, t.s)

def app(limit):
    return (
        ab.from_items(Item, [Item(n, "ab"[n % 2]) for n in range(9)])
        .filter(lambda t: any((lambda x: x > limit)(n) for n in [t.a] if t.s in {"a", "b", "c"})).named("big")
        .process(Count, key="s").named("count")
        .collect("out")
    )

checkpoint = Checkpoint(Path(sys.argv[1]))
(checkpoint.folder / "spark").exists() or checkpoint.folder.mkdir()
prepare(compile(as_program(app(int(sys.argv[2]))).graph), checkpoint, 1, 2, "python")
(checkpoint.folder / "spark").mkdir(exist_ok=True)
print("fits")
"""


def test_a_program_is_the_same_in_another_process(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    def said(seed: str, limit: str) -> str:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONHASHSEED": seed}
        command = [sys.executable, str(script), str(tmp_path / "state"), limit]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert said("1", "5") == "fits\n"
    assert said("2", "5") == "fits\n"
    assert "'limit', which 'big' uses, has another value" in said("3", "6")
    script.write_text(PROGRAM.replace("three", "five"))
    assert "'WORDS', which 'count' uses, has another value" in said("1", "5")
    marked = Checkpoint(tmp_path / "state").identity()
    assert marked is not None
    assert {name.rpartition(":")[2] for each in marked["operators"].values() for name in each["values"]} == {
        *("limit", "WORDS", "COLORS", "words", "RED", "BLUE"),
    }
