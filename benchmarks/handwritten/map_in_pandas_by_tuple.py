"""The same with an operator that takes one tuple at a time, as it must where it cannot be put as array arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from pyspark.sql import SparkSession

from benchmarks.handwritten.calls import ALERT, SETTINGS, read_calls, write_in_order
from examples.mobility_fraud import Call, Speed

__all__ = ["SETTINGS", "write_alerts"]


def write_alerts(session: SparkSession, calls: str, out: str, area: str, limit: float) -> None:
    def alerts(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        speed, current = Speed(), None
        for batch in batches:
            found = []
            columns = (batch[name].tolist() for name in ("row", "phone", "x", "y", "ts"))
            for row, phone, x, y, ts in zip(*columns, strict=True):
                if phone != current:
                    speed, current = Speed(), phone
                for travel in speed.process(Call(phone, area, x, y, ts)):
                    if travel.speed > limit:
                        found.append((row, travel.phone, travel.speed, travel.ts))
            if found:
                yield pd.DataFrame(found, columns=["row", "phone", "speed", "ts"])

    by_phone = read_calls(session, calls, area).repartition("phone").sortWithinPartitions("phone", "row")
    write_in_order(by_phone.mapInPandas(alerts, ALERT), out)
