"""What every engine gives back: the result of a run and its figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anabranch.dataflow.executed import Fact
from anabranch.errors import RunError, UsageError
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.operators.base import Meaning
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.sinks.collect import CollectMeaning

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from anabranch.operators.sinks.in_spark import DataFrame


@dataclass
class Flow:
    """What has gone through a place where operators run, so far."""

    received: int = 0
    emitted: int = 0
    seconds: float = 0.0  # from its first report to the last that said something new


@dataclass
class Metrics:
    """The figures of a run, live while it goes on."""

    operators: dict[str, OperatorMetrics] = field(default_factory=dict)
    tuples_in: int = 0
    sinks: tuple[str, ...] = ()
    started: float = field(default_factory=time.perf_counter)
    stopped: float | None = None
    spark_start: float = 0.0  # seconds of the run's in which it waited for Spark to start
    notes: list[str] = field(default_factory=list)  # what a user may want to know of how it ran
    executed: dict[tuple[str, Fact], None] = field(default_factory=dict, repr=False)  # by phase: what was really done
    flows: dict[str, Flow] = field(default_factory=dict)  # by region, where other processes do the work

    def __getitem__(self, operator_id: str) -> OperatorMetrics:
        return self.operators[operator_id]

    def start(self, graph: Graph) -> None:
        """Every operator of a program gets its figures."""
        for operator in graph.operators:
            self.operators.setdefault(operator.id, OperatorMetrics())
        self.sinks = tuple(operator.id for operator in graph.sinks)

    @property
    def tuples_out(self) -> int:
        return sum(self.operators[sink].received for sink in self.sinks)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, or that it took."""
        return (self.stopped or time.perf_counter()) - self.started

    def stop(self) -> None:
        self.stopped = time.perf_counter()

    @property
    def late(self) -> int:
        return sum(operator.late for operator in self.operators.values())

    @property
    def skipped(self) -> int:
        return sum(operator.skipped for operator in self.operators.values())

    @property
    def dead_letters(self) -> int:
        return sum(operator.dead_letters for operator in self.operators.values())


@dataclass(frozen=True)
class Result:
    """What a run produced: the tuples of `collect` sinks, the figures, and the plan it followed."""

    plan: Plan = field(repr=False)
    metrics: Metrics
    _collected: dict[str, CollectMeaning] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        figures = f"{self.metrics.tuples_in:,} tuples in, {self.metrics.tuples_out:,} out, {self.metrics.elapsed:.1f} s"
        return f"<Result of {self.plan.graph.name}: {figures}>"

    def _repr_html_(self) -> str:
        """Notebooks show what was collected, in part, and the figures."""
        from anabranch.dataflow.result_page import result_fragment

        return result_fragment(self.plan.graph, self.metrics, self._collected)

    @property
    def collected(self) -> dict[str, list[Any]]:
        """All that was collected, by name."""
        return {name: sink.items for name, sink in self._collected.items()}

    def items(self, name: str) -> list[Any]:
        """The tuples of the sink `.collect(name)`, in order."""
        return list(self._sink(name).items)

    def to_arrow(self, name: str) -> pa.Table:
        """The tuples of the sink `.collect(name)` as a table of Arrow, in order.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> result = ab.run(ab.from_items(Reading, [Reading(1.5)]).collect("out"))
        >>> result.to_arrow("out").to_pydict()
        {'value': [1.5]}
        """
        from anabranch.dataflow.result_frames import arrow_table  # brings Arrow, which is slow to import

        return arrow_table(self._sink(name))

    def to_pandas(self, name: str) -> pd.DataFrame:
        """The same as a DataFrame of pandas. Attributes that may be `None` have its nullable types.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     value: float
        >>> result = ab.run(ab.from_items(Reading, [Reading(1.5)]).collect("out"))
        >>> float(result.to_pandas("out")["value"].sum())
        1.5
        """
        from anabranch.dataflow.result_frames import pandas_frame

        return pandas_frame(self._sink(name))

    def to_polars(self, name: str) -> pl.DataFrame:
        """The same as a DataFrame of Polars, which has to be installed.

        >>> import anabranch as ab
        >>> def mean_of(result):
        ...     return result.to_polars("out")["value"].mean()
        """
        from anabranch.dataflow.result_frames import polars_frame

        frame: pl.DataFrame = polars_frame(self._sink(name))
        return frame

    def to_spark(self, name: str, spark: Any = None) -> DataFrame:
        """The same as a DataFrame of Spark, in the session `spark` or the active one. Its rows have no order there.

        >>> import anabranch as ab
        >>> def count_of(result):
        ...     return result.to_spark("out").count()
        """
        from anabranch.dataflow.result_frames import arrow_table
        from anabranch.operators.sinks.in_spark import spark_frame

        return spark_frame(arrow_table(self._sink(name)), spark)

    def _sink(self, name: str) -> CollectMeaning:
        if name not in self._collected:
            known = ", ".join(self._collected) or "none"
            raise UsageError(f"nothing was collected as '{name}'", hint=f"the program collects: {known}")
        return self._collected[name]


def collected(meanings: Iterable[Meaning]) -> dict[str, CollectMeaning]:
    """The `collect` sinks among these, by name."""
    return {
        meaning.operator.definition.name: meaning  # type: ignore[attr-defined]  # a Collect has a name
        for meaning in meanings
        if isinstance(meaning, CollectMeaning)
    }


@contextmanager
def carrying_result(result: Callable[[], Result]) -> Iterator[None]:
    """An error or interrupt that stops a run carries its result so far."""
    try:
        yield
    except (RunError, KeyboardInterrupt) as stop:
        stop.result = result()  # type: ignore[union-attr]  # any exception can carry an attribute
        raise
