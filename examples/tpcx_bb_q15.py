"""Categories that do not sell any better: sales trends by category, week by week.

Make eight weeks of sales, and look at them:

    python -m examples.data.store_sales --count 1000000 --out sales.csv
    anabranch run examples/tpcx_bb_q15.py --sales sales.csv --out flat.csv

This is query 15 of the benchmark TPCx-BB as Prasaad et al., "Scaling Ordered Stream Processing on Shared-Memory
Multicores", run it: two stateless operators, and one with a state per category. There are ten categories, and more than
ten channels would be of no use.
"""

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Sale(NamedTuple):
    store: int
    category: int
    quantity: int  # negative: it was brought back
    price: int  # cents
    ts: datetime


class Income(NamedTuple):
    category: int
    day: int
    cents: int
    ts: datetime


class Trend(NamedTuple):
    category: int
    until: datetime  # where the weeks end
    days: int  # on which something was sold
    cents: int  # the income of all these days
    slope: float | None  # by how many cents it rises from day to day; None if there was only one day


def income(sale: Sale) -> Income:
    return Income(sale.category, sale.ts.toordinal(), sale.quantity * sale.price, sale.ts)


class Slope:
    """An aggregate of our own: the slope of the straight line that fits the income of the days best.

    Cents and days are whole numbers, so everything up to the division at the end is exact.
    """

    def __init__(self) -> None:
        self.by_day: dict[int, int] = {}

    def add(self, income: Income) -> None:
        self.by_day[income.day] = self.by_day.get(income.day, 0) + income.cents

    def result(self) -> float | None:
        n = len(self.by_day)
        sum_x, sum_y = sum(self.by_day.keys()), sum(self.by_day.values())
        sum_xy = sum(day * cents for day, cents in self.by_day.items())
        sum_xx = sum(day * day for day in self.by_day)
        if n == 1:
            return None
        return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x)


@ab.app
def tpcx_bb_q15(sales: str = "sales.csv", out: str = "flat.csv", store: int = 1, weeks: int = 4) -> None:
    """Find, every week, the categories whose sales in a store are flat or declining.

    sales: the CSV file of sales, an item of a ticket in each row
    out: where to write the categories with the slopes of their sales
    store: the number of the store
    weeks: how many weeks to look back
    """
    (
        ab.read_csv(sales, Sale)
        .filter(lambda sale: sale.store == store)
        .map(income)
        .window(ab.sliding(days=7 * weeks, slide=7, on="ts"), key="category")
        .aggregate(Trend, until=ab.window_end(), days=ab.count_distinct("day"), cents=ab.sum_("cents"), slope=Slope)
        # The first and the last windows lack whole weeks.
        .filter(lambda trend: trend.days > 7 * (weeks - 1) and trend.slope is not None and trend.slope <= 0)
        .write_csv(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.store_sales import write_store_sales

    write_store_sales(folder / "sales.csv", count, seed)
    return {"sales": str(folder / "sales.csv"), "out": str(folder / "flat.csv")}
