"""A library's name counts as the library's only while it stands for what the library put there."""

from __future__ import annotations

import functools
import importlib
import json
import math
import subprocess
import sys
import textwrap
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType

import numpy
import pytest

from anabranch.analysis import genuine, methods, per_class, purity, special_calls


def _listed() -> list[tuple[ModuleType, str]]:
    """Every function that the analysis takes to be pure, or has a rule for."""
    rows = [(importlib.import_module(module), name) for module, _, names in purity._ROWS for name in names.split()]
    for name in purity._NUMPY.split():
        *path, last = name.split(".")
        rows.append((functools.reduce(getattr, path, numpy), last))
    rows += [(sys.modules[function.__module__], function.__name__) for function, _ in special_calls._HANDLERS]
    return [(module, name) for module, name in rows if name in vars(module)]


LISTED = _listed()


def _with(module: ModuleType, name: str, value: object) -> ModuleType:
    """A copy of a module in which a name stands for something else."""
    changed = ModuleType(module.__name__)
    vars(changed).update(vars(module))
    vars(changed)[name] = value
    return changed


def test_every_function_that_has_a_rule_is_known_to_be_the_librarys_own() -> None:
    assert [(module.__name__, name) for module, name in LISTED if not genuine.is_genuine(module, name)] == []
    assert len(LISTED) > 500


def test_a_function_put_in_place_of_any_of_them_is_not_the_librarys() -> None:
    def mine(*values: object) -> float:
        return 1.0

    mine.__module__ = "math"
    others = (
        mine,
        lambda *values: 1.0,
        functools.partial(max, 0),
        functools.lru_cache(mine),
        breakpoint,
        json.detect_encoding,
    )
    taken = [
        (module.__name__, name, other)
        for module, name in LISTED
        for other in others
        if genuine.is_genuine(_with(module, name, other), name)
    ]
    assert taken == []


def test_two_functions_of_one_library_that_changed_places_are_not_its_own() -> None:
    assert not genuine.is_genuine(_with(math, "sqrt", math.cos), "sqrt")
    assert not genuine.is_genuine(_with(json, "dumps", json.loads), "dumps")
    assert not genuine.is_genuine(_with(numpy, "sqrt", numpy.cos), "sqrt")


def test_a_function_with_the_name_and_home_of_the_librarys_but_other_code_is_not_its_own() -> None:
    forged = FunctionType(json.loads.__code__.replace(co_name="dumps"), vars(json), "dumps")
    assert not genuine.is_genuine(_with(json, "dumps", forged), "dumps")


def test_the_classes_whose_methods_are_known_are_the_librarys_own() -> None:
    classes = [*methods.CHANGING, *methods.PURE, *methods.LIBRARY_VALUES]
    assert [
        cls for cls in classes if not cls.__module__.startswith("anabranch") and not genuine.is_own_class(cls)
    ] == []


@pytest.mark.parametrize(("cls", "name"), [(Counter, "update"), (Counter, "__missing__"), (Fraction, "__add__")])
def test_a_class_with_a_method_of_the_programs_is_not_the_librarys_any_more(
    cls: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cls, name, lambda *values: None)
    per_class.forget_classes()
    assert not genuine.is_own_class(cls)
    monkeypatch.undo()
    per_class.forget_classes()
    assert genuine.is_own_class(cls)


REPLACED = {
    "math.sqrt = mine": "math.sqrt(t.k)",
    "setattr(math, 'sqrt', mine)": "math.sqrt(t.k)",
    "patch(math, 'sqrt')": "math.sqrt(t.k)",
    "math.sqrt = math.cos": "math.sqrt(t.k)",
    "json.dumps = mine": "len(json.dumps(t.k))",
    "json.dumps = pprint.pformat": "len(json.dumps(t.k))",
    "re.sub = mine": "len(re.sub('1', '2', '1'))",
    "statistics._sum = mine": "statistics.mean([t.k])",
    "collections.Counter.update = mine": "collections.Counter('a')['a']",
    "patch(collections.Counter, 'update')": "collections.Counter('a')['a']",
    "patch(fractions.Fraction, '__add__')": "float(fractions.Fraction(1, 2) + t.k)",
    "string.Template.delimiter = '@'": "len(string.Template('$x').substitute(x=t.k))",
    "builtins.abs = mine": "abs(t.k)",
    "vars(math)['sqrt'] = mine": "math.sqrt(t.k)",
}
PROGRAM = """
    import builtins, collections, fractions, json, math, pprint, re, statistics, string
    from typing import NamedTuple
    from anabranch.analysis import analyze_function
    from anabranch.graph.schema import schema_of

    class T(NamedTuple):
        k: float

    def mine(*values):
        return 1.0

    def patch(owner, name):
        setattr(owner, name, mine)

    {replaced}

    {operators}

    for operator in [{names}]:
        findings = analyze_function(operator, input=schema_of(T), output=schema_of(T), emits="one")
        print("shared" if findings.shared else "parallel")
"""


def _verdicts(folder: Path, replaced: str, *used: str) -> list[str]:
    """In a process of its own: what is replaced stays replaced."""
    file = folder / "program.py"
    operators = [f"def operator_{at}(t: T) -> T: return T({text})" for at, text in enumerate(used)]
    names = ", ".join(f"operator_{at}" for at in range(len(used)))
    program = textwrap.dedent(PROGRAM).format(replaced=replaced, operators="\n".join(operators), names=names)
    file.write_text(program)
    answer = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    return answer.stdout.split()


@pytest.mark.parametrize("replaced", REPLACED)
def test_an_operator_that_calls_what_the_program_has_replaced_is_not_parallel(replaced: str, tmp_path: Path) -> None:
    assert _verdicts(tmp_path, replaced, REPLACED[replaced]) == ["shared"]


def test_the_same_operators_are_parallel_where_the_library_is_as_it_was(tmp_path: Path) -> None:
    used = sorted(set(REPLACED.values()))
    assert _verdicts(tmp_path, "pass", *used) == ["parallel"] * len(used)
