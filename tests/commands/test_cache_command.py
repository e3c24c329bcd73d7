"""`anabranch cache`: what it shows and what it removes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from anabranch.cli import main

ENTRY = "code_" + 32 * "0"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))
    entry = tmp_path / "cache" / ENTRY
    (entry / "__pycache__").mkdir(parents=True)
    (tmp_path / "cache").chmod(0o700)
    (entry / "code.py").write_bytes(b"x" * 1500)
    return tmp_path / "cache"


def test_the_folder_is_shown_with_what_is_in_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    shown, _, size = capsys.readouterr().out.strip().rpartition(", ")
    assert shown == f"{folder}: 1 module"
    assert size.endswith(" kB")
    assert (folder / ENTRY).exists()


def test_clearing_removes_the_code_and_keeps_what_else_is_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "notes.txt").write_text("mine")
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out.startswith(f"{folder}: 1 module, ")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{folder}: 0 modules, 0 bytes\n"


def test_a_folder_that_cannot_be_used_is_named_with_the_reason(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.chmod(0o777)
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{folder} cannot be used: others can write to it.\n"
    monkeypatch.setenv("ANABRANCH_CACHE", str(folder / ENTRY / "code.py" / "below"))
    assert main(["cache"]) == 0
    assert "cannot be used: it cannot be made: Not a directory" in capsys.readouterr().out


def test_the_help_says_how_to_keep_code_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["cache", "--help"])
    assert stopped.value.code == 0
    assert "ANABRANCH_CACHE=/scratch/cache anabranch run app.py" in capsys.readouterr().out
    assert main([]) == 0
    assert "cache" in capsys.readouterr().out
