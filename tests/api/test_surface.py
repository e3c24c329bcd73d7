"""The public surface: every name of the language exists, is exported, has an example, and is used in a test."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab

TESTS = Path(__file__).resolve().parent.parent

# By family, as in the design: names of the package, methods of a stream, methods of a windowed stream.
FUNCTIONS = {
    "sources": [
        "from_items", "read_csv", "read_jsonl", "read_parquet", "read_lines", "generate", "read_tcp", "beacon",
    ],
    "several ports": ["connect", "to"],
    "windows": [
        "tumbling", "sliding", "punctuated",
        "any_", "first", "last", "count", "sum_", "min_", "max_", "mean", "std", "count_distinct", "collect", "arg_max",
    ],
    "shape": ["merge_by", "barrier"],
    "hints": ["ranges", "declare"],
    "running": ["app", "run", "explain"],
}  # fmt: skip
METHODS = {
    "stateless": ["map", "filter", "flat_map"],
    "user-defined": ["process"],
    "several ports": ["outputs"],
    "windows": ["window"],
    "relational": ["join", "sort", "distinct"],
    "shape": ["split", "union", "punctuate", "feedback"],
    "sinks": ["write_csv", "write_jsonl", "write_parquet", "write_lines", "write_tcp", "collect", "for_each"],
    "hints": ["place", "named"],
}
WINDOWED = ["aggregate"]
OF_STREAMS = ["Progress", "Query"]

PARAMETERS: dict[str, list[str]] = {
    "from_items": ["order_by", "partition_by", "on_error"],
    "read_csv": ["order_by", "partition_by", "on_error"],
    "read_jsonl": ["order_by", "partition_by", "on_error"],
    "read_parquet": ["order_by", "partition_by", "on_error"],
    "read_lines": ["order_by", "partition_by", "on_error"],
    "generate": ["order_by", "partition_by", "on_error"],
    "beacon": ["count", "rate", "order_by"],
    "connect": ["key", "outputs", "on_error"],
    "tumbling": ["count", "seconds", "minutes", "delta", "on", "clock"],
    "sliding": ["count", "seconds", "minutes", "delta", "slide", "on", "clock"],
    "barrier": ["out"],
    "declare": ["state", "selectivity", "forwards", "because"],
    "run": ["engine"],
    "Stream.map": ["out", "on_error"],
    "Stream.filter": ["on_error"],
    "Stream.flat_map": ["out", "on_error"],
    "Stream.process": ["key", "out", "outputs", "on_error"],
    "Stream.window": ["key", "late"],
    "Stream.join": ["left", "right", "on", "match", "out"],
    "Stream.sort": ["count"],
    "Stream.distinct": ["key", "window"],
    "Stream.split": ["names"],
    "Stream.write_csv": ["ordered"],
    "Stream.collect": ["ordered"],
    "Stream.for_each": ["ordered", "on_error"],
    "Stream.place": ["pe", "host", "alone", "apart_from", "replica_of", "threaded"],
    "WindowedStream.aggregate": ["group_by", "on_error"],
}

NAMES = [
    *[name for names in FUNCTIONS.values() for name in names],
    *[f"Stream.{name}" for names in METHODS.values() for name in names],
    *[f"WindowedStream.{name}" for name in WINDOWED],
]


def found(name: str) -> Any:
    owner, _, attribute = name.rpartition(".")
    return getattr(getattr(ab, owner), attribute) if owner else getattr(ab, name)


@pytest.mark.parametrize("name", NAMES)
def test_it_exists_and_is_exported(name: str) -> None:
    assert name.partition(".")[0] in ab.__all__
    assert callable(found(name)) or isinstance(found(name), property)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_documented_with_an_example_that_runs(name: str) -> None:
    text = inspect.getdoc(found(name)) or ""
    assert text.partition("\n")[0].endswith((".", ":", "…")), "a first line that says what it does"
    assert ">>> " in text


@pytest.mark.parametrize("name", PARAMETERS)
def test_it_takes_the_parameters_the_design_names(name: str) -> None:
    assert [p for p in PARAMETERS[name] if p not in inspect.signature(found(name)).parameters] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_is_used_in_a_test(name: str) -> None:
    owner, _, attribute = name.rpartition(".")
    functions, methods = names_used_in_tests()
    assert attribute in (methods if owner else functions)


@cache
def names_used_in_tests() -> tuple[frozenset[str], frozenset[str]]:
    """What test files take from `ab` itself, and what they take from anything else."""
    functions, methods = set(), set()
    for path in sorted(TESTS.rglob("test_*.py")):
        if path == Path(__file__).resolve():
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                is_ours = isinstance(node.value, ast.Name) and node.value.id == "ab"
                (functions if is_ours else methods).add(node.attr)
    return frozenset(functions), frozenset(methods)


def test_everything_exported_exists_and_is_listed_once() -> None:
    assert [name for name in ab.__all__ if not hasattr(ab, name)] == []
    assert list(ab.__all__) == sorted(set(ab.__all__))


def test_nothing_is_public_that_is_not_exported() -> None:
    others = {"Any", "TYPE_CHECKING"}
    public = [name for name, value in vars(ab).items() if not name.startswith("_") and not inspect.ismodule(value)]
    assert sorted({*public, *OF_STREAMS} - others) == sorted(ab.__all__)


def test_the_classes_of_streams_are_there_but_not_imported_before_they_are_asked_for() -> None:
    code = "import sys; import anabranch as ab; assert not {'pyspark', 'pyarrow'} & {*sys.modules}; print(ab.Query)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == f"{ab.Query!r}\n"
    with pytest.raises(AttributeError, match="has no attribute 'Queries'"):
        ab.Queries  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ab.__all__)
def test_everything_exported_has_a_docstring_of_its_own(name: str) -> None:
    value = getattr(ab, name)
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}("), "that is what a dataclass writes by itself"


def test_every_public_method_of_a_stream_is_documented_with_an_example() -> None:
    methods = [name for name in dir(ab.Stream) if not name.startswith("_")]
    known = [name for names in METHODS.values() for name in names]
    assert sorted(methods) == sorted([*known, "type"])


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(ab.__file__).parent / "py.typed").exists()
