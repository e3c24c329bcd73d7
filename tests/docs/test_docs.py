"""The documentation is true: its programs print what it says, its links lead somewhere, nothing public is missing.

The conventions of the pages are in `pages.py`.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from examples.data.calls import write_calls
from examples.mobility_fraud import mobility_fraud
from tests.docs.pages import PAGES, REFERENCE, ROOT, Block, anchors, blocks, links

PROGRAMS = {"anabranch": [sys.executable, "-m", "anabranch.cli"], "python": [sys.executable], "cat": ["cat"]}
KINDS = {"python", "python signature", "text", "console", "sh"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def module_named(name: str) -> types.ModuleType:
    """Registered, because annotations of classes are resolved in the module they name."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


@pytest.fixture
def page_module(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """What a page's blocks run in: a module of its own, in a folder of its own."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))
    module = module_named("docs_" + re.sub(r"\W", "_", name_of(page)))
    yield module
    for name, loaded in list(sys.modules.items()):
        if loaded is module or str(getattr(loaded, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def run_python(block: Block, page: Path, module: types.ModuleType) -> str:
    """What the block prints. Its lines keep their numbers in the page, so that failures point there."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if block.file_name is not None:
            Path(block.file_name).write_text(block.text)
            runpy.run_path(block.file_name)
        else:
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, str(page), "exec", dont_inherit=True), vars(module))
    return printed.getvalue()


def run_command(command: str) -> tuple[int, str]:
    """The exit code and what a command prints, on a screen of 100 columns without colours."""
    program, *arguments = shlex.split(command)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*PROGRAMS[program], *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"},
    )
    return done.returncode, "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def as_printed(expected: str, printed: str) -> str:
    """What a page says is printed, with the lines it leaves out filled in, if everything else is as it says."""
    parts = re.split(r"^…\n", expected, flags=re.MULTILINE)
    return printed if re.fullmatch(r"(?:.*\n)+".join(map(re.escape, parts)), printed) else expected


def test_lines_that_a_page_leaves_out_may_be_any_but_the_others_may_not() -> None:
    assert as_printed("a\n…\nd\n", "a\nb\nc\nd\n") == "a\nb\nc\nd\n"
    for printed in ("a\nd\n", "a\nb\nd\ne\n", "a b\nd\n", "x\nb\nd\n"):
        assert as_printed("a\n…\nd\n", printed) != printed


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_program_of_a_page_prints_what_the_page_says(page: Path, page_module: types.ModuleType) -> None:
    for block in blocks(page):
        where = f"{name_of(page)}:{block.line}"
        if block.kind == "python":
            printed = run_python(block, page, page_module)
            assert printed == (block.printed or ""), f"{where} prints something else"
        elif block.kind == "console":
            for command, expected in block.dialogue:
                status, printed = run_command(command)
                assert printed == as_printed(expected, printed), f"{where}: '{command}' prints something else"
                assert (status != 0) == expected.startswith("error: "), f"{where}: '{command}' ended with {status}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_known_kind_and_every_output_has_its_program(page: Path) -> None:
    found = blocks(page)
    assert {block.kind for block in found} <= KINDS
    answers = [block.below.line for block in found if block.kind == "python" and block.below is not None]
    assert {block.line for block in found if block.kind == "text"} <= set(answers)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_make_command_of_a_page_is_a_target(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = [line.split()[1] for line in _shell_lines(page) if line.startswith("make ")]
    assert set(named) <= set(targets)


def _shell_lines(page: Path) -> list[str]:
    return [line for block in blocks(page) if block.kind == "sh" for line in block.text.splitlines()]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=name_of)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)} links to {link}, but there is no such heading"


def test_every_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    reached, pending = set(), [ROOT / "README.md"]
    while pending:
        page = pending.pop()
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if ":" not in link]
        pending += [target for target in targets if target.suffix == ".md" and target not in reached]
    assert set(PAGES) <= reached


# The reference -----------------------------------------------------------------------------------------------------


def reference_text() -> str:
    return "\n".join(page.read_text() for page in REFERENCE)


def documented_calls() -> list[tuple[str, str]]:
    """(what is called, its parameters as written) of all signature blocks of the reference."""
    found = []
    for page in REFERENCE:
        for block in blocks(page):
            if block.kind == "python signature":
                found += re.findall(r"^([\w.]+)\((.*?)\)$", block.text, flags=re.MULTILINE | re.DOTALL)
    return found


def resolve(dotted: str) -> Any:
    """`ab.read_csv`, or `Stream.map` for a method."""
    owner, name = dotted.split(".")
    return getattr(ab if owner == "ab" else getattr(ab, owner), name)


def parameters_of(function: Any) -> list[tuple[str, Any, Any]]:
    listed = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in listed if each.name != "self"]


@pytest.mark.parametrize(("dotted", "written"), documented_calls(), ids=lambda value: value.partition("(")[0][:40])
def test_a_signature_in_the_reference_is_that_of_the_code(dotted: str, written: str) -> None:
    made: dict[str, Any] = {}
    exec(f"def documented({written}): ...", made)
    assert parameters_of(made["documented"]) == parameters_of(resolve(dotted))


@pytest.mark.parametrize("name", ab.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    assert re.search(rf"\bab\.{name}\b", reference_text())


def public_methods(cls: type) -> list[str]:
    return [f"{cls.__name__}.{name}" for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))]


@pytest.mark.parametrize("dotted", [*public_methods(ab.Stream), *public_methods(ab.WindowedStream)])
def test_every_operator_has_its_signature_in_the_reference(dotted: str) -> None:
    assert dotted in dict(documented_calls())


# README and ARCHITECTURE -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [ROOT / "README.md"], ids=name_of)
def test_the_program_of_the_readme_finds_what_the_example_finds(page: Path, page_module: types.ModuleType) -> None:
    write_calls("calls.csv", 20_000)
    for block in blocks(page):
        if block.kind == "python":
            run_python(block, page, page_module)
    ab.run(page_module.mobility_fraud(out="readme.csv"))
    ab.run(mobility_fraud(out="example.csv"))
    assert Path("readme.csv").read_text() == Path("example.csv").read_text()
    assert len(Path("readme.csv").read_text().splitlines()) > 5


def test_the_architecture_names_every_folder_and_module_at_the_top() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    package = ROOT / "src" / "anabranch"
    folders = [f"{folder.name}/" for folder in sorted(package.iterdir()) if any(folder.glob("*.py"))]
    modules = [file.name for file in sorted(package.glob("*.py"))]
    assert [name for name in folders + modules if f"`{name}`" not in text] == []
