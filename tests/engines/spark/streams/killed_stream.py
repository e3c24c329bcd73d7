"""Streams that are killed while they run, and the process that runs one: `python -m … FOLDER [OPTIONS]`.

It goes on until a file named `finish` is in the folder, and prints what has been committed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Item(NamedTuple):
    n: int
    s: str
    ts: float


class Pair(NamedTuple):
    n: int
    s: str
    other: int


class Total(NamedTuple):
    s: str
    count: int
    largest: int


class Running:
    """Counts the tuples of a key, and drops every third."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count % 7, item.s, item.ts) if self.count % 3 else None


class Several:
    """Emits up to three tuples for one."""

    def __init__(self) -> None:
        self.total = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.total += item.n
        for at in range(self.total % 4):
            yield Item(self.total, f"{item.s}{at}", item.ts)


class Numbered:
    """Has one state for all tuples, so that every tuple that is lost, doubled or moved shows in all that follow."""

    def __init__(self) -> None:
        self.count = 0
        self.mark = 0

    def process(self, item: Item) -> Item:
        self.count += 1
        self.mark = (self.mark * 31 + item.n) % 1_000_003
        return Item(self.count, f"{item.s}-{self.mark}", item.ts)


def lowered(item: Item) -> Item:
    return Item(item.n % 997, item.s, item.ts)


def pair(left: Item, right: Item) -> Pair:
    return Pair(left.n, left.s, right.n)


def chained(source: Path, out: Path) -> list[Any]:
    """Two keyed regions with a shuffle between them, and behind them an operator that is not parallel."""
    items = ab.read_csv(source, Item).filter(lambda item: item.n % 5 != 0)
    counted = items.process(Running, key="n").map(lowered).process(Several, key="s")
    return [counted.process(Numbered).write_csv(out / "chained.csv")]


def branched(source: Path, out: Path) -> list[Any]:
    """A window over time and a join of two branches, with sinks of three kinds."""
    items = ab.read_csv(source, Item).process(Running, key="n")
    windows = items.window(ab.tumbling(seconds=40, on="ts"), key="s")
    totals = windows.aggregate(Total, s=ab.first("s"), count=ab.count(), largest=ab.max_("n"))
    recent = ab.sliding(count=2, per_key=True)
    rare = items.filter(lambda item: item.n % 13 == 0)
    pairs = rare.join(items.map(lowered), left=recent, right=recent, on="s", out=pair)
    return [
        totals.write_jsonl(out / "totals.jsonl"),
        pairs.write_parquet(out / "pairs"),
        totals.filter(lambda total: total.count > 3).collect("full"),
    ]


PROGRAMS = {"chained": chained, "branched": branched}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--master", default="local[2,4]")
    parser.add_argument("--channels", type=int)
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    sinks = PROGRAMS[options.program](folder / "in", folder)
    # Batches of a file or two, so that there are many of them.
    query = ab.start(
        *sinks, checkpoint=folder / "state", channels=options.channels, master=options.master, batch_mb=0.05
    )
    print("started", flush=True)
    while query.await_done(timeout=0.1) is None:
        if (folder / "finish").exists():
            query.finish()
            break
    for name, items in query.result.collected.items():
        (folder / f"{name}.collected").write_text(repr(items))


if __name__ == "__main__":
    main()
