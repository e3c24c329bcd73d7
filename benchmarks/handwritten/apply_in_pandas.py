"""A function over the calls of each phone: what most people write."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from benchmarks.handwritten.calls import ALERT, SETTINGS, read_calls, write_in_order

__all__ = ["SETTINGS", "write_alerts"]


def write_alerts(session: SparkSession, calls: str, out: str, area: str, limit: float) -> None:
    def alerts(of_phone: pd.DataFrame) -> pd.DataFrame:
        of_phone = of_phone.sort_values("row")
        hours = of_phone["ts"].diff() / 3600
        distance = np.sqrt(of_phone["x"].diff() ** 2 + of_phone["y"].diff() ** 2)
        of_phone["speed"] = distance / hours
        return of_phone.loc[(hours > 0) & (of_phone["speed"] > limit), ["row", "phone", "speed", "ts"]]

    found = read_calls(session, calls, area).groupBy("phone").applyInPandas(alerts, ALERT)
    write_in_order(found, out)
