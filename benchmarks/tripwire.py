"""What the tripwire costs: `python -m benchmarks.tripwire` (`--quick` for a short look).

Each program runs on Spark with it and without it, in turns, in one session. On a machine with other work the times
differ by more than the cost, so it is also measured by itself: the seconds of all looks that a run takes, over the
seconds that its tasks and its driver have. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import anabranch as ab
from anabranch.compiler import compile, this_machine
from anabranch.dataflow.channels.tripwires import _operators
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.transport.shipping import Job, read_job, ship
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.graph.places import SOURCES
from anabranch.graph.settings import Settings
from anabranch.run import as_program
from anabranch.tripwire import watch
from benchmarks.codegen.measure import Figure
from benchmarks.spark.alerts import AREA, LIMIT, alerts
from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import calls_file

FRAUD, MANY = "mobility fraud", "many names"
_TASKS_PER_CORE = 4  # that read a source
_LOOKS = 15
_CHANNELS = 2  # asked for, as channels do not pay for what little is done for a tuple

_CALL = """
import math
from typing import NamedTuple
import anabranch as ab

class Call(NamedTuple):
    phone: int
    area: str
    x: float
    y: float
    ts: float
"""
_STEP = """
table_{n} = {{key: key * {n} for key in range(50)}}
words_{n} = ["word {n}", "another", *map(str, range(20))]

class Rule{n}:
    limit = {n}.5
    kinds = frozenset(("a", "b", "{n}"))

    @classmethod
    def holds(cls, value):
        return value < cls.limit or str(value) in cls.kinds

def helper_{n}(value, factor={n}):
    return table_{n}.get(value % 50, factor) + len(words_{n}) + math.isqrt(abs(value)) + Rule{n}.holds(value)

def step_{n}(call: Call) -> Call:
    return call._replace(x=call.x + helper_{n}(call.phone) % 7)
"""


@cache
def many_names(steps: int) -> Any:
    """A module with functions that name tables, classes and one another: about twelve names for each step.

    Nothing links it with the modules of the benchmarks, which look for functions by their names: what they could reach
    would not be constant, and so not parallel.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    name = f"names_of_{steps}"
    file = FOLDER / f"{name}.py"
    text = _CALL + "".join(_STEP.format(n=n) for n in range(steps))
    maps = "".join(f".map(step_{n})" for n in range(steps))
    text += f"\ndef written(calls, out):\n    return ab.read_csv(calls, Call){maps}.write_csv(out)\n"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def program_of(name: str, calls: str, out: str, steps: int) -> Any:
    if name == FRAUD:
        return as_program(alerts(calls=calls, out=out, area=AREA, limit=LIMIT))
    return as_program(many_names(steps).written(calls, out))


# In a host -----------------------------------------------------------------------------------------------------------


def run(session: Any, name: str, is_on: bool, **arguments: Any) -> dict[str, Any]:
    """A run, timed without what comes before it: the code of the user is analysed anew for every program."""
    program = program_of(name, **arguments)
    before, watch.is_on = watch.is_on, is_on
    try:
        began = time.perf_counter()
        ab.run(program, engine="spark", spark=session, channels=_CHANNELS)
        return {"seconds": time.perf_counter() - began}
    finally:
        watch.is_on = before


def looks(session: Any, name: str, **arguments: Any) -> dict[str, Any]:
    """How long each look takes, how many a run takes, and how many names are looked at."""
    program = program_of(name, **arguments)
    plan = compile(program.graph, Settings(this_machine(), channels=_CHANNELS))
    config = RunConfig(SparkTransport(session), plan, Metrics())
    [phase] = config.plan.phases
    job = config.job(phase, "")
    by_place = {place: tuple(_operators(job.code[place])) for place in job.tripwire._expected}
    driver = statistics.median(_timed(partial(watch.Tripwire.of, by_place)) for _ in range(_LOOKS))
    first, again = [], []
    for _ in range(_LOOKS):
        sent = read_job(ship(job))
        first.append(_timed(partial(_begin, sent)))
        again.append(_timed(partial(_end, sent)))
    tasks = min(len(job.slices or ()), config.transport.cores * _TASKS_PER_CORE) if SOURCES in by_place else 0
    assert by_place, f"nothing of '{name}' is parallel, so there is nothing to look at"
    ends = tasks + sum(place.channels for place in job.layout.places if place.region is not None)
    begin, end, cores = statistics.median(first), statistics.median(again), config.transport.cores
    return {
        "names": sum(map(len, job.tripwire._expected.values())),
        "driver_ms": driver * 1e3,
        "begin_ms": begin * 1e3,
        "end_ms": end * 1e3,
        "ends": ends,
        "seconds": driver + (begin * cores + end * ends) / cores,  # on the wall: each core has a worker
    }


def _timed(work: Any) -> float:
    """On a processor: a machine with other work would count that, too."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _begin(job: Job) -> None:
    for place in job.tripwire._expected:
        assert job.tripwire.begin(place, partial(_operators, job.code[place])) is None


def _end(job: Job) -> None:
    for place in job.tripwire._expected:
        assert job.tripwire.end(place, partial(_operators, job.code[place])) is None


# The other side ------------------------------------------------------------------------------------------------------


def measure(name: str, host: Host, count: int, rounds: int, steps: int) -> dict[str, Any]:
    here = "benchmarks.tripwire"
    arguments = {"calls": calls_file(count), "out": str(Path(FOLDER, "tripwire.csv").resolve()), "steps": steps}
    for is_on in (True, False):
        host.do(f"{here}:run", name=name, is_on=is_on, **arguments)
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds):
        for is_on in (True, False) if number % 2 == 0 else (False, True):
            times[is_on].append(host.do(f"{here}:run", name=name, is_on=is_on, **arguments)["seconds"])
    found = host.do(f"{here}:looks", name=name, **arguments)
    ratio = Figure.of([one / other for one, other in zip(times[True], times[False], strict=True)])
    without = statistics.median(times[False])
    share = 100 * found["seconds"] / without
    print(f"{name}: {count:,} calls, {found['names']} names")
    print(
        f"  without it {without:.2f} s; with it {ratio.median:.3f} times that ({ratio.least:.3f} to {ratio.most:.3f})"
    )
    print(
        f"  looks: {found['driver_ms']:.2f} ms in the driver, {found['begin_ms']:.2f} ms where a worker begins, "
        f"{found['end_ms']:.2f} ms at each of {found['ends']} ends: {share:.2f}% of the run"
    )
    return {
        "names": found["names"],
        "percent": round(share, 3),
        "ratio": round(ratio.median, 4),
        "spread": [round(ratio.least, 4), round(ratio.most, 4)],
        "seconds": round(without, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, few rounds")
    quick = parser.parse_args().quick
    counts, rounds, steps = ((200_000, 50_000), 2, 10) if quick else ((5_000_000, 300_000), 5, 40)
    with Host("tripwire") as host:
        found = {
            name: measure(name, host, count, rounds, steps) for name, count in zip((FRAUD, MANY), counts, strict=True)
        }
    print(json.dumps({"tripwire": found}))


if __name__ == "__main__":
    main()
