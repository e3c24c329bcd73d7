"""Generated modules and their machine code, kept from one process to the next.

An entry is a folder whose name is a hash of everything that its content depends on. It is built aside and renamed into
place when it is complete, so processes that need the same one at the same time do not disturb each other. Before
anything in an entry is run, each of its files is compared with the hashes in its manifest; what does not match is built
again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from anabranch.codegen import cache_folder
from anabranch.errors import UsageError

Built = TypeVar("Built")

_MANIFEST = "manifest.json"
_ONE_AT_A_TIME = threading.RLock()


def load(source: str, build: Callable[[Any], Built], *, compiled_for: str) -> Built:
    """What `build` makes of a module with this source: it compiles functions, and finds in the cache those it had.

    `compiled_for` says for which types it compiles them, since equal sources may be compiled for several.
    """
    name = _name_of(source, compiled_for)
    with _ONE_AT_A_TIME:
        for folder in cache_folder.usable_folders():
            try:
                return _kept(folder, name, source, build)
            except OSError:
                continue  # a full disk, for example
    raise UsageError(
        "generated code cannot be written anywhere",
        hint=f"name a folder of your own with room in it: {cache_folder.VARIABLE}=/path/to/folder",
    )


def _kept(folder: Path, name: str, source: str, build: Callable[[Any], Built]) -> Built:
    entry = folder / name
    if _is_intact(entry, source):
        try:
            built = build(_imported(entry, name, source))
        except Exception:
            pass  # intact, but not what this process can load: for that, too, there is a remedy
        else:
            with suppress(OSError):
                os.utime(entry)  # the time of the last use
            return built
    cache_folder.remove_entry(entry)
    cache_folder.tidy(folder)
    return _newly_built(folder, name, source, build)


def _newly_built(folder: Path, name: str, source: str, build: Callable[[Any], Built]) -> Built:
    place = cache_folder.new_place(folder, name)
    try:
        (place / f"{name}.py").write_text(source, encoding="utf-8")
        built = build(_imported(place, name, source))
        (place / _MANIFEST).write_text(json.dumps({"name": name, "files": _hashes(place)}, indent=1))
        with suppress(OSError):  # another process was faster; its entry is as good
            place.rename(folder / name)
        return built
    finally:
        shutil.rmtree(place, ignore_errors=True)


# What an entry depends on -------------------------------------------------------------------------------------------


def _name_of(source: str, compiled_for: str) -> str:
    """A name for the entry, the file and the module alike."""
    everything = "\0".join([source, compiled_for, *_surroundings()])
    return f"code_{sha256(everything.encode()).hexdigest()[:32]}"


@cache
def _surroundings() -> tuple[str, ...]:
    """What is the same for all modules that this process generates."""
    import llvmlite
    import numba
    import numpy
    from numba.core.registry import cpu_target

    python = f"{sys.implementation.name} {sys.version}"
    packages = (sys.modules["anabranch"], numba, llvmlite, numpy)
    versions = [f"{each.__name__} {each.__version__}" for each in packages]
    machine = repr(cpu_target.target_context.codegen().magic_tuple())  # the processor's name and features
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    # numba notices neither a change of the functions that a kernel calls nor one of how its arrays are laid out.
    codegen = files("anabranch.codegen")
    sources = [line for folder in ("runtime", "native") for line in _sources_in(codegen / folder)]
    return (python, *versions, machine, *settings, *sources)


def _sources_in(folder: Traversable) -> Iterator[str]:
    for each in sorted(folder.iterdir(), key=lambda item: item.name):
        if each.is_dir():
            yield from _sources_in(each)
        elif each.name.endswith(".py"):
            yield f"{each.name} {sha256(each.read_bytes()).hexdigest()}"


# What is in an entry ------------------------------------------------------------------------------------------------


def _is_intact(entry: Path, source: str) -> bool:
    """Whether an entry holds what was written to it, all of it and nothing else, and for this source."""
    try:
        manifest = json.loads((entry / _MANIFEST).read_bytes())
        is_source = (entry / f"{entry.name}.py").read_text(encoding="utf-8") == source
        return bool(is_source and manifest == {"name": entry.name, "files": _hashes(entry)})
    except (OSError, ValueError):
        return False


def _hashes(entry: Path) -> dict[str, str]:
    """The hash of every file but the manifest, by its path."""
    paths = sorted(path for path in entry.rglob("*") if not path.is_dir() or path.is_symlink())
    return {
        str(path.relative_to(entry)): sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path != entry / _MANIFEST
    }


def _imported(entry: Path, name: str, source: str) -> ModuleType:
    """The module of an entry."""
    module = ModuleType(name)
    module.__file__ = str(entry / f"{name}.py")
    sys.modules[name] = module  # numba looks there for the globals of code that it has kept
    code = compile(source, module.__file__, "exec", dont_inherit=True)
    with _machine_code_beside_its_source():
        exec(code, vars(module))
    return module


@contextmanager
def _machine_code_beside_its_source() -> Iterator[None]:
    """numba decides where it keeps code when it meets a function; its own settings must not lead out of the entry."""
    from numba.core import config

    settings = {"CACHE_DIR": "", "CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}
    before = {name: getattr(config, name, "") for name in settings}
    try:
        for name, value in settings.items():
            setattr(config, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)
