"""Anabranch: ordered stream programs, run in parallel with exactly the same tuples in exactly the same order."""

from typing import TYPE_CHECKING, Any

from anabranch.api.aggregates import (
    any_,
    arg_max,
    collect,
    count,
    count_distinct,
    first,
    last,
    max_,
    mean,
    min_,
    std,
    sum_,
    window_end,
    window_start,
)
from anabranch.api.app import App, app
from anabranch.api.base import Sink
from anabranch.api.connectors import (
    beacon,
    from_items,
    generate,
    read_csv,
    read_jsonl,
    read_lines,
    read_parquet,
    read_tcp,
)
from anabranch.api.draft import DeadLetter
from anabranch.api.frames import from_arrow, from_pandas, from_polars, from_spark
from anabranch.api.hints import declare, ranges
from anabranch.api.shape import barrier, merge_by
from anabranch.api.stream import Outputs, Stream
from anabranch.api.transforms import connect
from anabranch.api.windows import WindowedStream, punctuated, sliding, tumbling
from anabranch.dataflow.result import Metrics, Result
from anabranch.errors import (
    AnabranchError,
    BuildError,
    Location,
    OperatorError,
    RunError,
    SinkError,
    SourceError,
    UsageError,
)
from anabranch.explain import Explanation, explain
from anabranch.graph.model import Program
from anabranch.graph.windows import Window
from anabranch.operators.emissions import To, to
from anabranch.run import run
from anabranch.start import start
from anabranch.version import __version__ as __version__

if TYPE_CHECKING:
    from anabranch.engines.spark.streams.query import Progress, Query

__all__ = [
    "AnabranchError",
    "App",
    "BuildError",
    "DeadLetter",
    "Explanation",
    "Location",
    "Metrics",
    "OperatorError",
    "Outputs",
    "Program",
    "Progress",
    "Query",
    "Result",
    "RunError",
    "Sink",
    "SinkError",
    "SourceError",
    "Stream",
    "To",
    "UsageError",
    "Window",
    "WindowedStream",
    "any_",
    "app",
    "arg_max",
    "barrier",
    "beacon",
    "collect",
    "connect",
    "count",
    "count_distinct",
    "declare",
    "explain",
    "first",
    "from_arrow",
    "from_items",
    "from_pandas",
    "from_polars",
    "from_spark",
    "generate",
    "last",
    "max_",
    "mean",
    "merge_by",
    "min_",
    "punctuated",
    "ranges",
    "read_csv",
    "read_jsonl",
    "read_lines",
    "read_parquet",
    "read_tcp",
    "run",
    "sliding",
    "start",
    "std",
    "sum_",
    "to",
    "tumbling",
    "window_end",
    "window_start",
]

if not TYPE_CHECKING:  # for a type checker, every name would be one of the package

    def __getattr__(name: str) -> Any:
        """The classes of streams are imported when they are asked for: who starts none needs no pyarrow or Spark."""
        if name not in ("Progress", "Query"):
            raise AttributeError(f"module 'anabranch' has no attribute {name!r}")
        from anabranch.engines.spark.streams import query

        return getattr(query, name)
