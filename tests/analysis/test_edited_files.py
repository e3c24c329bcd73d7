"""What may change during a run is decided by the code that is loaded, not by files that were edited since."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import itertools
import os
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.analysis import analyze_function, freshness
from anabranch.analysis.modules import look_around
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    n: int


ITEM = schema_of(Item)
_serial = itertools.count()

COUNTER = """
    LIM = [1]
    f = lambda t: t.n < LIM[0]
    def helper():
        LIM[0] += 1
"""
HARMLESS = COUNTER.replace("LIM[0] += 1", "pass")


def problems(fn: Any) -> list[str]:
    """What an analysis that begins now finds shared."""
    look_around(thoroughly=True)
    return [reason.text for reason in analyze_function(fn, input=ITEM, output=ITEM, emits="value").shared]


class Files:
    """Modules that are imported, edited and imported again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[str] = []

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()

    def load(self, text: str, name: str | None = None) -> ModuleType:
        name = name or f"edited_{next(_serial)}"
        self.write(name, text)
        self.made.append(name)
        return importlib.import_module(name)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    monkeypatch.syspath_prepend(str(tmp_path))
    made = Files(tmp_path)
    yield made
    for name in made.made:
        sys.modules.pop(name, None)


def test_a_writer_that_is_gone_from_the_file_still_writes(files: Files) -> None:
    module = files.load(COUNTER)
    files.write(module.__name__, HARMLESS)
    [problem] = problems(module.f)
    assert "`LIM`, which cannot be followed: `helper` is not in its file as it was imported" in problem


def test_explain_calls_a_reader_of_an_edited_module_stateful(files: Files) -> None:
    module = files.load(COUNTER)
    files.write(module.__name__, HARMLESS)

    @ab.app
    def program() -> None:
        ab.from_items(Item, [Item(1)]).filter(module.f).collect("out")

    [state] = [op["state"] for op in ab.explain(program()).to_dict()["operators"] if op["kind"] == "filter"]
    assert state == "stateful"


def test_a_file_that_is_as_it_was_imported_is_believed(files: Files) -> None:
    assert problems(files.load(HARMLESS).f) == []


def test_an_edit_of_a_file_that_was_read_before_changes_nothing(files: Files) -> None:
    module = files.load(HARMLESS)
    assert problems(module.f) == []
    files.write(module.__name__, COUNTER)  # without importing it again, so this is not what runs
    assert problems(module.f) == []


