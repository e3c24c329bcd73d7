"""The whole benchmark, part after part: the figures that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from rich.console import Console

from benchmarks.codegen.measure import Figure
from benchmarks.machine import print_machine
from benchmarks.spark import (
    batch_time,
    busy,
    fraud,
    fraud_stream,
    memory,
    order_cost,
    raw_exchange,
    report,
    state_cost,
)
from benchmarks.spark.race import ratio
from benchmarks.spark.sizes import Sizes

Figures = dict[str, Figure]
Part = tuple[tuple[str, ...], Callable[[Console, Sizes], Figures]]  # the names of its figures, and how to get them


def measure(wanted: Collection[str], sizes: Sizes) -> dict[str, Any]:
    """All wanted figures; where one could not be measured, it is said why, it is null, and the others are there."""
    console = Console(width=150, highlight=False)
    print_machine(console, ("pyspark", "pyarrow", "pandas", "numba"))
    figures: Figures = {}
    failed: list[str] = []
    for names, part in _parts(wanted):
        try:
            figures |= part(console, sizes)
        except Exception as problem:  # what else was measured should not be lost
            report.print_failure(console, names, problem)
            failed += names
    return {**dict.fromkeys(failed), **report.print_figures(console, figures)}


def _parts(wanted: Collection[str]) -> Iterator[Part]:
    for rivals, size in ((fraud.FAST, "calls"), (fraud.SLOW, "slow_calls")):
        chosen = tuple(rival for rival in rivals if f"vs_{rival}" in wanted)
        if chosen:
            yield tuple(f"vs_{rival}" for rival in chosen), partial(_fraud, chosen, size)
    others: list[Part] = [
        (("vs_handwritten_stream",), _handwritten_stream),
        (("vs_raw_exchange", "vs_raw_exchange_without_files"), _raw_exchange),
        (("two_channels",), _two_channels),
        (("two_channels_shuffle",), _two_channels_shuffle),
        (("order_cost",), _order_cost),
        (("memory_growth",), _memory_growth),
        (("state_cost",), _state_cost),
        (("batch_ms",), _batch_ms),
    ]
    yield from ((names, part) for names, part in others if any(name in wanted for name in names))


def _fraud(rivals: tuple[str, ...], size: str, console: Console, sizes: Sizes) -> Figures:
    count = getattr(sizes, size)
    times = fraud.contest(rivals, count, sizes.few_calls, sizes.rounds)
    report.print_times(console, "mobility fraud, CSV to ordered CSV", count, times)
    return {f"vs_{rival}": ratio(times, rival, fraud.OURS) for rival in rivals}


def _handwritten_stream(console: Console, sizes: Sizes) -> Figures:
    times = fraud_stream.contest(sizes.streamed_calls, sizes.rounds)
    timed = fraud_stream.timed_calls(sizes.streamed_calls)
    report.print_times(console, "mobility fraud as a stream, without its first batch and its last", timed, times)
    return {"vs_handwritten_stream": ratio(times, fraud_stream.RIVAL, fraud_stream.OURS)}


def _raw_exchange(console: Console, sizes: Sizes) -> Figures:
    times = raw_exchange.contest(sizes.exchanged, sizes.rounds)
    report.print_times(console, "a shuffle", sizes.exchanged, times)
    return {
        "vs_raw_exchange": ratio(times, raw_exchange.RAW, raw_exchange.OURS),
        "vs_raw_exchange_without_files": ratio(times, raw_exchange.RAW, raw_exchange.MOVED),
    }


def _two_channels(console: Console, sizes: Sizes) -> Figures:
    times = busy.contest(sizes.busy, sizes.rounds, has_shuffle=False)
    report.print_times(console, f"{busy.MICROSECONDS} µs of Python per tuple", sizes.busy, times)
    return {"two_channels": ratio(times, busy.ONE, busy.TWO)}


def _two_channels_shuffle(console: Console, sizes: Sizes) -> Figures:
    times = busy.contest(sizes.busy_shuffled, sizes.rounds, has_shuffle=True)
    report.print_times(
        console, f"{busy.MICROSECONDS} µs, a shuffle, {busy.MICROSECONDS} µs", sizes.busy_shuffled, times
    )
    return {"two_channels_shuffle": ratio(times, busy.ONE, busy.TWO)}


def _order_cost(console: Console, sizes: Sizes) -> Figures:
    times = order_cost.contest(sizes.ordered, sizes.rounds)
    report.print_times(console, "Parquet to Parquet", sizes.ordered, times)
    return {"order_cost": ratio(times, order_cost.ORDERED, order_cost.UNORDERED)}


def _memory_growth(console: Console, sizes: Sizes) -> Figures:
    found = memory.peaks(sizes.memory, sizes.rounds)
    few, many = zip(*found, strict=True)
    report.print_peaks(console, {sizes.memory: few, sizes.memory * memory.TIMES: many})
    return {"memory_growth": Figure.of([more.workers / less.workers for less, more in found])}


def _state_cost(console: Console, sizes: Sizes) -> Figures:
    found = state_cost.measure(sizes.few_keys, sizes.many_keys, sizes.batches)
    touched = f"touching {state_cost.TOUCHED:,} of"
    report.print_batches(
        console,
        {
            "touching no key": found[state_cost.EMPTY],
            f"{touched} {sizes.few_keys:,} keys": found[state_cost.FEW],
            f"{touched} {sizes.many_keys:,} keys": found[state_cost.MANY],
        },
    )
    return {"state_cost": state_cost.cost(found)}


def _batch_ms(console: Console, sizes: Sizes) -> Figures:
    found = batch_time.measure(sizes.batches)
    report.print_batches(console, {f"{batch_time.TUPLES:,} tuples, two stateful regions": found})
    return {"batch_ms": Figure.of(found)}
