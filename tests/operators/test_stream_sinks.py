"""Sinks of streams that are no files: what was collected is kept, functions and connections get every tuple."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.errors import SinkError
from anabranch.operators.sinks import Collect, ForEach, WriteTcp
from anabranch.operators.sinks.collect import CollectMeaning
from tests.operators.streaming import HERE, ONE, THREE, TWO, Word, by_rows, meaning_of, resumed, synced, tear


class Inner(NamedTuple):
    x: float
    tags: list[str] | None


class Everything(NamedTuple):
    i: int
    f: float
    b: bool
    s: str
    raw: bytes
    at: datetime
    day: date
    inner: Inner
    several: list[Inner]
    perhaps: int | None


# Memory, functions and connections ----------------------------------------------------------------------------------


def collecting(row_type: type[Any] = Word) -> CollectMeaning:
    meaning: CollectMeaning = meaning_of(Collect("words"), row_type)
    return meaning


def test_what_was_collected_is_there_again_after_a_restart(tmp_path: Path) -> None:
    first = resumed(collecting(), None, tmp_path)
    synced(first, [ONE])
    position = synced(first, [TWO])
    synced(first, [THREE])  # nobody kept the position
    by_rows(first, [THREE])
    assert first.items == [ONE, TWO, THREE, THREE]
    first.close()
    second = collecting()
    known = second.items
    resumed(second, position, tmp_path)
    assert second.items == [ONE, TWO]
    assert second.items is known, "who has the list sees it"
    assert second.sync() == position
    position = synced(second, [THREE])
    assert position["items"] == 3
    assert resumed(collecting(), position, tmp_path).items == [ONE, TWO, THREE]
    assert resumed(collecting(), None, tmp_path).items == []


rows_of_everything = st.builds(
    Everything,
    i=st.integers(-(2**63), 2**63 - 1),
    f=st.floats(),
    b=st.booleans(),
    s=st.text(st.characters(exclude_categories=["Cs"])),
    raw=st.binary(),
    at=st.datetimes(timezones=st.sampled_from([None, UTC])).map(lambda at: at.replace(fold=0)),
    day=st.dates(),
    inner=(inner := st.builds(Inner, st.floats(), st.none() | st.lists(st.text(st.characters(codec="utf-8"))))),
    several=st.lists(inner, max_size=3),
    perhaps=st.none() | st.integers(-5, 5),
)


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(rows_of_everything, max_size=5), at=st.integers(0, 5))
def test_collected_tuples_come_back_exactly(rows: list[Any], at: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("collected")
    meaning = resumed(collecting(Everything), None, folder)
    synced(meaning, rows[:at])
    position = synced(meaning, rows[at:])
    meaning.close()
    tear(folder / "items.jsonl")
    items = resumed(collecting(Everything), position, folder).items
    assert repr(items) == repr(rows)  # also the types, and which of them are NaN or -0.0
    assert all(type(item) is Everything and type(item.inner) is Inner for item in items)


@pytest.mark.parametrize("damage", [b"", b'{"text":"on', b'{"text":1}\n{}\n     \n', b"\xff" * 20])
def test_collected_tuples_that_cannot_be_read_back_are_said(damage: bytes, tmp_path: Path) -> None:
    position = synced(resumed(collecting(), None, tmp_path), [ONE])
    (tmp_path / "items.jsonl").write_bytes(damage)
    with pytest.raises(SinkError, match=r"items\.jsonl: the stream (wrote 15 bytes|kept 1 tuples)") as caught:
        collecting().resume(position, tmp_path)
    assert "another checkpoint" in str(caught.value.hint)
    assert caught.value.location == HERE


def test_a_function_gets_every_tuple_and_keeps_no_position(tmp_path: Path) -> None:
    seen: list[Word] = []
    meaning = meaning_of(ForEach(seen.append))
    meaning.check_new()
    resumed(meaning, None, tmp_path)
    assert synced(meaning, [ONE, TWO]) is None
    meaning.close()
    assert seen == [ONE, TWO]


def test_a_connection_is_opened_when_a_stream_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meaning = meaning_of(WriteTcp("127.0.0.1", 1))
    meaning.check_new()
    with pytest.raises(SinkError, match="the connection was refused"):
        meaning.resume(None, tmp_path)
