"""The tripwire on a real Spark: with the analysis switched off, an unsafe operator is an error before any output."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
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
