"""Which modules are the user's, which texts make up a namespace, and which of them can reach each other."""

from __future__ import annotations

import ast
import builtins
import linecache
import operator
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from anabranch.analysis.freshness import is_plainly_edited
from anabranch.analysis.live_code import Codes, Strays, live_codes, strays_of, with_inner, words_of
from anabranch.analysis.per_class import PerClass
from anabranch.analysis.source import SourceText, has_code, text_of
from anabranch.analysis.syntax import walk

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


@PerClass
def is_library_class(cls: type) -> bool:
    if cls.__module__ == "builtins":
        # Code executed without a name of its own claims to be builtin, too.
        return not cls.__flags__ & _HEAP_TYPE or vars(builtins).get(cls.__name__) is cls
    module = sys.modules.get(cls.__module__)
    return module is not None and is_library_module(module)


@dataclass(eq=False)
class Namespace:
    """The globals of a module (or of executed code), the texts that can write them, and what of it is loaded."""

    names: dict[str, Any]
    texts: list[SourceText]
    has_all_texts: bool
    module: ModuleType | None
    codes: Codes

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
    known = _namespaces.get(id(names))
    if known is not None and known.namespace.names is not names:
        known = None
    module = sys.modules.get(str(names.get("__name__", "")))
    if module is not None and vars(module) is not names:
        module = None
    file = getattr(module, "__file__", None) if module else None
    # A file's text is fixed; what a notebook or executed code holds may grow with its namespace.
    state = (world(), 0 if file else len(names) + len(linecache.cache))
    if known is not None and known.state == state:
        return known.namespace
    # The last look around may have been before other code was executed.
    codes = (_world.codes if file else live_codes(only=id(names))).get(id(names), {})
    spec = getattr(module, "__spec__", None)
    namespace = _as_before(known.namespace, codes) if known and file and known.spec is spec else None
    if namespace is None:
        texts, has_all_texts = _texts(names, module, codes)
        namespace = Namespace(names, texts, has_all_texts, module, codes)
    _namespaces[id(names)] = _Known(namespace, spec, state)
    return namespace


def _as_before(namespace: Namespace, codes: Codes) -> Namespace | None:
    """The text that was read first holds for as long as it is what runs, whatever becomes of the file."""
    before = Namespace(namespace.names, namespace.texts, namespace.has_all_texts, namespace.module, codes)
    return before if before.is_complete else None


def _texts(names: dict[str, Any], module: ModuleType | None, codes: Codes) -> tuple[list[SourceText], bool]:
    file = getattr(module, "__file__", None) if module else None
    if module is not None and isinstance(file, str) and file.endswith(".py"):
        linecache.checkcache(file)
        text = text_of(file, names)
        return ([text], not is_plainly_edited(module, file)) if text else ([], False)
    if module is not None and module.__name__ == "__main__" and file is None:
        cells = [name for name in linecache.cache if _is_notebook_cell(name)] if "get_ipython" in names else []
        found = [text_of(cell) for cell in cells] or [text_of("<string>", names)]
        known = [text for text in found if text is not None]
        return known, bool(known) and len(known) == len(found)
    # Executed code: the texts of whatever it has defined.
    read = [text_of(name, names) for name in dict.fromkeys(code.co_filename for code in codes.values())]
    present = [text for text in read if text is not None]
    return present, bool(present) and len(present) == len(read)


def _is_notebook_cell(file: str) -> bool:
    return file.startswith("<ipython-input-") or "ipykernel_" in file


@dataclass(frozen=True)
class _World:
    number: int
    loaded: tuple[int, ...]
    users: tuple[ModuleType, ...]
    specs: tuple[object, ...]
    codes: dict[int, Codes]  # of all that is not a library's


_world = _World(0, (), (), (), {})


def look_around(thoroughly: bool = False) -> None:
    """Notice what was loaded or exchanged since the last analysis; called at the start of each.

    At the start of each program, thoroughly: among all objects there are, for the code that is loaded. In between, a
    module that has just been imported is taken to be what its file says.
    """
    global _world
    if _is_held:
        return
    loaded = tuple(map(id, sys.modules.values()))
    if loaded == _world.loaded and not thoroughly:
        return
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    users = tuple(module for module in modules if not is_library_module(module))
    specs = tuple(getattr(module, "__spec__", None) for module in users)
    mine = {id(vars(module)) for module in users}
    if thoroughly:
        codes = live_codes(without={id(vars(module)) for module in modules} - mine)
    else:
        still = mine & {id(vars(module)) for module in _world.users}
        codes = {names: found for names, found in _world.codes.items() if names in still}
    is_same = loaded == _world.loaded and all(map(operator.is_, specs, _world.specs))
    # What others generate in namespaces of their own comes and goes.
    if is_same and all(codes.get(names) == _world.codes.get(names) for names in (*mine, *_namespaces)):
        return
    _world = _World(_world.number + 1, loaded, users, specs, codes)


