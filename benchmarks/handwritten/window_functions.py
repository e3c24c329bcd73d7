"""The operator as `lag` over a window in Spark SQL, without any Python: what only an expert finds."""

from __future__ import annotations

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

from benchmarks.handwritten.calls import SETTINGS, read_calls, write_in_order

__all__ = ["SETTINGS", "write_alerts"]


def write_alerts(session: SparkSession, calls: str, out: str, area: str, limit: float) -> None:
    of_phone = Window.partitionBy("phone").orderBy("row")
    before = {f"last_{name}": F.lag(name).over(of_phone) for name in ("x", "y", "ts")}
    pairs = read_calls(session, calls, area).withColumns(before).where("ts > last_ts")
    dx, dy = F.col("x") - F.col("last_x"), F.col("y") - F.col("last_y")
    speed = F.sqrt(dx * dx + dy * dy) / ((F.col("ts") - F.col("last_ts")) / 3600)
    write_in_order(pairs.withColumn("speed", speed).where(F.col("speed") > limit), out)
