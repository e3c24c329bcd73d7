"""What Spark's Java writes for a while is in a folder of its own, which goes with it, or with the next that starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anabranch.engines.spark.session.java_folder import make_java_folder, remove_java_folder
from tests.engines.spark.session.test_kinds_of_sessions import ROOT

MAKING = """
from anabranch.engines.spark.session.java_folder import make_java_folder
print(make_java_folder(), flush=True)
input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", *arguments]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as found:
        yield found
        found.kill()


def made(by: subprocess.Popen[str]) -> Path:
    assert by.stdout is not None
    return Path(by.stdout.readline().strip())


def test_the_folder_of_a_process_that_was_killed_goes_with_the_next_start() -> None:
    with process(MAKING) as one, process(MAKING) as other:
        killed, living = made(one), made(other)
        (killed / "blockmgr-1").mkdir()
        (killed / "blockmgr-1" / "librocksdbjni1.so").touch()
        one.kill()
        one.wait()
        assert killed.exists()
        own = make_java_folder()
        assert not killed.exists()
        assert living.exists()
        assert own.exists()


def test_the_folder_of_a_process_that_ends_goes_with_it() -> None:
    with process(MAKING) as one:
        folder = made(one)
        assert folder.exists()
        one.communicate("\n")
        assert not folder.exists()


def test_a_folder_that_java_still_uses_stays() -> None:
    with process(MAKING) as one:
        folder = made(one)
        one.kill()
        one.wait()
    with process("print(flush=True); input()", f"-Djava.io.tmpdir={folder}") as java:
        made(java)
        make_java_folder()
        assert folder.exists()
    make_java_folder()
    assert not folder.exists()


def test_a_folder_that_is_not_locked_yet_stays_for_a_while(temporary: Path) -> None:
    folder = temporary / "anabranch-spark-new"
    folder.mkdir()
    make_java_folder()
    assert folder.exists()
    os.utime(folder, (0, 0))
    make_java_folder()
    assert not folder.exists()


def test_what_is_not_ours_stays(temporary: Path) -> None:
    (temporary / "precious").mkdir()
    (temporary / "anabranch-spark-link").symlink_to(temporary / "precious")
    (temporary / "blockmgr-1").mkdir()
    for path in temporary.iterdir():
        os.utime(path, (0, 0), follow_symlinks=False)
    remove_java_folder(make_java_folder())
    assert sorted(path.name for path in temporary.iterdir()) == ["anabranch-spark-link", "blockmgr-1", "precious"]


def test_a_spark_of_ours_writes_there(session: Any) -> None:
    places = session.conf.get("spark.local.dir"), session._jvm.java.lang.System.getProperty("java.io.tmpdir")
    assert all(Path(place).name.startswith("anabranch-spark-") for place in places)