WRITERS = {
    "deleted, but kept in a list": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        hooks = []
        def helper():
            LIM[0] += 1
        hooks.append(helper)
        del helper
    """,
    "deleted, but called at exit": """
        import atexit
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        def helper():
            LIM[0] += 1
        atexit.register(helper)
        del helper
    """,
    "in a partial": """
        from functools import partial
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        def helper(by):
            LIM[0] += 1
        helper = partial(helper, 1)
    """,
    "a method": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        class C:
            def helper(self):
                LIM[0] += 1
    """,
    "a static method": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        class C:
            @staticmethod
            def helper():
                LIM[0] += 1
    """,
    "a property": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        class C:
            @property
            def helper(self):
                LIM[0] += 1
    """,
    "wrapped by a decorator": """
        import functools
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        def quiet(g):
            return functools.wraps(g)(lambda: g())
        @quiet
        def helper():
            LIM[0] += 1
    """,
    "a suspended generator": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        def helper():
            while (yield):
                LIM[0] += 1
        ticker = helper()
        del helper
    """,
    "inside another function": """
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        def make():
            def helper():
                LIM[0] += 1
            return helper
        helper = make()
        del make
    """,
    "of a variable": """
        def make():
            LIM = [1]
            def helper():
                LIM[0] += 1
            f = lambda t: t.n < LIM[0]
            return f, helper
        f, helper = make()
        del make
    """,
    "of a class attribute": """
        class C:
            LIM = [1]
        f = lambda t: t.n < C.LIM[0]
        def helper():
            C.LIM[0] += 1
    """,
    "of a class attribute, by name": """
        class C:
            LIM = 1
        f = lambda t: t.n < C.LIM
        def helper():
            setattr(C, "LIM", 2)  # LIM[0] += 1
    """,
    "of the name itself": """
        LIM = 1
        f = lambda t: t.n < LIM
        def helper():
            global LIM
            LIM = 2  # LIM[0] += 1
    """,
    "of a helper's code": """
        def check(n): return n > 1
        f = lambda t: check(t.n)
        def helper():
            check.__code__ = f.__code__  # LIM[0] += 1
    """,
    "of a library": """
        import math
        f = lambda t: math.floor(t.n)
        def helper():
            math.floor = len  # LIM[0] += 1
    """,
}


def without_writer(text: str) -> str:
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + "pass" if "LIM[0] += 1" in line else line for line in text.split("\n")
    )


@pytest.mark.parametrize("text", WRITERS.values(), ids=WRITERS.keys())
def test_a_writer_that_is_still_loaded_counts_wherever_it_is_kept(files: Files, text: str) -> None:
    assert problems(files.load(without_writer(text)).f) == []
    module = files.load(text)
    files.write(module.__name__, without_writer(text))
    assert problems(module.f)


def test_a_module_that_is_loaded_again_is_read_again(files: Files) -> None:
    module = files.load(HARMLESS)
    assert problems(module.f) == []
    files.write(module.__name__, COUNTER + "    more = 1\n")
    importlib.reload(module)
    assert problems(module.f)
    files.write(module.__name__, HARMLESS)
    importlib.reload(module)
    assert problems(module.f) == []


def test_a_function_that_outlives_a_reload_counts(files: Files) -> None:
    module = files.load(COUNTER)
    hooks = [module.helper]
    files.write(module.__name__, HARMLESS)
    importlib.reload(module)
    assert problems(module.f)
    hooks.clear()
    assert problems(module.f) == []


def test_a_function_kept_by_another_module_counts(files: Files) -> None:
    keeper = files.load("hooks = {}\n")
    module = files.load(COUNTER.replace("def helper", f"import {keeper.__name__}\n    def helper"))
    keeper.hooks["later"] = module.helper
    del module.helper
    files.write(module.__name__, HARMLESS.replace("def helper", f"import {keeper.__name__}\n    def helper"))
    assert problems(module.f)


@pytest.mark.parametrize("how", ["settings.LIM[0] += 1", "settings.LIM = [2]", "setattr(settings, name, 2)"])
@pytest.mark.parametrize("is_inside", [False, True])
def test_another_module_that_was_edited_may_write(files: Files, how: str, is_inside: bool) -> None:
    settings = files.load("LIM = [1]\nf = lambda t: t.n < LIM[0]\n")
    line = f"import {settings.__name__} as settings"
    text = f"def helper(name):\n    {line}\n    {how}\n" if is_inside else f"{line}\ndef helper(name):\n    {how}\n"
    settings.hook = (writer := files.load(text)).helper
    assert problems(settings.f)
    files.write(writer.__name__, text.replace(how, "pass").replace(f"    {line}", "    pass"))
    assert problems(settings.f)
    sys.modules.pop(writer.__name__)
    del writer, settings.hook
    assert problems(settings.f) == []


def test_a_module_that_was_edited_and_has_nothing_to_do_with_it_is_no_problem(files: Files) -> None:
    module = files.load(HARMLESS)
    other = files.load(f"import {module.__name__}\ndef g():\n    return 1\n")
    files.write(other.__name__, f"import {module.__name__}\ndef g():\n    return 2\n")
    assert problems(module.f) == []


def test_generated_methods_of_a_dataclass_are_no_problem(files: Files) -> None:
    module = files.load("""
        from dataclasses import dataclass
        LIM = [1]
        n = 3
        @dataclass(order=True)
        class C:
            n: int
            LIM: int = 2
        f = lambda t: t.n < LIM[0] + n
    """)
    assert problems(module.f) == []


def test_executed_code_in_a_modules_namespace_may_write(files: Files) -> None:
    module = files.load(HARMLESS + "    exec('def later(): LIM[0] += 1')\n")
    assert any("the source of `later` is not known" in problem for problem in problems(module.f))


def test_what_is_frozen_out_of_the_collectors_sight_counts_too(files: Files) -> None:
    text = WRITERS["of the name itself"]
    module = files.load(text)
    files.write(module.__name__, without_writer(text))
    gc.collect()
    gc.freeze()
    assert problems(module.f)


def test_a_text_with_other_statements_than_those_compiled_is_not_believed(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All functions are the same; but at import, another name was given to the list."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    text = """
        def helper():
            TABLE['a'][0] += 1
        LIM = [1]
        f = lambda t: t.n < LIM[0]
        TABLE = {'a': LIM}
    """
    module = files.load(text)
    files.write(module.__name__, text.replace("'a': LIM", "'a': [1, 2]"))
    [problem] = problems(module.f)
    assert "has been edited since it was imported" in problem
    importlib.reload(module)
    assert problems(module.f) == []


@pytest.mark.parametrize("is_newer", [True, False])
def test_compiled_code_of_another_text_matters_only_if_the_file_is_newer_than_the_process(
    files: Files, monkeypatch: pytest.MonkeyPatch, is_newer: bool
) -> None:
    module = files.load(HARMLESS)
    assert module.__spec__ is not None
    assert module.__spec__.cached is not None
    cached = Path(module.__spec__.cached)
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12))  # left by an import of long ago
    os.utime(module.__file__ or "", (1, 1))  # a time that can be set proves nothing
    if not is_newer:
        monkeypatch.setattr(freshness, "_BEGAN", time.time())
    assert bool(problems(module.f)) == is_newer
