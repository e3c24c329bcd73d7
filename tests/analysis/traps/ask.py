"""What the analysis says of traps: many share a module, each is judged by itself."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.schema import schema_of

from .generate import HEADER, Trap, numbered

# More would be faster, but then one trap may give away another.
PER_MODULE = 10
TESTS = Path(__file__).parents[2]
EMITS = {"map": "one", "filter": "predicate", "flat_map": "many"}


@contextlib.contextmanager
def loaded(traps: Sequence[Trap], name: str = "generated_traps") -> Iterator[tuple[ModuleType, list[Any]]]:
    """A module with the traps, and their operators, as if a user had written it."""
    sources = [numbered(trap, at) for at, trap in enumerate(traps)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(HEADER + "\n\n" + "\n\n".join(source for source, _ in sources))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with out_of_sight():
            sys.modules[name] = module
            spec.loader.exec_module(module)
            yield module, [getattr(module, operator) for _, operator in sources]


@contextlib.contextmanager
def out_of_sight() -> Iterator[None]:
    """The analysis takes all that is imported for one program: what the tests do must not give a trap away."""
    hidden = {name: sys.modules[name] for name in list(sys.modules) if _is_of_tests(name)}
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in list(sys.modules):
            if _is_of_tests(name) or name.startswith("generated_"):
                del sys.modules[name]
        sys.modules.update(hidden)


def _is_of_tests(name: str) -> bool:
    """Modules of the tests, whatever their names: pytest gives them some of its own."""
    return name.partition(".")[0] == "tests" or _is_file_of_tests(getattr(sys.modules[name], "__file__", None))


@functools.cache
def _is_file_of_tests(file: str | None) -> bool:
    return file is not None and Path(file).is_relative_to(TESTS)


def reasons_against(module: ModuleType, trap: Trap, operator: Any) -> list[str]:
    """Why the analysis would not run the operator in parallel; nothing where it would."""
    schema = schema_of(module.T)
    if trap.is_keyed:
        found = analyze_operator(operator, inputs={"process": schema}, output=schema)
        return [str(reason) for reason in found.shared]
    found = analyze_function(operator, input=schema, output=schema, emits=EMITS[trap.kind])
    return [str(reason) for reason in (*found.shared, *found.own)] or (["at end"] if found.emits_at_end else [])


def called_safe(traps: Sequence[Trap]) -> list[Trap]:
    """The traps that the analysis would run in parallel."""
    unsafe, blamed = _judged(traps, PER_MODULE)
    return unsafe + _judged(blamed, 1)[0]


# What a neighbour in the module may be the cause of, and not the trap itself.
_OF_NEIGHBOURS = ("by other means", "is exchanged by a function")


def _judged(traps: Sequence[Trap], per_module: int) -> tuple[list[Trap], list[Trap]]:
    """Those that are called safe, and those that may only be refused for what their neighbours do."""
    unsafe, blamed = [], []
    for at in range(0, len(traps), per_module):
        some = traps[at : at + per_module]
        with loaded(some, f"generated_traps_{at}") as (module, operators):
            for trap, operator in zip(some, operators, strict=True):
                reasons = reasons_against(module, trap, operator)
                if not reasons:
                    unsafe.append(trap)
                elif all(any(words in reason for words in _OF_NEIGHBOURS) for reason in reasons):
                    blamed.append(trap)
    return unsafe, blamed


def claimed_selectivities(traps: Sequence[Trap]) -> list[str]:
    """How many tuples the analysis says that each trap emits."""
    claimed = []
    for at in range(0, len(traps), PER_MODULE):
        some = traps[at : at + PER_MODULE]
        with loaded(some, f"generated_emissions_{at}") as (module, operators):
            schema = schema_of(module.T)
            for operator in operators:
                found = analyze_function(operator, input=schema, output=schema, emits="many")
                claimed.append(found.selectivity.value)
    return claimed
