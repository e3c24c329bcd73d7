"""The examples `tpcx_bb_q1`, `_q2`, `_q3`, `_q4` and `_q15` against answers computed here from the same files.

The answers take the whole file at once where the apps take a row after the other: users, tickets and windows are looked
at one by one, and what is reported when is worked out from the numbers of rows.
"""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from anabranch.explain import explain
from anabranch.load import build, load_app
from anabranch.run import ENGINES
from examples.data.clickstream import write_clickstream
from examples.data.store_sales import write_store_sales
from examples.tpcx_bb_q1 import tpcx_bb_q1
from examples.tpcx_bb_q2 import tpcx_bb_q2
from examples.tpcx_bb_q3 import tpcx_bb_q3
from examples.tpcx_bb_q4 import tpcx_bb_q4
from examples.tpcx_bb_q15 import tpcx_bb_q15

COUNT = 20_000
HOUR, DAY = 3600.0, 86_400.0

Rows = list[dict[str, str]]


def lines(header: str, rows: list[list[Any]]) -> str:
    return "".join(f"{line}\n" for line in [header, *(",".join(map(str, row)) for row in rows)])


# The answers: what an app must write for these rows; without what only the end of the stream makes it write, if it
# did not end ------------------------------------------------------------------------------------------------------


def answer_q1(rows: Rows, top: int = 100, *, at_end: bool = True) -> str:
    hours: dict[datetime, Counter[tuple[int, int]]] = defaultdict(Counter)
    newest = datetime.min
    for pair, ts in sold_together(rows):
        hour = ts.replace(minute=0, second=0)
        newest = max(newest, hour)
        if hour == newest:  # else its hour has been closed
            hours[hour][pair] += 1
    if not at_end:  # the last hour is still open, and the one before could still get another pair
        for hour in sorted(hours)[-2:]:
            del hours[hour]
    ranked: list[list[Any]] = []
    for hour, counts in sorted(hours.items()):
        best = sorted((-n, pair) for pair, n in counts.items())[:top]
        until = (hour + timedelta(hours=1)).isoformat()
        ranked += [[until, rank, *pair, -n] for rank, (n, pair) in enumerate(best, start=1)]
    return lines("until,rank,item,other,n", ranked)


def sold_together(rows: Rows) -> Iterator[tuple[tuple[int, int], datetime]]:
    """Pairs of items in the order in which they become known."""
    tickets: dict[str, dict[int, datetime]] = {}  # ticket -> item -> the latest row of the ticket until then
    for row in rows:
        if int(row["quantity"]) > 0:
            item, ticket = int(row["item"]), tickets.setdefault(row["ticket"], {})
            ts = max([datetime.fromisoformat(row["ts"]), *ticket.values()])
            known = [other for other in ticket if other != item]
            is_new = item not in ticket
            ticket[item] = ts
            if is_new:
                yield from (((min(item, other), max(item, other)), ts) for other in known)


class Session(NamedTuple):
    report: int  # after how many punctuations it is reported
    clicks: pd.DataFrame
    until: float


def sessions(clicks: pd.DataFrame, timeout: float) -> tuple[list[Session], int]:
    """The sessions of all users, one user after the other, and the number of punctuations there are."""
    period = clicks["ts"].cummax() // timeout
    is_tick = period != period.shift()
    ticks = int(is_tick.sum())
    clicks = clicks.assign(ticks_before=is_tick.cumsum() - is_tick)
    found = []
    for _, of_user in clicks.groupby("user", sort=False):
        begin, until = 0, -np.inf
        ts, before = of_user["ts"].tolist(), of_user["ticks_before"].tolist()
        for at in range(1, len(ts) + 1):
            until = max(until, ts[at - 1])
            is_last = at == len(ts)
            # A third punctuation ends it, or a click after the time-out, or the end of the stream.
            if (ticks if is_last else before[at]) - before[at - 1] >= 3:
                report = before[at - 1] + 3
            elif is_last or ts[at] > until + timeout:
                report = (ticks if is_last else before[at]) + 1
            else:
                continue
            found.append(Session(report, of_user.iloc[begin:at], until))
            begin, until = at, -np.inf
    return found, ticks


