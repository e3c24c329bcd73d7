"""The named figures: what each is the ratio of, and what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """A bound, from below or from above; without one a figure is only reported."""

    what: str
    least: float | None = None
    most: float | None = None

    def is_met(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        return f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}" if self.most is not None else ""


FIGURES = {
    "vs_apply_in_pandas": Asked("fraud: time of groupBy().applyInPandas and a sort, over ours", least=20),
    "vs_map_in_pandas": Asked("fraud: time of mapInPandas on arrays over sorted partitions, over ours", least=5),
    "vs_map_in_pandas_by_tuple": Asked("fraud: the same where the operator takes one tuple at a time"),
    "vs_window_functions": Asked("fraud: time of lag over windows in Spark SQL, over ours", least=2),
    "vs_handwritten_stream": Asked("fraud as a stream: time of transformWithStateInPandas by key, over ours", least=10),
    "vs_raw_exchange": Asked("time of moving the same chunk rows, over a program with a shuffle", least=0.7),
    "vs_raw_exchange_without_files": Asked("the same with all rows moved by Spark, as on a cluster"),
    "two_channels": Asked("50 µs per tuple: time with 1 channel over that with 2", least=1.8),
    "two_channels_shuffle": Asked("the same with a shuffle between two such regions", least=1.7),
    "order_cost": Asked("time with an ordered sink over that with ordered=False", most=1.15),
    "memory_growth": Asked("peak memory of Spark, at ten times the tuples over at one time", most=1.2),
    "state_cost": Asked("a batch of 1,000 keys: time with 1 M keys in the state over that with 10,000", most=2),
    "batch_ms": Asked("milliseconds of a batch of 10,000 tuples through two stateful regions", most=1000),
}
