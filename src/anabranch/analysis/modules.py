"""Which modules are the user's, and which texts make up a namespace."""

from __future__ import annotations

import builtins
import itertools
import linecache
import operator
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from anabranch.analysis.compilation import compilation
from anabranch.analysis.freshness import is_plainly_edited
from anabranch.analysis.live_code import CodeIn, Codes, Strays, live_codes, strays_of, with_inner, words_of
from anabranch.analysis.per_class import PerClass
from anabranch.analysis.source import SourceText, has_code, is_notebook_cell, text_of

_PACKAGE = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple(
    {str(Path(p).resolve()) for key, p in sysconfig.get_paths().items() if "lib" in key and p}
    | {str(Path(sysconfig.__file__).resolve().parent)}
)


@cache
def is_library_file(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to this package, not to the user."""
    if file.startswith("<frozen "):
        return True
    resolved = str(Path(file).resolve()) if not file.startswith("<") else file
    return resolved.startswith((*_LIBRARIES, _PACKAGE)) or "site-packages" in resolved


def is_library_module(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return is_library_file(file)
    if module.__name__ == "__main__":
        return False
    spec = getattr(module, "__spec__", None)
    return module.__name__ in sys.builtin_module_names or getattr(spec, "origin", None) in ("built-in", "frozen")


def is_library_function(function: FunctionType) -> bool:
    return is_library_file(function.__code__.co_filename)


_HEAP_TYPE = 1 << 9  # made by a class statement or its like, not part of the interpreter


def is_kind_of(held: Any, *kinds: type) -> bool:
    """What an object is, by its class alone: `isinstance` asks the object too, and so may run code of the user's."""
    return issubclass(type(held), kinds)


_MODULE = type.__dict__["__module__"]


def module_of(held: Any) -> str:
    """The name of the module of a class or a function, as the interpreter keeps it, without a metaclass's say."""
    try:
        return str(_MODULE.__get__(held) if is_kind_of(held, type) else held.__module__)
    except AttributeError:  # a class that has deleted it
        return ""


@PerClass
def is_library_class(cls: type) -> bool:
    home = module_of(cls)
    if home == "builtins":
        # Code executed without a name of its own claims to be builtin, too.
        return not cls.__flags__ & _HEAP_TYPE or vars(builtins).get(cls.__name__) is cls
    module = sys.modules.get(home)
    return module is not None and is_library_module(module)


@dataclass(eq=False)
class Namespace:
    """The globals of a module (or of executed code), the texts that can write them, and what of it is loaded."""

    names: dict[str, Any]
    texts: list[SourceText]
    has_all_texts: bool
    module: ModuleType | None
    find_codes: Callable[[], Codes]  # perhaps among all objects there are, so not before that is asked for

    @cached_property
    def codes(self) -> Codes:
        return self.find_codes()

    @property
    def label(self) -> str:
        return self.module.__name__ if self.module else str(self.names.get("__name__", "this code"))

    @property
    def is_complete(self) -> bool:
        """Whether the texts are all there is, and what they say is what runs."""
        return self.has_all_texts and not self.strays.codes

    @cached_property
    def strays(self) -> Strays:
        return strays_of(code for code in self.codes.values() if not self._has(code))

    def _has(self, code: CodeType) -> bool:
        # Statements that run at this moment, if not those of the module's file: a notebook compiles them one by one.
        if code.co_name == "<module>" and code.co_filename != self.names.get("__file__"):
            return True
        return any(has_code(text, code, self.names) for text in self.texts)

    @cached_property
    def words(self) -> set[str]:
        return words_of(with_inner(self.codes.values()))


@dataclass(frozen=True)
class _Known:
    namespace: Namespace
    spec: object  # exchanged when a module is loaded again
    state: tuple[int, int]


_namespaces: dict[int, _Known] = {}


def namespace_of(names: dict[str, Any]) -> Namespace:
    within = compilation()
    if within is not None and id(names) in within.settled:
        return within.settled[id(names)]
    known = _namespaces.get(id(names))
    if known is not None and known.namespace.names is not names:
        known = None
    module = sys.modules.get(str(names.get("__name__", "")))
    if module is not None and vars(module) is not names:
        module = None
    file = getattr(module, "__file__", None) if module else None
    # A file's text is fixed; what a notebook or executed code holds may grow with its namespace.
    state = (loaded_state(), 0 if file else len(names) + len(linecache.cache))
    if known is not None and known.state == state:
        return known.namespace
    loaded = _world.codes.get(id(names), {})
    find_codes = (lambda: loaded) if file else partial(_executed_codes, names)
    spec = getattr(module, "__spec__", None)
    namespace = _as_before(known.namespace, find_codes) if known and file and known.spec is spec else None
    if namespace is None:
        texts, has_all_texts = _texts(names, module, find_codes)
        namespace = Namespace(names, texts, has_all_texts, module, find_codes)
    _namespaces[id(names)] = _Known(namespace, spec, state)
    return namespace


def _executed_codes(names: dict[str, Any]) -> Codes:
    """The last look around may have been before it was executed; a compilation looks once, at all there is."""
    within = compilation()
    if within is None:
        return _codes_in(names, live_codes()) or {}
    found = _codes_in(names, within.live)
    if found is None and not within.has_looked:
        within.live, within.has_looked = live_codes(), True
        found = _codes_in(names, within.live)
    return found or {}


def _codes_in(names: dict[str, Any], live: dict[int, CodeIn]) -> Codes | None:
    return live[id(names)].codes if id(names) in live else None


def _as_before(namespace: Namespace, find_codes: Callable[[], Codes]) -> Namespace | None:
    """The text that was read first holds for as long as it is what runs, whatever becomes of the file."""
    before = Namespace(namespace.names, namespace.texts, namespace.has_all_texts, namespace.module, find_codes)
    return before if before.is_complete else None


def _texts(
    names: dict[str, Any], module: ModuleType | None, find_codes: Callable[[], Codes]
) -> tuple[list[SourceText], bool]:
    file = getattr(module, "__file__", None) if module else None
    if module is not None and isinstance(file, str) and file.endswith(".py"):
        linecache.checkcache(file)
        text = text_of(file, names)
        return ([text], not is_plainly_edited(module, file)) if text else ([], False)
    if module is not None and module.__name__ == "__main__" and file is None:
        cells = [name for name in linecache.cache if is_notebook_cell(name)] if "get_ipython" in names else []
        found = [text_of(cell) for cell in cells] or [text_of("<string>", names)]
        known = [text for text in found if text is not None]
        return known, bool(known) and len(known) == len(found)
    # Executed code: the texts of whatever it has defined.
    read = [text_of(name, names) for name in dict.fromkeys(code.co_filename for code in find_codes().values())]
    present = [text for text in read if text is not None]
    return present, bool(present) and len(present) == len(read)


@dataclass(frozen=True)
class _World:
    number: int
    loaded: tuple[int, ...]
    users: tuple[ModuleType, ...]
    specs: tuple[object, ...]
    codes: dict[int, Codes]  # of all that is not a library's
    live: dict[int, CodeIn]  # what was found when all objects were last looked at

    @cached_property
    def with_text(self) -> list[ModuleType]:
        """The user's modules that were read from files, or are typed in."""
        return [each for each in self.users if getattr(each, "__file__", None) or each.__name__ == "__main__"]


# What is loaded in this process is the same for all threads. It changes under the lock of those who compile.
_world = _World(0, (), (), (), {}, {})


def look_around(thoroughly: bool = False) -> dict[int, CodeIn]:
    """Notice what was loaded or exchanged since the last analysis; called at the start of each.

    At the start of each program, thoroughly: among all objects there are, for the code that is loaded, which it
    returns. In between, a module that has just been imported is taken to be what its file says, and else that is
    returned which was found last.
    """
    global _world
    loaded = tuple(map(id, sys.modules.values()))
    if loaded == _world.loaded and not thoroughly:
        return _world.live
    modules = loaded_modules()
    users = tuple(module for module in modules if not is_library_module(module))
    specs = tuple(getattr(module, "__spec__", None) for module in users)
    mine = {id(vars(module)) for module in users}
    live = _world.live
    if thoroughly:
        live = live_codes(without={id(vars(module)) for module in modules} - mine)
        codes = {names: each.codes for names, each in live.items()}
    else:
        still = mine & {id(vars(module)) for module in _world.users}
        codes = {names: found for names, found in _world.codes.items() if names in still}
    is_same = loaded == _world.loaded and all(map(operator.is_, specs, _world.specs))
    # What others generate in namespaces of their own comes and goes.
    if is_same and all(codes.get(names) == _world.codes.get(names) for names in (*mine, *_namespaces)):
        _world = replace(_world, live=live)
    else:
        _world = _World(_world.number + 1, loaded, users, specs, codes, live)
    return live


_numbers: dict[tuple[int, ...], tuple[int, tuple[Namespace, ...]]] = {}
_next_number = itertools.count(1)


def number_of(namespaces: Sequence[Namespace]) -> int:
    """A number for a program to which these belong: what was concluded for another one need not hold for it."""
    key = (_world.number, *(id(each.names) for each in namespaces))
    if key not in _numbers:
        for old in [each for each in _numbers if each[0] != _world.number]:
            del _numbers[old]
        _numbers[key] = next(_next_number), tuple(namespaces)  # kept, so that no other has the same identity
    return _numbers[key][0]


def loaded_state() -> int:
    """Changes whenever the loaded code does."""
    return _world.number


def world() -> int:
    """Another one for other code and for another program, so that what was concluded can be kept as long."""
    within = compilation()
    return within.number if within is not None and within.number else -_world.number


def moment() -> tuple[int, int]:
    """Changes with every program: whoever runs several may have given names other values in between."""
    within = compilation()
    return world(), within.moment if within is not None else 0


def loaded_modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]


def user_modules() -> list[ModuleType]:
    if not loaded_state():  # nothing was compiled here yet
        found = [module for module in loaded_modules() if not is_library_module(module)]
        return [m for m in found if getattr(m, "__file__", None) or m.__name__ == "__main__"]
    return _world.with_text
