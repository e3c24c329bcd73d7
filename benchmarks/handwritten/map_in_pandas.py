"""Phones behind one another in each partition, and whole batches at a time: what an expert writes in Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from benchmarks.handwritten.calls import ALERT, SETTINGS, read_calls, write_in_order

__all__ = ["SETTINGS", "write_alerts"]


def write_alerts(session: SparkSession, calls: str, out: str, area: str, limit: float) -> None:
    def alerts(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        last = pd.DataFrame()
        for batch in batches:
            both = pd.concat([last, batch]) if len(last) else batch
            phone, x, y, ts = (both[name].to_numpy() for name in ("phone", "x", "y", "ts"))
            at = 1 + np.flatnonzero((phone[1:] == phone[:-1]) & (ts[1:] > ts[:-1]))
            dx, dy = x[at] - x[at - 1], y[at] - y[at - 1]
            speed = np.sqrt(dx * dx + dy * dy) / ((ts[at] - ts[at - 1]) / 3600)
            at, speed = at[speed > limit], speed[speed > limit]
            yield pd.DataFrame({"row": both["row"].to_numpy()[at], "phone": phone[at], "speed": speed, "ts": ts[at]})
            last = both.tail(1)

    by_phone = read_calls(session, calls, area).repartition("phone").sortWithinPartitions("phone", "row")
    write_in_order(by_phone.mapInPandas(alerts, ALERT), out)
