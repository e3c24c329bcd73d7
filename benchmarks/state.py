"""What state costs: `python -m benchmarks.state` (`--quick` for a short look).

native_resume: mobility fraud with a million phones, of which some calls come twice at the same moment, so that their
speed is a division by zero, which is skipped: its speed with so many of these, over that with none.
save_ms, restore_ms: all of the state of those phones, in both forms.

The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import anabranch as ab
from anabranch.codegen.chunks import Batch
from anabranch.codegen.pe import ProcessingElement
from benchmarks.codegen.elements import element, oracle
from benchmarks.codegen.inputs import COLUMN_CHUNK, Data, column_batches, columns_of, scattered_ids
from benchmarks.codegen.measure import Contestant, Figure, race, ratio
from benchmarks.codegen.travels import Call, Travel, distance
from benchmarks.machine import print_machine

PHONES, CALLS = 1_000_000, 2_000_000
SHARES = (0.0001, 0.01, 0.1)
CLONED = 0.01  # of the calls are made far away
CALLS_PER_SECOND, MINUTES = 20.0, 10


class Count(NamedTuple):
    ts: float
    n: int


class Speed:
    """As in mobility fraud, but two calls at the same moment have no speed: that is an error of the second."""

    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        before = self.last
        self.last = call
        if before is not None:
            hours = (call.ts - before.ts) / 3600
            yield Travel(call.phone, distance(before, call) / hours, call.ts)


def program(calls: list[Call]) -> Any:
    return (
        ab.from_items(Call, calls)
        .filter(lambda call: call.area == "425")
        .process(Speed, key="phone", on_error="skip")
        .filter(lambda travel: travel.speed > 300.0)
        .window(ab.tumbling(minutes=MINUTES, on="ts"))
        .aggregate(Count, ts=ab.last("ts"), n=ab.count())
        .collect("out")
    )


def first_calls(phones: int) -> Data:
    """One of each phone, before all others."""
    random = np.random.default_rng(1)
    return _calls(random, scattered_ids(random, phones), np.arange(phones) / CALLS_PER_SECOND / phones, 0.0)


def calls(phones: int, count: int, twice: float) -> Data:
    """Calls of any phones, of which such a share is the same as the one before."""
    random = np.random.default_rng(1)
    ids = scattered_ids(random, phones)
    times = 1 + (np.arange(count) + random.random(count)) / CALLS_PER_SECOND
    found = _calls(random, ids[random.integers(0, phones, count)], times, CLONED)
    rows = np.arange(count)
    again = 1 + 2 * np.flatnonzero(random.random(count // 2 - 1) < 2 * twice)
    rows[again] -= 1
    return Data(found.types, (found.streams[0].take(pa.array(rows)),))


def _calls(random: np.random.Generator, phones: Any, times: Any, cloned: float) -> Data:
    count = len(phones)
    away = np.where(random.random(count) < cloned, 400.0, 0.0)
    areas = pa.array(["425"]).take(pa.array(np.zeros(count, np.int64)))
    x, y = random.random((2, count)) * 40
    return Data((Call,), (columns_of(Call, phone=phones, area=areas, x=x + away, y=y, ts=times),))


def without_end(data: Data) -> list[Batch]:
    """What a processing element is given of a stream that goes on."""
    return [Batch((chunk.marked(),)) for batch in column_batches(data) for chunk in batch.chunks if chunk is not None]


class Run:
    """A share of calls that come twice, from a state that has all phones."""

    def __init__(self, made: ProcessingElement, begun: bytes, batches: list[Batch]) -> None:
        self.element, self.begun, self.batches = made, begun, batches

    def rewind(self) -> None:
        if self.element.form == "python":  # too many came twice
            self.element = element(program([]), "native")
        self.element.restore(self.begun)

    def __call__(self) -> list[Any]:
        return [self.element.process(batch)[0].batch for batch in self.batches]


def resume(phones: int, count: int, rounds: int) -> dict[str, Any]:
    """The speeds with some calls that come twice over that with none."""
    begun = element(program([]), "native")
    for batch in without_end(first_calls(phones)):
        begun.process(batch)
    saved = begun.save()
    ratios: dict[str, Any] = {}
    for share in SHARES:
        runs = {each: _run(saved, calls(phones, count, each)) for each in (0.0, share)}
        contestants = [Contestant(str(each), count, run, run.rewind) for each, run in runs.items()]
        for run in runs.values():
            run.rewind()
            run()
        # Where native code is left, a run takes many times as long, and a million instances are made in it.
        speeds = race(contestants, 1 if share == SHARES[-1] else rounds)
        figure = ratio(speeds, str(share), "0.0")
        assert figure is not None
        ratios[f"{share:.2%}"] = {
            **asdict(figure),
            "tuples_per_second": statistics.median(speeds[str(share)]),
            "form": runs[share].element.form,
        }
    return ratios


def _run(saved: bytes, data: Data) -> Run:
    return Run(element(program([]), "native"), saved, without_end(data))


def saving(phones: int, form: Any, rounds: int) -> dict[str, Figure]:
    """Milliseconds to save and restore the state of all phones."""
    made, other = element(program([]), form), element(program([]), form)
    for batch in without_end(first_calls(phones)):
        made.process(batch)
    times: dict[str, list[float]] = {"save_ms": [], "restore_ms": []}
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        saved = made.save()
        between = time.process_time()
        other.restore(saved)
        times["save_ms"].append(1000 * (between - start))
        times["restore_ms"].append(1000 * (time.process_time() - between))
    return {name: Figure.of(each) for name, each in times.items()}


def check(phones: int, count: int) -> None:
    """That what is measured gives what the oracle gives."""
    data = calls(phones, count, 0.01)
    made = element(program([]), "native")
    found = [row for batch in column_batches(data) for row in made.process(batch)[0].rows]
    assert made.form == "native"
    assert found == oracle(program, data.rows()), "native code gives other tuples"
    assert all(isinstance(row, Count) for row in found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer phones, calls and rounds")
    quick = parser.parse_args().quick
    phones, count, rounds = (20_000, 2 * COLUMN_CHUNK, 1) if quick else (PHONES, CALLS, 5)
    console = Console()
    print_machine(console, ("numba", "numpy", "pyarrow"))
    check(2_000, 40_000)
    resumed = resume(phones, count, rounds)
    kept = {form: saving(phones, form, rounds) for form in ("native", "python")}

    table = Table("calls that come twice", "speed over none", "least", "most", "tuples per second", "ends as")
    for share, each in resumed.items():
        table.add_row(share, *(f"{each[name]:.2f}" for name in ("median", "least", "most")),
                      f"{each['tuples_per_second']:,.0f}", each["form"])  # fmt: skip
    console.print(table)
    table = Table("form", "save", "restore", title=f"{phones:,} keys, milliseconds")
    for form, figures in kept.items():
        table.add_row(form, *(f"{each.median:,.0f}" for each in figures.values()))
    console.print(table)
    figures = {
        "native_resume": {share: each["median"] for share, each in resumed.items()},
        **{name: {form: kept[form][name].median for form in kept} for name in ("save_ms", "restore_ms")},
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
