"""Frames in and out against Parquet files: `python -m benchmarks.frames` (`--quick` for a short look, `--only arrow`).

A program of one filter takes the rows of a frame and gives a frame back: once by `from_…` and `to_…`, once as one does
without them, by a Parquet file on either side. Both in turns, the best of some; above 1 the frames are faster. The last
line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

import anabranch as ab
from benchmarks.machine import print_machine

ROWS, QUICK_ROWS = 10_000_000, 200_000
ROUNDS, QUICK_ROUNDS = 3, 1


class Trade(NamedTuple):
    number: int
    symbol: str
    price: float
    size: int


@dataclass(frozen=True)
class Kind:
    """One kind of frames: how to make one, to go both ways, and how many rows came out."""

    name: str
    frame: Callable[[pa.Table], Any]
    by_frames: Callable[[Any], Any]
    by_files: Callable[[Any, Path], Any]
    rows: Callable[[Any], int]


def trades(rows: int) -> pa.Table:
    draw = np.random.default_rng(7)
    symbols = np.array([f"SYM{n:04}" for n in range(1_000)])
    return pa.table(
        {
            "number": np.arange(rows),
            "symbol": symbols[draw.integers(0, len(symbols), rows)],
            "price": draw.normal(100.0, 20.0, rows),
            "size": draw.integers(1, 1_000, rows),
        }
    )


def _kept(source: Any) -> Any:
    return source.filter(lambda trade: trade.price > 50.0)


def _run(source: Any) -> ab.Result:
    return ab.run(_kept(source).collect("out"), engine="fused")


def _in_files(folder: Path, **how: Any) -> None:
    """Without frames: from one Parquet file, or folder, to another."""
    ab.run(_kept(ab.read_parquet(folder / "in", Trade)).write_parquet(folder / "out.parquet"), **how)


def _arrow() -> Kind:
    def by_files(table: pa.Table, folder: Path) -> pa.Table:
        pq.write_table(table, folder / "in")
        _in_files(folder, engine="fused")
        return pq.read_table(folder / "out.parquet")

    return Kind("arrow", lambda table: table, lambda t: _run(ab.from_arrow(t, Trade)).to_arrow("out"), by_files, len)


def _pandas() -> Kind:
    import pandas as pd

    def by_files(frame: Any, folder: Path) -> Any:
        frame.to_parquet(folder / "in")
        _in_files(folder, engine="fused")
        return pd.read_parquet(folder / "out.parquet")

    by_frames = lambda frame: _run(ab.from_pandas(frame, Trade)).to_pandas("out")  # noqa: E731  # beside the others
    return Kind("pandas", lambda table: table.to_pandas(), by_frames, by_files, len)


def _polars() -> Kind:
    import polars as pl

    def by_files(frame: Any, folder: Path) -> Any:
        frame.write_parquet(folder / "in")
        _in_files(folder, engine="fused")
        return pl.read_parquet(folder / "out.parquet")

    by_frames = lambda frame: _run(ab.from_polars(frame, Trade)).to_polars("out")  # noqa: E731  # beside the others
    return Kind("polars", pl.from_arrow, by_frames, by_files, len)


def _spark() -> Kind:
    from anabranch.engines.spark.session.session import SparkOptions, session_for

    session = session_for(SparkOptions())

    def frame_of(table: pa.Table) -> Any:
        frame = session.createDataFrame(table).repartition(session.sparkContext.defaultParallelism * 2).persist()
        frame.count()
        return frame

    def computed(frame: Any) -> Any:
        frame.write.format("noop").mode("overwrite").save()
        return frame

    def by_frames(frame: Any) -> Any:
        source = ab.from_spark(frame, Trade, order_by="number")
        result = ab.run(_kept(source).collect("out"), engine="spark", spark=session)
        return computed(result.to_spark("out", session))

    def by_files(frame: Any, folder: Path) -> Any:
        frame.orderBy("number").write.parquet(str(folder / "in"))
        _in_files(folder, engine="spark", spark=session)
        return computed(session.read.parquet(str(folder / "out.parquet")))

    return Kind("spark", frame_of, by_frames, by_files, lambda frame: frame.count())


KINDS: dict[str, Callable[[], Kind]] = {"arrow": _arrow, "pandas": _pandas, "polars": _polars, "spark": _spark}


def measure(kind: Kind, table: pa.Table, rounds: int) -> tuple[float, float]:
    """Seconds by frames, and by files."""
    _measure_once(kind, kind.frame(table.slice(0, 1_000)))  # what is loaded and compiled only once is no part of it
    frame = kind.frame(table)
    by_frames, by_files = [], []
    for _ in range(rounds):
        frames, files = _measure_once(kind, frame)
        by_frames.append(frames)
        by_files.append(files)
    return min(by_frames), min(by_files)


def _measure_once(kind: Kind, frame: Any) -> tuple[float, float]:
    frames, found = _timed(lambda: kind.by_frames(frame))
    count = kind.rows(found)
    del found
    folder = Path(tempfile.mkdtemp(prefix="anabranch-benchmark-"))
    try:
        files, found = _timed(lambda: kind.by_files(frame, folder))
        assert kind.rows(found) == count, f"{kind.name}: both ways give the same tuples"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return frames, files


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frames", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows, once")
    parser.add_argument("--only", choices=KINDS, help="one kind of frames")
    parser.add_argument("--rows", type=int, help="of the frames")
    chosen = parser.parse_args()
    console = Console()
    print_machine(console, ("pyarrow", "pandas", "polars", "pyspark"))
    rows = chosen.rows or (QUICK_ROWS if chosen.quick else ROWS)
    table = trades(rows)
    figures: dict[str, Any] = {"rows": rows}
    for name in [chosen.only] if chosen.only else KINDS:
        frames, files = measure(KINDS[name](), table, QUICK_ROUNDS if chosen.quick else ROUNDS)
        figures[name] = {"frames": round(frames, 3), "files": round(files, 3), "times": round(files / frames, 2)}
        console.print(f"{name}: {frames:.2f} s by frames, {files:.2f} s by Parquet: {files / frames:.2f} times as fast")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
