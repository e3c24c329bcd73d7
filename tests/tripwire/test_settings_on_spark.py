"""Settings of the process on a real Spark: workers have those of the program while they work for it, and no longer.

Not beside the other tests of Spark: a module that sets something makes the analysis careful with all that know it.
"""

from __future__ import annotations

import codecs
import csv
import decimal
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.dataflow.transport.process_settings import SETTINGS, ProcessSettings
from anabranch.errors import SharedStateError
from tests.tripwire.traps import Reading
from tests.tripwire.unsafe import analysis_switched_off

ITEMS = [Reading(n % 5, n) for n in range(2_000)]


def readings() -> ab.Stream[Reading]:
    return ab.from_items(Reading, ITEMS)


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
    sink = readings().map(replaces, out=Text).collect("out")
    with analysis_switched_off(), pytest.raises(SharedStateError) as caught:
        ab.run(sink, engine="spark", spark=session, channels=2)
    assert (caught.value.what, caught.value.when) == ("the error handler `dots-of-mine` of codecs", "begin")


class Third:
    """In one place, since it counts for all: in the driver, where Spark calls in a thread of its own."""

    seen = 0

    def process(self, r: Reading) -> Text:
        Third.seen += 1
        return Text(r.value, str(decimal.Decimal(1) / 3))


def test_what_a_stream_does_in_the_driver_has_the_contexts_of_the_program(session: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("key,value\n1,2\n3,4\n")
    sink = ab.read_csv(tmp_path / "in", Reading).process(Third, out=Text).write_csv(tmp_path / "out.csv")
    with decimal.localcontext(prec=5):
        ab.start(sink, checkpoint=tmp_path / "state", spark=session).finish()
    assert (tmp_path / "out.csv").read_text().splitlines() == ["n,text", "2,0.33333", "4,0.33333"]
