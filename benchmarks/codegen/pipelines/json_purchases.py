"""A pipeline that parses JSON: the user's own code is the larger part of the work, and stays in the Python form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import bytewax.operators as op
import numpy as np
import pyarrow as pa
from bytewax.dataflow import Dataflow

import anabranch as ab
from benchmarks.codegen.bytewax_flows import run_flow, source
from benchmarks.codegen.contest import Pipeline
from benchmarks.codegen.inputs import Data, columns_of, scattered_ids, skewed

USERS = 2000
KINDS = ("view", "buy", "search")
LIMIT = 500.0


class Line(NamedTuple):
    text: str


class Event(NamedTuple):
    user: int
    kind: str
    amount: float


class Spent(NamedTuple):
    user: int
    total: float


def parse(line: Line) -> Event:
    read = json.loads(line.text)
    return Event(read["user"], read["kind"], read["amount"])


class Spending:
    def __init__(self) -> None:
        self.total = 0.0

    def process(self, event: Event) -> Iterator[Spent]:
        self.total += event.amount
        if self.total > LIMIT:
            yield Spent(event.user, self.total)
            self.total = 0.0


def program(lines: list[Line]) -> Any:
    return (
        ab.from_items(Line, lines)
        .map(parse)
        .filter(lambda event: event.kind == "buy")
        .process(Spending, key="user")
        .collect("out")
    )


def data(count: int) -> Data:
    random = np.random.default_rng(6)
    users = scattered_ids(random, USERS)[skewed(random, count, USERS)].tolist()
    kinds = random.integers(0, len(KINDS), count).tolist()
    amounts = np.round(random.random(count) * 100, 2).tolist()
    events = zip(users, kinds, amounts, strict=True)
    texts = [json.dumps({"user": user, "kind": KINDS[kind], "amount": amount}) for user, kind, amount in events]
    return Data((Line,), (columns_of(Line, text=pa.array(texts)),))


def python_loop(lines: list[Line]) -> list[Spent]:
    found = []
    totals: dict[int, float] = {}
    loads = json.loads
    for (text,) in lines:
        read = loads(text)
        if read["kind"] == "buy":
            user = read["user"]
            total = totals.get(user, 0.0) + read["amount"]
            if total > LIMIT:
                found.append(Spent(user, total))
                total = 0.0
            totals[user] = total
    return found


def bytewax(batches: list[list[Line]]) -> list[Spent]:
    flow = Dataflow("json_purchases")
    lines = op.input("lines", flow, source(batches))
    events = op.map("parse", lines, parse)
    bought = op.filter("bought", events, lambda event: event.kind == "buy")
    by_user = op.key_on("user", bought, lambda event: str(event.user))
    spent = op.stateful_flat_map("spending", by_user, _spending)
    return run_flow(flow, op.key_rm("spent", spent))


def _spending(total: float | None, event: Event) -> tuple[float, tuple[Spent, ...]]:
    total = (total or 0.0) + event.amount
    return (0.0, (Spent(event.user, total),)) if total > LIMIT else (total, ())


JSON_PURCHASES = Pipeline("JSON purchases", program, data, python_loop, None, bytewax)
