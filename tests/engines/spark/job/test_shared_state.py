"""The tripwire on a real Spark: with the analysis switched off, an unsafe operator is an error before any output."""

from __future__ import annotations

import codecs
import csv
import math
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.dataflow.transport.process_settings import SETTINGS, ProcessSettings
from anabranch.errors import SharedStateError
from tests.tripwire import traps
from tests.tripwire.traps import Reading
from tests.tripwire.unsafe import analysis_switched_off

ITEMS = [Reading(n % 5, n) for n in range(2_000)]
large = np.zeros(1 << 18)


def writes(r: Reading) -> Reading:
    large[r.value] += 1
    return r


def error_of(session: Any, sink: Any) -> SharedStateError:
    with analysis_switched_off(), pytest.raises(SharedStateError) as caught:
        ab.run(sink, engine="spark", spark=session, channels=2)
    return caught.value


def readings() -> ab.Stream[Reading]:
    return ab.from_items(Reading, ITEMS)


@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (traps.by_global, "the global `total` of `tests.tripwire.traps`"),
        (traps.by_missing, "the global `numbering` of `tests.tripwire.traps`"),
        (traps.by_value_pattern, "the class attribute `patterns.SLY`"),
        (traps.by_class_getitem, "the class attribute `Subscribed.made`"),
        (traps.by_annotation, "the global `seen` of `tests.tripwire.traps`"),
    ],
)
def test_behind_a_source(session: Any, fn: Any, what: str) -> None:
    error = error_of(session, readings().map(fn, out=Reading).collect("out"))
    assert (error.what, error.when) == (what, "end")
    assert error.result.items("out") == []  # type: ignore[attr-defined]


def test_in_channels_and_into_a_folder(session: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    error = error_of(session, readings().process(traps.CountsAll, key="key", out=Reading).write_csv(f"{out}/"))
    assert error.what == "the class attribute `CountsAll.everybody`"
    assert not out.exists()


def test_a_function_of_a_library_that_was_replaced_is_seen_before_anything_runs(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers have the original."""
    monkeypatch.setattr(math, "sqrt", traps.mine)
    error = error_of(session, readings().map(traps.root).collect("out"))
    assert (error.what, error.when) == ("`math.sqrt`", "begin")
    assert error.defined_at is not None
    assert error.defined_at.code == "def mine(*arguments: Any) -> Any:"


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_write_to_a_large_array(session: Any, on_error: Any) -> None:
    error = error_of(session, readings().map(writes, on_error=on_error).collect("out"))
    assert (error.when, "`large`" in error.what) == ("write", True)


# Settings of the process ----------------------------------------------------------------------------------------------


class Text(NamedTuple):
    n: int
    text: str


def computes(r: Reading) -> Text:
    """What it gives, or which error, is decided by settings of the process."""
    found = []
    for attempt in (parsed, divided, deep, warned):
        try:
            found.append(attempt(r.value))
        except Exception as problem:
            found.append(type(problem).__name__)
    return Text(r.value, " ".join(found))


def parsed(n: int) -> str:
    return str(len(next(csv.reader(["x" * (50 + n % 60)]))[0]))


def divided(n: int) -> str:
    with np.errstate():
        return str(np.array([1.0, 0.5]) / (n % 3))


def deep(n: int) -> str:
    return str(nested(700 + n % 2 * 900))


def nested(depth: int) -> int:
    return 0 if depth == 0 else 1 + nested(depth - 1)


def warned(n: int) -> str:
    return str(np.mean(np.zeros(n % 2)))  # of nothing: a RuntimeWarning


def test_workers_have_the_settings_of_the_program(session: Any) -> None:
    before = ProcessSettings.here()
    default = ab.run(readings().map(computes, out=Text).collect("out"), engine="sequential").items("out")
    try:
        csv.field_size_limit(80)
        sys.setrecursionlimit(3_000)
        np.seterr(divide="raise")
        np.set_printoptions(precision=2)
        warnings.simplefilter("error")
        sequential = ab.run(readings().map(computes, out=Text).collect("out"), engine="sequential").items("out")
        with analysis_switched_off():
            result = ab.run(
                readings().map(computes, out=Text).collect("out"), engine="spark", spark=session, channels=2
            )
    finally:
        for each in SETTINGS:
            each.write(sys.modules[each.module], before.values[each.what])
    assert sequential != default
    assert result.items("out") == sequential
    with analysis_switched_off():
        result = ab.run(readings().map(computes, out=Text).collect("out"), engine="spark", spark=session, channels=2)
    assert result.items("out") == default, "and have their own again"


def replaces(r: Reading) -> Text:
    return Text(r.value, "aé".encode("ascii", "dots-of-mine").decode())


def test_an_error_handler_that_only_the_program_has_is_an_error(session: Any) -> None:
    codecs.register_error("dots-of-mine", lambda problem: ("...", problem.end))
    error = error_of(session, readings().map(replaces, out=Text).collect("out"))
    assert (error.what, error.when) == ("the error handler `dots-of-mine` of codecs", "begin")
