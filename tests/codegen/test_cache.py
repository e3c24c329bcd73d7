"""The cache of generated code: entries are used by later processes, and never trusted if they are not as written."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.codegen import cache, cache_folder
from anabranch.errors import UsageError

SOURCE = """from numba import njit


@njit(nogil=True, cache=True)
def double(x):
    return 2 * x
"""


@pytest.fixture
def folder(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a test; temporary files are in its folder too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return own_cache


def build(module: Any) -> Any:
    module.double.compile("int64(int64)")
    module.double.disable_compile()
    return module.double


def load(source: str = SOURCE, build: Callable[[Any], Any] = build) -> Any:
    return cache.load(source, build, compiled_for="int64")


def was_kept(function: Any) -> bool:
    """Whether its machine code came from the cache."""
    return bool(function.stats.cache_hits)


def the_entry(folder: Path) -> Path:
    (entry,) = cache_folder.entries(folder)
    return entry.path


def files_of(entry: Path) -> list[Path]:
    return sorted(path for path in entry.rglob("*") if path.is_file())


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith("code_")]


# Use ---------------------------------------------------------------------------------------------------------------


def test_what_was_compiled_once_is_not_compiled_again(folder: Path) -> None:
    first, second = load(), load()
    assert [first(21), second(21)] == [42, 42]
    assert [was_kept(first), was_kept(second)] == [False, True]
    assert unfinished(folder) == []


def test_an_entry_has_readable_source_and_machine_code(folder: Path) -> None:
    load()
    entry = the_entry(folder)
    assert (entry / f"{entry.name}.py").read_text() == SOURCE
    assert sorted(path.suffix for path in files_of(entry)) == [".json", ".nbc", ".nbi", ".py"]


def test_only_its_user_can_look_into_the_cache(folder: Path) -> None:
    load()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_change_of_anything_that_code_depends_on_leads_to_another_entry(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codegen = tmp_path / "codegen"
    for name in ("runtime", "native"):
        shutil.copytree(Path(cache.__file__).parent / name, codegen / name)
    monkeypatch.setattr(cache, "files", lambda _: codegen)

    def name() -> str:
        cache._surroundings.cache_clear()
        return cache._name_of(SOURCE, "int64")

    names = [name(), cache._name_of(SOURCE + "\n", "int64"), cache._name_of(SOURCE, "float64")]
    for edited in ("runtime/tables.py", "native/kernel.py"):
        (codegen / edited).write_text("# edited")
        names.append(name())
    for package in ("anabranch", "numba", "llvmlite", "numpy"):
        monkeypatch.setattr(sys.modules[package], "__version__", "0")
        names.append(name())
    monkeypatch.setattr(sys, "version", "9")
    names.append(name())
    monkeypatch.setenv("NUMBA_OPT", "0")
    names.append(name())
    monkeypatch.undo()
    cache._surroundings.cache_clear()
    assert len(dict.fromkeys(names)) == len(names) == 11


def test_code_stays_in_its_entry_whatever_numba_was_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "numba"))
    load()
    assert was_kept(load())
    assert not (tmp_path / "numba").exists()
    assert str(tmp_path / "numba") == numba.config.CACHE_DIR


def test_what_cannot_be_built_leaves_nothing_behind(folder: Path) -> None:
    def fails(module: Any) -> Any:
        raise ValueError("no such code")

    with pytest.raises(ValueError, match="no such code"):
        load(build=fails)
    assert list(folder.iterdir()) == []


# Entries that are not as they were written -------------------------------------------------------------------------


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [flip_a_bit, halve, empty, remove])
@pytest.mark.parametrize("suffix", [".py", ".nbi", ".nbc", ".json"])
def test_a_damaged_entry_is_built_again(folder: Path, suffix: str, damage: Callable[[Path], None]) -> None:
    load()
    (damaged,) = [path for path in files_of(the_entry(folder)) if path.suffix == suffix]
    damage(damaged)
    rebuilt = load()
    assert (rebuilt(21), was_kept(rebuilt)) == (42, False)
    assert was_kept(load())
    assert unfinished(folder) == []


class _Trap:
    """Leaves a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_nothing_is_unpickled_before_it_was_checked(folder: Path, tmp_path: Path, suffix: str) -> None:
    load()
    (replaced,) = [path for path in files_of(the_entry(folder)) if path.suffix == suffix]
    replaced.write_bytes(pickle.dumps(_Trap(tmp_path / "sprung")))
    assert not was_kept(load())
    assert not (tmp_path / "sprung").exists()


def test_the_source_that_is_run_is_the_one_that_was_generated(folder: Path) -> None:
    """Also where somebody edited it and made the manifest fit."""
    load()
    entry = the_entry(folder)
    (entry / f"{entry.name}.py").write_text(SOURCE.replace("2 * x", "3 * x"))
    (entry / "manifest.json").write_text(json.dumps({"name": entry.name, "files": cache._hashes(entry)}))
    rebuilt = load()
    assert (rebuilt(21), was_kept(rebuilt)) == (42, False)
    assert (entry / f"{entry.name}.py").read_text() == SOURCE


def test_a_file_too_many_is_reason_enough_to_build_again(folder: Path) -> None:
    load()
    (the_entry(folder) / "__pycache__" / "more.nbc").write_bytes(b"")
    assert not was_kept(load())


@pytest.mark.parametrize("manifest", ["[]", "{}", '{"files": {}}', "null", "\x00", '{"name": 1, "files": []}'])
def test_a_manifest_of_another_form_is_not_believed(folder: Path, manifest: str) -> None:
    load()
    (the_entry(folder) / "manifest.json").write_text(manifest)
    assert not was_kept(load())
    assert was_kept(load())


