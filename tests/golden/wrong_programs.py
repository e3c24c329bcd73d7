"""Wrong programs: each file in `errors/` holds one mistake, and the `.txt` beside it the message a user must get.

A program is loaded, built and run as `anabranch run` would. Files named `run_…` can be built and fail when they run;
all others cannot be built.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import anabranch as ab

FOLDER = Path(__file__).parent / "errors"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))


def error_of(name: str) -> tuple[str, str]:
    """When a program fails, "build" or "run", and its message, with paths relative to the folder of the program."""
    with _copy_of(name) as path:
        moment = "build"
        try:
            module = _load(path)
            apps = [value for value in vars(module).values() if isinstance(value, ab.App)]
            program = apps[-1]()
            moment = "run"
            ab.run(program)
        except ab.AnabranchError as error:
            return moment, str(error).replace(str(path.parent), "<folder>") + "\n"
    raise AssertionError(f"{name} is a wrong program, but it ended without an error")


@contextlib.contextmanager
def _copy_of(name: str) -> Iterator[Path]:
    """The program and its data in a folder of their own, which is the current folder while it runs."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        shutil.copy(FOLDER / f"{name}.py", folder)
        shutil.copytree(FOLDER / "data", folder / "data")
        with contextlib.chdir(folder):
            yield folder / f"{name}.py"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"wrong_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where annotations are looked up
    spec.loader.exec_module(module)
    return module
