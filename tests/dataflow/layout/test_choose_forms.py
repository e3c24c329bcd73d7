"""Which form the code of a processing element takes, why, and what the code is."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.errors import UsageError
from anabranch.run import FORMS


class Reading(NamedTuple):
    sensor: int
    text: str
    value: float


class Sum(NamedTuple):
    sensor: int
    value: float
    count: int


def parse(reading: Reading) -> Reading:
    return reading._replace(value=json.loads(reading.text))


class Total:
    def __init__(self) -> None:
        self.value = 0.0
        self.count = 0

    def process(self, reading: Reading) -> Iterator[Sum]:
        self.value += reading.value
        self.count += 1
        yield Sum(reading.sensor, self.value, self.count)


class Root(Total):
    def process(self, reading: Reading) -> Iterator[Sum]:
        root = reading.value
        for _ in range(20):
            root = root - (root * root - reading.value) / (2.0 * root + 1.0)
        self.value += root
        self.count += 1
        yield Sum(reading.sensor, self.value, self.count)


READINGS = ab.from_items(Reading, [])
NATIVE = READINGS.filter(lambda r: r.value > 0.0).named("positive").process(Total, key="sensor").collect("out")
PYTHON = READINGS.map(parse).collect("out")
LATER = READINGS.map(parse).process(Total, key="sensor").filter(lambda s: s.count > 1).named("later").collect("out")
MIXED = READINGS.map(parse).process(Root, key="sensor").filter(lambda s: s.count > 1).named("later").collect("out")
LINE_OF_LOADS = inspect.getsourcelines(parse)[1] + 1


explain = partial(ab.explain, engine="fused", expect=1_000_000_000)


def with_code(explanation: ab.Explanation) -> list[dict[str, Any]]:
    return [pe for pe in explanation.to_dict()["pes"] if pe["segments"]]


def pe_lines(explanation: ab.Explanation) -> str:
    _, _, text = str(explanation).partition("\nPEs\n")
    return text.partition("\n\n")[0]


# Forms -------------------------------------------------------------------------------------------------------------


def test_what_can_be_native_is() -> None:
    (pe,) = with_code(explain(NATIVE))
    assert (pe["operators"], pe["form"], pe["reason"]) == (["positive", "Total", "out"], "native", None)
    assert "  PE2  positive, Total, out\n       native form" in pe_lines(explain(NATIVE))


def test_what_cannot_be_native_says_which_operator_and_line_are_the_reason() -> None:
    (pe,) = with_code(explain(PYTHON))
    where = f"tests/dataflow/layout/test_choose_forms.py:{LINE_OF_LOADS}"
    assert pe["form"] == "python"
    assert pe["reason"] == {"about": "form", "text": "`parse` calls json.loads", "location": where, "hint": None}
    assert f"       Python form: `parse` calls json.loads ({where})" in pe_lines(explain(PYTHON))


def test_a_segment_that_pays_stays_native_and_each_says_its_form() -> None:
    explanation = explain(MIXED)
    (pe,) = with_code(explanation)
    assert (pe["form"], pe["reason"]["text"]) == ("mixed", "`parse` calls json.loads")
    segments = [(segment["operators"], segment["form"]) for segment in pe["segments"]]
    assert segments == [(["parse"], "python"), (["Root", "later"], "native")]
    assert "       parse: Python form: `parse` calls json.loads" in pe_lines(explanation)
    assert "       Root, later: native form" in pe_lines(explanation)


def test_a_segment_that_does_not_pay_for_handing_tuples_over_is_not_cut_out() -> None:
    (pe,) = with_code(explain(LATER))
    assert [(segment["operators"], segment["form"]) for segment in pe["segments"]] == [
        (["parse", "Total", "later"], "python")
    ]
    assert pe["reason"]["text"] == "`parse` calls json.loads"


def test_sources_and_sinks_have_no_code() -> None:
    explanation = explain(READINGS.collect("out"))
    assert [(pe["form"], pe["reason"], pe["segments"]) for pe in explanation.to_dict()["pes"]] == [(None, None, [])] * 2
    assert "form" not in pe_lines(explanation)
    assert explanation.to_code() == ""


def test_the_python_form_can_be_asked_for() -> None:
    explanation = explain(NATIVE, form="python")
    (pe,) = with_code(explanation)
    assert (pe["form"], pe["reason"]) == ("python", None)
    assert "       Python form, as asked for" in pe_lines(explanation)


def test_what_cannot_have_the_form_that_was_asked_for_says_so() -> None:
    explanation = explain(PYTHON, form="native")
    (pe,) = with_code(explanation)
    assert (pe["form"], pe["reason"]["text"]) == (None, "`parse` calls json.loads")
    assert "       cannot be native: `parse` calls json.loads" in pe_lines(explanation)
    assert explanation.to_code().startswith("# PE2: parse: cannot be native: `parse` calls json.loads (")


def test_the_form_is_chosen_in_the_last_stage() -> None:
    assert with_code(explain(NATIVE, stage="fuse")) == []
    assert "form" not in pe_lines(explain(NATIVE, stage="fuse"))


def test_an_unknown_form_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="there is no form 'fast' of generated code") as raised:
        explain(NATIVE, form="fast")
    assert raised.value.hint == f"use one of: {', '.join(FORMS)}"


def test_explaining_needs_no_compiler() -> None:
    """Importing numba would take longer than most explanations."""
    script = """
import sys
import anabranch as ab
from tests.dataflow.layout.test_choose_forms import MIXED
explanation = ab.explain(MIXED, engine="fused", expect=1_000_000_000)
assert "native form" in str(explanation)
assert explanation.to_code() and explanation.to_html()
print([name for name in ("numba", "llvmlite") if name in sys.modules])
"""
    printed = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed == "[]\n"


# Code --------------------------------------------------------------------------------------------------------------


def test_the_code_is_that_of_all_segments_and_names_their_operators() -> None:
    code = explain(MIXED).to_code()
    first, second = code.split("\n\n\n# PE2: ")
    assert first.startswith("# PE2: parse: Python form: `parse` calls json.loads (")
    kept = "# Root keeps a Root by sensor: value: float, count: int"
    assert second.startswith(f"Root, later: native form\n\n{kept}\n\nimport ")
    assert "# map 'parse'" in first
    assert "# Root (" in second
    assert "# later (" in second
    for piece in (first, second.partition("\n")[2]):
        ast.parse(piece)


def test_the_code_is_of_the_form_that_was_asked_for() -> None:
    native, python = explain(NATIVE).to_code(), explain(NATIVE, form="python").to_code()
    assert "@njit" in native
    assert "@njit" not in python
    assert "process 'Total'" in python


def test_before_operators_are_fused_there_is_no_code() -> None:
    with pytest.raises(UsageError, match="after the stage 'regions' there is no code yet"):
        explain(NATIVE, stage="regions").to_code()
