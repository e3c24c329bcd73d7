"""What the order costs: a sink that keeps it against one that need not."""

from __future__ import annotations

import pyarrow.parquet as pq

from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import pairs_file
from benchmarks.spark.race import Answer, Contestant, Times, race

ORDERED, UNORDERED = "ordered", "ordered=False"
_OUT = {name: str(FOLDER / f"copied-{name}.parquet") for name in (ORDERED, UNORDERED)}


def contest(count: int, rounds: int) -> Times:
    with Host("order") as host:
        contestants = [
            Contestant(name, host, "benchmarks.spark.pairs:run_copied",
                       {"pairs": pairs_file(count), "out": _OUT[name], "ordered": name == ORDERED})
            for name in (ORDERED, UNORDERED)
        ]  # fmt: skip
        return race(contestants, rounds, _must_agree)


def _must_agree(answers: dict[str, Answer]) -> None:
    """The same tuples, which is all that an unordered sink promises."""
    ordered, unordered = (pq.read_table(_OUT[name]) for name in (ORDERED, UNORDERED))
    by_all = [(name, "ascending") for name in ordered.column_names]
    assert ordered.num_rows, "nothing to compare"
    assert ordered.sort_by(by_all).equals(unordered.sort_by(by_all)), "the two sinks got different tuples"