def test_an_entry_of_another_module_under_this_name_is_not_believed(folder: Path) -> None:
    load(SOURCE.replace("2 * x", "3 * x"))
    other = the_entry(folder)
    load()
    (entry,) = [each.path for each in cache_folder.entries(folder) if each.path != other]
    shutil.rmtree(entry)
    other.rename(entry)
    rebuilt = load()
    assert (rebuilt(21), was_kept(rebuilt)) == (42, False)


def test_an_intact_entry_that_cannot_be_loaded_is_built_again(folder: Path) -> None:
    load()
    calls = []

    def fails_first(module: Any) -> Any:
        calls.append(module)
        if len(calls) == 1:
            raise pickle.UnpicklingError("from another world")
        return build(module)

    assert not was_kept(load(build=fails_first))
    assert len(calls) == 2


# Several processes -------------------------------------------------------------------------------------------------


def process(code: str, folder: Path, **options: Any) -> subprocess.Popen[str]:
    script = f"from tests.codegen.test_cache import *\n{textwrap.dedent(code)}"
    environment = {**os.environ, "ANABRANCH_CACHE": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment, text=True, **options
    )


def test_processes_that_build_the_same_at_once_leave_one_entry(folder: Path) -> None:
    code = """
    def build_together(module):
        print("building", flush=True)
        sys.stdin.readline()
        return build(module)

    print(load(build=build_together)(21), flush=True)
    """
    processes = [process(code, folder, stdin=subprocess.PIPE) for _ in range(3)]
    for each in processes:
        assert each.stdout is not None
        assert each.stdout.readline() == "building\n"
    assert len(unfinished(folder)) == 3
    outputs = [each.communicate("go\n")[0] for each in processes]
    assert outputs == ["42\n"] * 3
    assert was_kept(load())
    assert len(list(folder.iterdir())) == 1


def test_what_a_killed_process_left_behind_is_not_trusted_and_removed_in_time(folder: Path) -> None:
    code = """
    def killed_while_building(module):
        build(module)
        print("building", flush=True)
        time.sleep(600)

    load(build=killed_while_building)
    """
    killed = process(code, folder)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "building\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (left,) = unfinished(folder)
    assert any(path.suffix == ".nbc" for path in files_of(left))

    assert not was_kept(load())
    assert unfinished(folder) == [left]  # it might still be at work
    two_hours_ago = time.time() - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    load(SOURCE + "\n")
    assert unfinished(folder) == []


def test_functions_that_python_calls_are_compiled_by_the_first_process_only(folder: Path) -> None:
    code = """
    import numpy as np
    from anabranch.codegen.runtime.tables import insert_all, new_table
    {}
    table = new_table()
    insert_all(table, None, np.array([[7], [8]]), 1)
    print(np.count_nonzero(table), flush=True)
    """
    first = process(code.format(""), folder)
    assert first.communicate()[0] == "4\n"
    second = process(code.format("cache._newly_built = None"), folder)
    assert second.communicate()[0] == "4\n"


# The folder --------------------------------------------------------------------------------------------------------


def test_the_folder_is_that_of_the_user_s_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANABRANCH_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder.wanted_folder() == tmp_path / "xdg" / "anabranch"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert cache_folder.wanted_folder() == tmp_path / ".cache" / "anabranch"
    monkeypatch.setenv("ANABRANCH_CACHE", "~/here")
    assert cache_folder.wanted_folder() == tmp_path / "here"


def test_where_the_folder_cannot_be_made_a_temporary_one_takes_its_place(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "file" / "cache"))
    load()
    assert was_kept(load())
    temporary = tmp_path / f"anabranch-{os.getuid()}"
    assert len(cache_folder.entries(temporary)) == 1
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_to_is_not_used(folder: Path, tmp_path: Path) -> None:
    load()
    folder.chmod(0o777)
    assert not was_kept(load())
    assert len(cache_folder.entries(tmp_path / f"anabranch-{os.getuid()}")) == 1


def test_a_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert cache_folder.problem_with(folder) == "it belongs to another user"


def test_a_full_disk_sends_code_to_the_next_folder(folder: Path, tmp_path: Path) -> None:
    def build_where_there_is_room(module: Any) -> Any:
        if Path(module.__file__).is_relative_to(folder):
            raise OSError(errno.ENOSPC, "No space left on device")
        return build(module)

    assert load(build=build_where_there_is_room)(21) == 42
    assert list(folder.iterdir()) == []
    assert len(cache_folder.entries(tmp_path / f"anabranch-{os.getuid()}")) == 1


def test_without_any_folder_one_of_this_process_serves(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (tmp_path / f"anabranch-{os.getuid()}").write_text("")
    cache_folder._folder_of_this_process.cache_clear()
    assert load()(21) == 42
    assert was_kept(load())
    cache_folder._folder_of_this_process.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / f"anabranch-{os.getuid()}"))  # a file
    with pytest.raises(UsageError, match="generated code cannot be written anywhere"):
        load()


def test_clearing_removes_code_and_nothing_else(folder: Path) -> None:
    load()
    (folder / "building_code_0_abc").mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "code_mine").mkdir()
    cache_folder.clear(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["code_mine", "notes.txt"]
    assert not was_kept(load())


def test_an_entry_that_nobody_uses_is_removed_in_the_end(folder: Path) -> None:
    load()
    entry = the_entry(folder)
    a_year_ago = time.time() - 365 * 86400
    os.utime(entry, (a_year_ago, a_year_ago))
    load()  # is a use
    load(SOURCE + "\n")
    assert entry.exists()
    os.utime(entry, (a_year_ago, a_year_ago))
    load(SOURCE + "\n\n")
    assert not entry.exists()
    assert len(cache_folder.entries(folder)) == 2