_is_held = False
_moment = 0
_at_release: list[Callable[[], None]] = []


def at_release(forget: Callable[[], None]) -> None:
    """Have this called when a program has been compiled: what is kept of the user's objects is let go."""
    _at_release.append(forget)


@contextmanager
def held_world(*, thoroughly: bool) -> Iterator[None]:
    """While a program is compiled nothing is loaded or exchanged: one look around is enough for all of it."""
    global _is_held, _moment
    if _is_held:
        yield
        return
    look_around(thoroughly)
    _moment += 1
    _is_held = True
    try:
        yield
    finally:
        _is_held = False
        for forget in _at_release:
            forget()


def world() -> int:
    """Changes whenever the loaded code does, so that what was concluded from its text can be kept until then."""
    return _world.number


def moment() -> tuple[int, int]:
    """Changes with every program: whoever runs several may have given names other values in between."""
    return _world.number, _moment


_user_modules: tuple[int, list[ModuleType]] = (0, [])


def user_modules() -> list[ModuleType]:
    global _user_modules
    if _user_modules[0] != world():
        found = [m for m in list(sys.modules.values()) if isinstance(m, ModuleType) and not is_library_module(m)]
        _user_modules = (
            world(),
            [m for m in found if getattr(m, "__file__", None) or m.__name__ == "__main__"],
        )
    return _user_modules[1]


_neighbours: dict[tuple[int, int], list[Namespace]] = {}


def neighbours(namespace: Namespace) -> list[Namespace]:
    """The namespaces that can reach this one or be handed its objects: those linked to it by imports."""
    key = (id(namespace), world())
    known = _neighbours.get(key)
    if known is not None:
        return known
    others = [namespace_of(vars(m)) for m in user_modules() if vars(m) is not namespace.names]
    component = [namespace]
    for member in component:  # grows while it is walked
        for other in others:
            if not any(other is one for one in component) and _are_linked(member, other):
                component.append(other)
    _neighbours[key] = component
    if namespace.module is not None and any(module is namespace.module for module in user_modules()):
        for member in component[1:]:  # whose neighbours are the same
            _neighbours[id(member), world()] = [member, *(each for each in component if each is not member)]
    return component


def reached_from(namespace: Namespace) -> list[Namespace]:
    """The namespaces that this one imports or names, and so on; not those that import it."""
    around = neighbours(namespace)
    found = [namespace]
    for member in found:  # grows while it is walked
        found += [each for each in around if not any(each is one for one in found) and _reaches(member, each)]
    return found


def _are_linked(one: Namespace, other: Namespace) -> bool:
    return _reaches(one, other) or _reaches(other, one)


def _reaches(one: Namespace, other: Namespace) -> bool:
    """Whether one imports the other, names it as a text, or has got something that was defined in it."""
    if other.module is None:
        return False
    name = other.module.__name__
    if any(value is other.module or getattr(value, "__module__", None) == name for value in list(one.names.values())):
        return True
    last = name.rpartition(".")[2]
    if any(last in text.text and name in mentioned_modules(text, one.names) for text in one.texts):
        return True
    # What runs may import it where the text does not any more.
    return last in one.words and last in one.strays.words


_mentioned: dict[SourceText, set[str]] = {}


def mentioned_modules(text: SourceText, names: dict[str, Any]) -> set[str]:
    """The modules that a text imports anywhere, or whose names stand in it as strings."""
    if text not in _mentioned:
        package = str(names.get("__package__") or "").split(".")
        found: set[str] = set()
        for node in walk(text.tree):
            match node:
                case ast.Import(names=aliases):
                    found |= {alias.name for alias in aliases}
                case ast.ImportFrom(module=module, level=level, names=aliases):
                    parents = package[: len(package) - level + 1] if level else []
                    base = ".".join([*parents, *([module] if module else [])])
                    found |= {base, *(f"{base}.{alias.name}" for alias in aliases)}
                case ast.Constant(value=str(string)) if string != "__main__":
                    found.add(string)  # importlib.import_module("…"), sys.modules["…"]
                case _:
                    pass
        _mentioned[text] = found
    return _mentioned[text]