def answer_q2(rows: Rows, item: int | None = None, top: int = 30, *, at_end: bool = True) -> str:
    views = frame(rows).query("page == 'product'").dropna(subset=["user", "item"])
    reports: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    until: dict[int, float] = defaultdict(float)
    found, ticks = sessions(views, HOUR)
    for session in found:
        items = sorted(session.clicks["item"].astype(int).unique().tolist())
        pairs = [pair for pair in itertools.combinations(items, 2) if item is None or item in pair]
        if pairs and (at_end or session.report <= ticks):
            reports[session.report].update(pairs)
            until[session.report] = max(until[session.report], session.until)
    ranked: list[list[Any]] = []
    for report, counts in sorted(reports.items()):
        best = sorted((-n, pair) for pair, n in counts.items())[:top]
        ranked += [[until[report], rank, *pair, -n] for rank, (n, pair) in enumerate(best, start=1)]
    return lines("until,rank,item,other,n", ranked)


def answer_q3(rows: Rows, views: int = 5, days: float = 10, top: int = 30, *, at_end: bool = True) -> str:
    clicks = once(frame(rows)).dropna(subset=["user", "item"])
    viewed: dict[float, list[tuple[int, float]]] = defaultdict(list)
    windows: dict[int, dict[int, Counter[int]]] = {}  # day -> what was bought -> what was viewed
    for click in clicks.itertuples():
        if click.page == "product":
            viewed[click.user].append((int(click.item), click.ts))
        elif click.page == "order":
            last: dict[int, float] = {}
            for item, ts in reversed(viewed[click.user]):
                if len(last) < views:
                    last.setdefault(item, ts)
            others = [item for item, ts in last.items() if item != int(click.item) and ts > click.ts - days * DAY]
            day = int(click.ts // DAY)
            if others and day >= max(windows, default=day):
                windows.setdefault(day, {}).setdefault(int(click.item), Counter()).update(others)
    if not at_end:
        del windows[max(windows)]
    written = ""
    for day, products in sorted(windows.items()):
        for bought, times in products.items():  # in order of first arrival
            best = sorted((-n, item) for item, n in times.items())[:top]
            listed = [{"item": item, "n": -n} for n, item in best]
            whole = {"bought": bought, "until": (day + 1) * DAY, "viewed": listed}
            written += json.dumps(whole, separators=(",", ":")) + "\n"
    return written


def answer_q4(rows: Rows, *, at_end: bool = True) -> str:
    clicks = once(frame(rows)[["user", "page", "ts"]]).dropna(subset=["user"])
    found, ticks = sessions(clicks, HOUR)
    reports: dict[int, list[Session]] = defaultdict(list)
    for session in found:
        pages = set(session.clicks["page"])
        if "cart" in pages and "order" not in pages and (at_end or session.report <= ticks):
            reports[session.report].append(session)
    counted: list[list[Any]] = []
    for _, ended in sorted(reports.items()):
        pages = sum(len(session.clicks) for session in ended)
        counted.append([max(session.until for session in ended), len(ended), pages / len(ended)])
    return lines("until,sessions,pages", counted)


def answer_q15(rows: Rows, store: int = 1, weeks: int = 4, *, at_end: bool = True) -> str:
    epoch = date(1970, 1, 1).toordinal()
    windows: dict[tuple[int, str], dict[int, int]] = {}  # (week it ends before, category) -> day -> cents
    now = 0
    for row in rows:
        if row["store"] == str(store):
            day = date.fromisoformat(row["ts"][:10]).toordinal() - epoch
            now = max(now, day // 7)
            for end in range(max(day // 7, now) + 1, day // 7 + weeks + 1):  # those before have been closed
                days = windows.setdefault((end, row["category"]), {})
                days[day] = days.get(day, 0) + int(row["quantity"]) * int(row["price"])
    trends: list[list[Any]] = []
    for (end, category), days in sorted(windows.items(), key=lambda window: window[0][0]):
        is_whole = len(days) > 7 * (weeks - 1) and len(days) > 1
        if is_whole and slope_of(days) <= 0 and (at_end or end <= now):
            until = datetime.fromordinal(epoch + 7 * end).isoformat()
            trends.append([category, until, len(days), sum(days.values()), float(slope_of(days))])
    return lines("category,until,days,cents,slope", trends)


def slope_of(days: dict[int, int]) -> Fraction:
    """The least squares around the means, exactly."""
    x_mean, y_mean = Fraction(sum(days), len(days)), Fraction(sum(days.values()), len(days))
    covariance = sum(((x - x_mean) * (y - y_mean) for x, y in days.items()), Fraction(0))
    return covariance / sum((x - x_mean) ** 2 for x in days)


def frame(rows: Rows) -> pd.DataFrame:
    clicks = pd.DataFrame(rows, columns=["user", "page", "item", "ts"])
    return clicks.assign(**{name: pd.to_numeric(clicks[name]) for name in ("user", "item", "ts")})


def once(clicks: pd.DataFrame) -> pd.DataFrame:
    """Without clicks that were recorded twice within five minutes."""
    return clicks[~(clicks.duplicated() & (clicks["ts"] > clicks["ts"].cummax() - 300))]


class Query(NamedTuple):
    app: Callable[..., ab.Program]
    data: str  # the parameter for its input, and the fixture that makes it
    answer: Callable[..., str]


QUERIES = {
    "q1": Query(tpcx_bb_q1, "sales", answer_q1),
    "q2": Query(tpcx_bb_q2, "clicks", answer_q2),
    "q3": Query(tpcx_bb_q3, "clicks", answer_q3),
    "q4": Query(tpcx_bb_q4, "clicks", answer_q4),
    "q15": Query(tpcx_bb_q15, "sales", answer_q15),
}
HEADERS = {"sales": "ticket,store,item,category,quantity,price,ts", "clicks": "user,page,item,ts"}
WRITERS = {"sales": write_store_sales, "clicks": write_clickstream}
every_query = pytest.mark.parametrize("name", QUERIES)


def read(path: Path) -> Rows:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tpcx_bb")
    for name, write in WRITERS.items():
        write(folder / f"{name}.csv", COUNT, seed=7)
    return {name: folder / f"{name}.csv" for name in WRITERS}


def run(name: str, path: Path, out: Path, engine: str = "sequential", **parameters: Any) -> ab.Result:
    query = QUERIES[name]
    return ab.run(query.app(**{query.data: str(path)}, out=str(out), **parameters), engine=engine)


def written(name: str, folder: Path, rows: list[str], **parameters: Any) -> list[str]:
    """What a query writes for a few rows, without the header."""
    path, out = folder / "data.csv", folder / "out"
    path.write_text("".join(f"{row}\n" for row in [HEADERS[QUERIES[name].data], *rows]))
    run(name, path, out, **parameters)
    return out.read_text().splitlines()[0 if name == "q3" else 1 :]


@every_query
@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(data: dict[str, Path], tmp_path: Path, name: str, engine: str) -> None:
    query = QUERIES[name]

    run(name, data[query.data], tmp_path / "out", engine)

    expected = query.answer(read(data[query.data]))
    assert expected.count("\n") > 20, "the data hold too little to be a test"
    assert (tmp_path / "out").read_text() == expected


@pytest.mark.slow
@every_query
@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_for_a_hundred_thousand_rows_is_the_answer_in_order(
    tmp_path: Path, name: str, engine: str
) -> None:
    query = QUERIES[name]
    WRITERS[query.data](tmp_path / "data.csv", 100_000, seed=11)

    run(name, tmp_path / "data.csv", tmp_path / "out", engine)

    expected = query.answer(read(tmp_path / "data.csv"))
    assert expected.count("\n") > 30, "the data hold too little to be a test"
    assert (tmp_path / "out").read_text() == expected


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("q1", {"top": 3}),
        ("q2", {"item": 1, "top": 5}),
        ("q3", {"views": 2, "days": 0.01, "top": 1}),
        ("q15", {"store": 3, "weeks": 2}),
    ],
)
def test_what_an_app_is_told_changes_its_answer(
    data: dict[str, Path], tmp_path: Path, name: str, parameters: dict[str, Any]
) -> None:
    query = QUERIES[name]
    rows = read(data[query.data])

    run(name, data[query.data], tmp_path / "out", **parameters)

    expected = query.answer(rows, **parameters)
    assert expected != query.answer(rows)
    assert (tmp_path / "out").read_text() == expected


@pytest.mark.parametrize(
    ("name", "parallel"),
    [
        # Stateless and partitioned operators of Table 1 of the paper, by their names here.
        ("q1", ["filter", "Together", "aggregate"]),
        ("q2", ["viewed", "Sessions", "pairs", "aggregate"]),
        ("q3", ["distinct", "step", "LastViews", "aggregate"]),
        ("q4", ["distinct", "known", "Sessions", "filter"]),
        ("q15", ["filter", "income", "aggregate", "filter_2"]),
    ],
)
def test_exactly_what_the_paper_calls_stateless_or_partitioned_is_parallel(name: str, parallel: list[str]) -> None:
    file = Path(__file__).resolve().parents[2] / "examples" / f"tpcx_bb_{name}.py"
    explained = explain(build(load_app(str(file)), {})).to_dict()

    assert [operator["id"] for operator in explained["operators"] if operator["region"]] == parallel


# Broken files ---------------------------------------------------------------------------------------------------


@every_query
def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    data: dict[str, Path], tmp_path: Path, name: str
) -> None:
    query = QUERIES[name]
    whole = data[query.data].read_text().splitlines()[: COUNT * 3 // 4]
    broken, out = tmp_path / "data.csv", tmp_path / "out"
    broken.write_text("\n".join([*whole, "1001,pro"]))

    with pytest.raises(ab.SourceError, match="cells expected, got 2") as caught:
        run(name, broken, out)

    assert caught.value.where == f"{broken}:{COUNT * 3 // 4 + 1}"
    expected = query.answer(list(csv.DictReader(whole)), at_end=False)
    assert expected.count("\n") > 10
    assert Path(f"{out}.partial").read_text() == expected


@every_query
def test_a_corrupted_cell_is_reported_by_file_line_and_column(data: dict[str, Path], tmp_path: Path, name: str) -> None:
    kind = QUERIES[name].data
    rows = data[kind].read_text().splitlines()
    rows[1234] = rows[1234].rpartition(",")[0] + ",\x00noon"
    broken = tmp_path / "data.csv"
    broken.write_text("\n".join(rows))

    expected = r"column 'ts': '\\x00noon' is not " + ("an ISO 8601 datetime" if kind == "sales" else "a float")
    with pytest.raises(ab.SourceError, match=expected) as caught:
        run(name, broken, tmp_path / "out")

    assert caught.value.where == f"{broken}:1235"


@every_query
def test_a_file_without_rows_gives_a_file_without_rows(tmp_path: Path, name: str) -> None:
    assert written(name, tmp_path, []) == []


# Query 1 --------------------------------------------------------------------------------------------------------


def sale(ticket: int, item: int, at: str, quantity: int = 1, price: int = 100, category: int = 1) -> str:
    return f"{ticket},1,{item},{category},{quantity},{price},2018-03-01T{at}"


def test_items_of_a_ticket_make_pairs_and_those_of_two_tickets_do_not(tmp_path: Path) -> None:
    rows = [sale(1, 30, "09:00:00"), sale(2, 40, "09:00:01"), sale(1, 10, "09:00:02"), sale(1, 20, "09:00:03")]

    until = "2018-03-01T10:00:00"
    assert written("q1", tmp_path, rows) == [f"{until},1,10,20,1", f"{until},2,10,30,1", f"{until},3,20,30,1"]


def test_an_item_that_is_sold_twice_makes_a_pair_once_and_one_that_is_brought_back_makes_none(tmp_path: Path) -> None:
    rows = [
        sale(1, 10, "09:00:00"), sale(1, 20, "09:00:01"), sale(1, 10, "09:00:02"), sale(1, 20, "09:00:01"),
        sale(2, 30, "09:10:00", quantity=-1), sale(2, 40, "09:10:01", quantity=-1),
    ]  # fmt: skip

    assert written("q1", tmp_path, rows) == ["2018-03-01T10:00:00,1,10,20,1"]


def test_the_most_frequent_pair_of_an_hour_ranks_first_and_every_hour_begins_anew(tmp_path: Path) -> None:
    rows = [
        sale(1, 1, "09:00:00"), sale(1, 2, "09:00:01"), sale(2, 8, "09:20:00"), sale(2, 9, "09:20:01"),
        sale(3, 9, "09:59:58"), sale(3, 8, "09:59:59"), sale(4, 1, "10:00:00"), sale(4, 2, "10:00:01"),
    ]  # fmt: skip

    ten, eleven = "2018-03-01T10:00:00", "2018-03-01T11:00:00"
    assert written("q1", tmp_path, rows) == [f"{ten},1,8,9,2", f"{ten},2,1,2,1", f"{eleven},1,1,2,1"]


@pytest.mark.parametrize("times", [("09:59:58", "10:00:01"), ("10:00:01", "09:59:58")])
def test_a_pair_is_as_old_as_the_younger_of_its_items(tmp_path: Path, times: tuple[str, str]) -> None:
    rows = [sale(1, item, at) for item, at in zip((1, 2), times, strict=True)]

    assert written("q1", tmp_path, rows) == ["2018-03-01T11:00:00,1,1,2,1"]


def test_a_pair_that_becomes_known_when_its_hour_has_been_counted_is_late(tmp_path: Path) -> None:
    rows = [
        sale(1, 1, "09:00:00"), sale(2, 3, "10:00:00"), sale(2, 4, "10:00:01"),
        sale(1, 2, "09:00:01"), sale(2, 5, "09:59:59"),
    ]  # fmt: skip
    path = tmp_path / "data.csv"
    path.write_text("\n".join([HEADERS["sales"], *rows]))

    result = run("q1", path, tmp_path / "out")

    assert result.metrics.late == 1, "the pair of ticket 1; those of ticket 2 are as old as its youngest row"
    assert [row["until"] for row in read(tmp_path / "out")] == ["2018-03-01T11:00:00"] * 3


# Query 2 --------------------------------------------------------------------------------------------------------


def view(user: int | str, item: int, minutes: float, page: str = "product") -> str:
    return f"{user},{page},{item},{minutes * 60}"


def test_a_session_goes_on_until_the_user_is_silent_for_longer_than_the_time_out(tmp_path: Path) -> None:
    rows = [view(1, 1, 0), view(1, 2, 60), view(1, 3, 120.1), view(1, 4, 130)]

    assert written("q2", tmp_path, rows) == ["3600.0,1,1,2,1", "7800.0,1,3,4,1"]


def test_products_viewed_by_two_users_or_on_other_pages_or_by_nobody_are_not_viewed_together(tmp_path: Path) -> None:
    rows = [view(1, 1, 0), view(2, 2, 1), view(1, 3, 2, "cart"), view("", 4, 3), view("", 5, 4)]

    assert written("q2", tmp_path, rows) == []


def test_a_session_ends_by_the_clicks_of_others_when_its_user_does_not_come_back(tmp_path: Path) -> None:
    rows = [view(1, 1, 5), view(1, 2, 6), *(view(2, 9, minutes) for minutes in (70, 130, 190, 250, 310))]
    path, out = tmp_path / "data.csv", tmp_path / "out"
    path.write_text("\n".join([HEADERS["clicks"], *rows, "broken"]))

    with pytest.raises(ab.SourceError):  # so that nothing is written because the stream ends
        run("q2", path, out)

    assert out.with_name("out.partial").read_text().splitlines()[1:] == ["360.0,1,1,2,1"]


def test_a_session_never_ends_before_the_time_out_whatever_the_others_do(tmp_path: Path) -> None:
    # The first view of an hour is followed by a punctuation at once, and the next one comes an hour later.
    rows = [view(1, 1, 60), view(2, 9, 120), view(1, 2, 120), view(2, 9, 180), view(1, 3, 180)]

    assert written("q2", tmp_path, rows) == ["10800.0,1,1,2,1", "10800.0,2,1,3,1", "10800.0,3,2,3,1"]


def test_a_view_that_is_recorded_late_or_twice_belongs_to_the_session(tmp_path: Path) -> None:
    rows = [view(1, 1, 10), view(1, 2, 50), view(1, 3, 49), view(1, 2, 50), view(1, 4, 109)]

    assert len(written("q2", tmp_path, rows)) == 6, "all pairs of four products"


# Query 3 --------------------------------------------------------------------------------------------------------


def test_the_last_products_before_an_order_are_listed_without_the_one_that_is_ordered(tmp_path: Path) -> None:
    rows = [*(view(1, item, item) for item in range(1, 8)), view(1, 4, 8), view(1, 7, 9, "order")]

    (line,) = written("q3", tmp_path, rows)

    assert json.loads(line) == {
        "bought": 7,
        "until": DAY,
        "viewed": [{"item": item, "n": 1} for item in (3, 4, 5, 6)],
    }


def test_what_was_viewed_too_long_ago_does_not_count(tmp_path: Path) -> None:
    rows = [view(1, 1, 0), view(1, 2, 1), view(1, 3, 10 * 1440 + 1, "order")]

    assert written("q3", tmp_path, rows) == []
    assert len(written("q3", tmp_path, rows, days=10.001)) == 1


def test_views_before_the_same_product_are_counted_over_all_users_every_day(tmp_path: Path) -> None:
    rows = [
        view(1, 5, 0), view(1, 6, 1), view(1, 9, 2, "order"), view(2, 6, 3), view(2, 9, 4, "order"),
        view(3, 8, 5), view(3, 7, 6, "order"), view(4, 6, 1440), view(4, 9, 1441, "order"),
    ]  # fmt: skip

    found = [json.loads(line) for line in written("q3", tmp_path, rows)]

    assert [(line["bought"], line["until"]) for line in found] == [(9, DAY), (7, DAY), (9, 2 * DAY)]
    assert found[0]["viewed"] == [{"item": 6, "n": 2}, {"item": 5, "n": 1}]
    assert found[2]["viewed"] == [{"item": 6, "n": 1}]


def test_an_order_that_is_recorded_twice_counts_once(tmp_path: Path) -> None:
    rows = [view(1, 1, 0), view(1, 2, 1, "order"), view(1, 2, 1, "order")]

    (line,) = written("q3", tmp_path, rows)

    assert json.loads(line)["viewed"] == [{"item": 1, "n": 1}]


# Query 4 --------------------------------------------------------------------------------------------------------


def test_sessions_with_a_cart_and_without_an_order_are_counted_with_their_pages(tmp_path: Path) -> None:
    rows = [
        view(1, 1, 0, "home"), view(1, 1, 1), view(1, 1, 2, "cart"), view(1, 1, 2, "cart"),
        view(2, 1, 3, "cart"), view(2, 1, 4, "order"), view(3, 1, 5), view("", 1, 6, "cart"),
        view(4, 1, 7, "cart"), view(4, 1, 8, "review"),
    ]  # fmt: skip

    assert written("q4", tmp_path, rows) == ["480.0,2,2.5"], "three pages, one of them recorded twice, and two"


def test_a_cart_that_is_ordered_in_another_session_was_abandoned(tmp_path: Path) -> None:
    rows = [view(1, 1, 0, "cart"), view(1, 1, 61, "order")]

    assert written("q4", tmp_path, rows) == ["0.0,1,1.0"]
    assert written("q4", tmp_path, rows, timeout=90.0) == []


# Query 15 -------------------------------------------------------------------------------------------------------


def week(cents: list[int], category: int = 1) -> list[str]:
    """A sale on each day from Thursday, 2018-03-01, on."""
    return [f"{day},1,1,{category},1,{price},2018-03-{day:02}T10:00:00" for day, price in enumerate(cents, start=1)]


def test_categories_with_flat_or_declining_sales_are_found(tmp_path: Path) -> None:
    rising, flat, declining = week([1, 2, 3, 4], 1), week([5, 5, 5, 5], 2), week([9, 7, 5, 3], 3)
    rows = [row for day in zip(rising, declining, flat, strict=True) for row in day]

    assert written("q15", tmp_path, rows, weeks=1) == [
        "3,2018-03-08T00:00:00,4,24,-2.0",
        "2,2018-03-08T00:00:00,4,20,0.0",
    ]


def test_what_is_brought_back_is_taken_off_and_other_stores_do_not_count(tmp_path: Path) -> None:
    rows = [
        "1,1,1,1,2,50,2018-03-01T10:00:00", "2,1,1,1,3,50,2018-03-02T10:00:00", "3,1,1,1,-1,50,2018-03-02T11:00:00",
        "4,2,1,1,9,50,2018-03-02T12:00:00",
    ]  # fmt: skip

    assert written("q15", tmp_path, rows, weeks=1) == ["1,2018-03-08T00:00:00,2,200,0.0"]
    assert written("q15", tmp_path, rows, weeks=1, store=2) == [], "a single day has no slope"


def test_windows_that_lack_whole_weeks_are_left_out(tmp_path: Path) -> None:
    rows = week(list(range(50, 29, -1)))  # three weeks

    assert [row.split(",")[1:3] for row in written("q15", tmp_path, rows, weeks=2)] == [
        ["2018-03-15T00:00:00", "14"],
        ["2018-03-22T00:00:00", "14"],
    ]


def test_the_slopes_are_those_of_numpy(data: dict[str, Path], tmp_path: Path) -> None:
    run("q15", data["sales"], tmp_path / "out")

    sales = pd.DataFrame(read(data["sales"])).query("store == '1'")
    days = pd.to_datetime(sales["ts"]).dt.floor("D")
    cents = sales["quantity"].astype(int) * sales["price"].astype(int)
    # Rows that come late are in the same days here, and whole windows have none of them.
    for row in read(tmp_path / "out"):
        until = pd.Timestamp(row["until"])
        is_in = (sales["category"] == row["category"]) & (days < until) & (days >= until - pd.Timedelta(days=28))
        by_day = cents[is_in].groupby((days[is_in] - pd.Timestamp(2018, 1, 1)).dt.days).sum()
        slope = np.polyfit(by_day.index.to_numpy(), by_day.to_numpy(), 1)[0]
        assert float(row["slope"]) == pytest.approx(slope, rel=1e-6)


# The data -------------------------------------------------------------------------------------------------------

both = pytest.mark.parametrize("kind", WRITERS)


@both
def test_the_same_seed_gives_the_same_rows_and_another_seed_others(
    data: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    WRITERS[kind](tmp_path / "again.csv", COUNT, seed=7)
    WRITERS[kind](tmp_path / "other.csv", COUNT, seed=8)

    assert (tmp_path / "again.csv").read_bytes() == data[kind].read_bytes()
    assert (tmp_path / "other.csv").read_bytes() != data[kind].read_bytes()


@both
@pytest.mark.parametrize("count", [1, 19, 50_001])
def test_there_are_as_many_rows_as_were_asked_for(tmp_path: Path, kind: str, count: int) -> None:
    WRITERS[kind](tmp_path / "data.csv", count, seed=1)

    text = (tmp_path / "data.csv").read_text()
    assert text.splitlines()[0] == HEADERS[kind]
    assert text.count("\n") == count + 1


def test_clicks_come_in_sessions_some_late_some_twice_and_few_products_are_viewed_by_many(
    data: dict[str, Path],
) -> None:
    clicks = frame(read(data["clicks"]))
    gaps = clicks.dropna(subset=["user"]).groupby("user")["ts"].diff()
    popular = clicks["item"].value_counts()
    busiest = clicks["user"].value_counts()
    by_quarter = clicks.groupby(clicks["ts"] // 900).size()

    assert 0.6 < (gaps < 120).mean() < 0.95, "most clicks follow soon"
    assert 0.05 < (gaps > HOUR).mean() < 0.3, "but users come back"
    assert popular.iloc[: len(popular) // 100].sum() > 0.2 * popular.sum()
    assert busiest.iloc[: len(busiest) // 100].sum() > 0.03 * busiest.sum()
    assert by_quarter.max() > 10 * by_quarter.median(), "the sale"
    assert 0 < (clicks["ts"].diff() < 0).sum() < COUNT * 0.02
    assert 0 < clicks.duplicated().sum() < COUNT * 0.01
    assert 12 * DAY < clicks["ts"].max() < 16 * DAY


def test_sales_come_by_ticket_some_late_some_twice_and_few_items_and_stores_sell_most(data: dict[str, Path]) -> None:
    sales = pd.DataFrame(read(data["sales"])).astype({"item": int, "quantity": int})
    ts = pd.to_datetime(sales["ts"])
    by_item, by_store = sales["item"].value_counts(), sales["store"].value_counts()
    days = ts.dt.date.value_counts().groupby(lambda day: day.weekday()).mean()

    assert 2 < sales.groupby("ticket").size().mean() < 4
    assert by_item.iloc[:4].sum() > 0.05 * len(sales)
    assert by_store.max() > 5 * by_store.min()
    assert days.idxmax() == 5, "Saturday"
    assert 0.01 < (sales["quantity"] < 0).mean() < 0.06
    assert 0 < (ts.diff() < pd.Timedelta(0)).sum() < COUNT * 0.02
    assert 0 < sales.duplicated().sum() < COUNT * 0.01
    assert ts.dt.hour.between(8, 22).all()
    assert (sales["category"].astype(int) == 1 + (sales["item"] - 1) % 10).all()


@both
@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(tmp_path: Path, kind: str, count: int) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        WRITERS[kind](tmp_path / "new" / "data.csv", count)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "part"), [("sales", "store_sales._ticket"), ("clicks", "clickstream._visit")])
def test_a_file_that_cannot_be_completed_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, part: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("before")
    monkeypatch.setattr(f"examples.data.{part}", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        WRITERS[kind](path, 10)

    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("data.csv", "before")]


@pytest.mark.parametrize(("kind", "module"), [("sales", "store_sales"), ("clicks", "clickstream")])
def test_the_command_writes_the_file(tmp_path: Path, kind: str, module: str) -> None:
    path = tmp_path / "data.csv"
    command = [sys.executable, "-m", f"examples.data.{module}", "--count", "100", "--out", str(path)]

    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)

    assert len(read(path)) == 100
