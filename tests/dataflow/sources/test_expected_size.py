"""How many tuples sources will give is known before they are read, where that can be."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import anabranch as ab
from anabranch.dataflow.sources.expected_size import expected_tuples
from anabranch.run import as_program


class Numbered(NamedTuple):
    n: int


def test_what_is_counted_is_known_and_what_has_no_end_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("n\n" + "1000000\n" * 100)
    sources = (
        ab.from_items(Numbered, [Numbered(1)] * 7),
        ab.beacon(Numbered, Numbered, count=1_000),
        ab.beacon(Numbered, Numbered),
        ab.read_csv(str(tmp_path / "some.csv"), Numbered),
        ab.read_csv(str(tmp_path / "none.csv"), Numbered),
    )
    graph = as_program(sources[0].union(*sources[1:]).collect("out")).graph
    assert expected_tuples(graph) == 7 + 1_000 + 802 // 40
