"""The folder of a run, for its reports and large rows, goes when the run ends, whatever its tasks still do."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from anabranch.engines.base import Metrics
from anabranch.engines.spark.source_tasks import _in_folder
from anabranch.engines.spark.watching import Reporter, watched
from anabranch.errors import RunError


def test_the_folder_is_removed_while_tasks_that_were_broken_off_still_write_into_it() -> None:
    with watched(Metrics()) as folder:
        until = time.monotonic() + 1

        def write() -> None:
            number = 0
            while time.monotonic() < until and Path(folder).exists():
                number += 1
                Reporter(folder, f"R{number}").write()

        tasks = [threading.Thread(target=write) for _ in range(3)]
        for task in tasks:
            task.start()
    for task in tasks:
        task.join()
    assert not Path(folder).exists()


def test_where_there_is_no_folder_for_temporary_files_an_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(RunError, match="there is no room for temporary files"), watched(Metrics()):
        pass


def test_a_worker_may_have_been_started_in_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with _in_folder(str(tmp_path)):
        assert Path.cwd() == tmp_path
