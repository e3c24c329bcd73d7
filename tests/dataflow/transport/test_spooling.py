"""What is large goes to the driver in files, where it can: Spark hands over only where it is."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.spooling import fetch, spool

TAIL = 3
LARGE = bytes(range(256)) * 1_000


def row(payload: bytes, place: int = TAIL, kind: int = Kind.CHUNK) -> Row:
    return Row(0, place, 5, 0, kind, payload)


def test_large_rows_for_the_driver_are_in_a_file_and_come_back_as_they_were(tmp_path: Path) -> None:
    given = [row(LARGE), row(b"small"), row(LARGE[7:])]
    found = list(spool(given, str(tmp_path), TAIL))
    assert [len(each.payload) < 200 for each in found] == [True, True, True]
    assert [bytes(fetch(each, str(tmp_path)).payload) for each in found] == [each.payload for each in given]


@pytest.mark.parametrize("other", [row(LARGE, place=1), row(LARGE, kind=Kind.ERROR), row(LARGE, kind=Kind.FIGURES)])
def test_rows_for_other_places_and_of_other_kinds_travel_as_they_are(tmp_path: Path, other: Row) -> None:
    assert list(spool([other], str(tmp_path), TAIL)) == [other]
    assert list(tmp_path.iterdir()) == []


def test_where_all_see_the_folder_rows_for_any_place_are_in_files(tmp_path: Path) -> None:
    found = list(spool([row(LARGE, place=1), row(LARGE)], str(tmp_path)))
    assert [each.kind for each in found] == [Kind.SPOOLED] * 2
    assert [fetch(each, str(tmp_path)) for each in found] == [row(LARGE, place=1), row(LARGE)]


@pytest.mark.parametrize("folder", ["", "/no/such/folder"])
def test_where_workers_do_not_see_the_drivers_folder_rows_travel_whole(folder: str) -> None:
    [found] = spool([row(LARGE)], folder, TAIL)
    assert fetch(found, folder).payload == LARGE


def test_where_there_is_no_room_for_files_rows_travel_whole(tmp_path: Path) -> None:
    with patch.object(Path, "open", return_value=open("/dev/full", "wb", buffering=0)):
        found = list(spool([row(LARGE), row(LARGE[7:])], str(tmp_path)))
    assert found == [row(LARGE), row(LARGE[7:])]


def test_a_task_that_is_tried_again_has_a_file_of_its_own(tmp_path: Path) -> None:
    """The first attempt may have died in the middle of a row."""
    first = spool([row(LARGE), row(LARGE)], str(tmp_path), TAIL)
    next(first)
    [again] = spool([row(LARGE[::-1])], str(tmp_path), TAIL)
    assert bytes(fetch(again, str(tmp_path)).payload) == LARGE[::-1]
    assert len(list(tmp_path.iterdir())) == 2
