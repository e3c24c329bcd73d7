"""How many tuples sources will give is known before they are read, where that can be."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import anabranch as ab
from anabranch.passes.layout.expected_size import expected_tuples, form_for
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
    )
    assert expected_of(*sources) == 7 + 1_000 + 802 // 40


def expected_of(first: ab.Stream[Numbered], *more: ab.Stream[Numbered]) -> int | None:
    return expected_tuples(as_program((first.union(*more) if more else first).collect("out")).graph)


def form_of(*sources: ab.Stream[Numbered]) -> str:
    first, *more = sources
    graph = as_program((first.union(*more) if more else first).collect("out")).graph
    return form_for(graph, "auto", expected_tuples(graph))


def test_nobody_can_tell_how_many_tuples_come_from_files_that_are_not_there_yet(tmp_path: Path) -> None:
    some, none = ab.from_items(Numbered, [Numbered(1)]), ab.read_csv(str(tmp_path / "none.csv"), Numbered)
    assert expected_of(none) is None
    assert expected_of(ab.read_csv(str(tmp_path / "*.csv"), Numbered)) is None
    assert expected_of(some, none) is None, "it may be the large one"
    assert expected_of(ab.beacon(Numbered, Numbered)) is None
    assert expected_of(ab.from_items(Numbered, [])) == 0


def test_files_that_are_not_there_yet_are_taken_to_be_large_and_what_does_not_tell_to_be_small(tmp_path: Path) -> None:
    none = ab.read_csv(str(tmp_path / "none.csv"), Numbered)
    assert form_of(none) == "auto"
    assert form_of(ab.from_items(Numbered, [Numbered(1)]), none) == "auto"
    assert form_of(ab.beacon(Numbered, Numbered)) == "python"
    assert form_of(ab.from_items(Numbered, [Numbered(1)])) == "python"
