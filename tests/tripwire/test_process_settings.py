"""What a program has set for its whole process, workers have too, as long as they work for it."""

from __future__ import annotations

import calendar
import csv
import decimal
import locale
import subprocess
import sys
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources.batching import draw_soon
from anabranch.dataflow.transport import process_settings
from anabranch.dataflow.transport.process_settings import SETTINGS, ProcessSettings
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError, SharedStateError
from anabranch.run import as_program
from tests.tripwire.unsafe import Apart, analysis_switched_off, run_unsafely


class Number(NamedTuple):
    n: int


NUMBERS = [Number(n) for n in range(20)]


class Strange(UserWarning):
    """A class of the user's."""


def shout(kind: str, flag: int) -> None:
    raise FloatingPointError(kind)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = ProcessSettings.here()
    yield
    for each in SETTINGS:
        if each.what in before.values:
            each.write(sys.modules[each.module], before.values[each.what])


def change_all() -> None:
    sys.setrecursionlimit(1_234)
    sys.set_int_max_str_digits(5_000)
    csv.field_size_limit(77)
    csv.register_dialect("mine", delimiter=";", quotechar="'")
    decimal.setcontext(decimal.Context(prec=5, rounding=decimal.ROUND_UP, traps=[decimal.Inexact]))
    np.seterr(over="raise", invalid="call")
    np.seterrcall(shout)
    np.setbufsize(4096)
    np.set_printoptions(precision=3)
    locale.setlocale(locale.LC_TIME, "C.UTF-8")
    calendar.setfirstweekday(6)
    warnings.filterwarnings("error", "strange.*", Strange)


def shown(settings: ProcessSettings) -> list[str]:
    return [f"{name}: {value!r}" for name, value in sorted(settings.values.items()) if name != "numpy.seterrcall"]


ELSEWHERE = """
import calendar, csv, decimal, locale, sys, warnings, numpy, cloudpickle
from anabranch.dataflow.transport.process_settings import ProcessSettings
from tests.tripwire.test_process_settings import shown
sent = cloudpickle.load(sys.stdin.buffer)
before = shown(ProcessSettings.here())
with sent.taken_over() as refused:
    inside = shown(ProcessSettings.here())
    with sent.taken_over():
        pass
    assert shown(ProcessSettings.here()) == inside, "the inner one is not the last"
assert shown(ProcessSettings.here()) == before, "all is put back"
print(refused, *inside, sep="\\n")
"""


def test_another_process_takes_them_over_and_puts_its_own_back() -> None:
    change_all()
    here = ProcessSettings.here()
    assert set(here.values) == {each.what for each in SETTINGS}
    found = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=cloudpickle.dumps(here), capture_output=True, check=True
    ).stdout.decode()
    assert found.splitlines() == ["None", *shown(here)]


def test_a_filter_for_warnings_of_a_package_that_a_worker_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("only_here")
    package.Odd = type("Odd", (UserWarning,), {"__module__": "only_here"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "only_here", package)
    filters = [("error", None, package.Odd, None, 0), ("error", None, Strange, None, 0)]
    sent = cloudpickle.dumps(ProcessSettings({"warnings.filters": filters}))
    monkeypatch.delitem(sys.modules, "only_here")
    assert cloudpickle.loads(sent).values == {"warnings.filters": filters[1:]}


def test_what_is_as_it_is_in_the_driver_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_settings, "_write", lambda values: pytest.fail(f"{values}") if values else None)
    with ProcessSettings.here().taken_over() as refused:
        assert refused is None


def counted(number: Number) -> Number:
    return number._replace(n=number.n * 2)


def program(fn: Any) -> Any:
    return as_program(ab.from_items(Number, NUMBERS).map(fn, out=Number).collect("out")).graph


class Elsewhere(Apart):
    """A cluster whose machines do not have what the driver has."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        impossible = ProcessSettings({"locale.setlocale": {"LC_TIME": "xx_XX"}})
        return super().rows(replace(job, settings=impossible), given)


def test_one_that_a_worker_cannot_have_is_named() -> None:
    with analysis_switched_off():
        plan = compile(program(counted))
    with pytest.raises(RunError) as caught:
        run_on(Elsewhere(), plan, Metrics(), channels=2, stretch=7)
    text = str(caught.value)
    assert text.startswith("workers cannot have a setting of your process: locale.setlocale cannot be {'LC_TIME': ")
    assert "unsupported locale setting" in text
    assert "test_process_settings.py" in text
    assert "try: set it back before the program runs" in text


def limits(number: Number) -> Number:
    csv.field_size_limit(100 + number.n)
    return number


def test_an_operator_that_changes_one_trips_the_wire() -> None:
    with pytest.raises(SharedStateError) as caught:
        run_unsafely(program(limits))
    assert caught.value.what == "the setting `csv.field_size_limit`"


def test_so_does_one_in_the_driver_behind_channels() -> None:
    stream = ab.from_items(Number, NUMBERS).map(counted, out=Number)
    with pytest.raises(SharedStateError) as caught:
        run_unsafely(as_program(stream.for_each(limits)).graph)
    assert (caught.value.what, caught.value.when) == ("the setting `csv.field_size_limit`", "here")


def rounded(number: Number) -> Number:
    return Number(len(str(decimal.Decimal(1) / 3)))


def test_a_thread_that_draws_from_a_live_source_has_the_contexts_of_the_program() -> None:
    decimal.setcontext(decimal.Context(prec=5))
    drawn_by = []

    def numbers() -> Iterator[Number]:
        drawn_by.append(threading.current_thread())
        yield rounded(Number(0))

    graph = as_program(ab.generate(Number, numbers).collect("out")).graph
    drawn = [each for each in draw_soon(graph.sources) if each is not None]
    assert drawn_by != [threading.current_thread()]
    assert drawn[0][1] == Number(len("0.33333"))
