"""Settings of the whole process that a program makes: a worker has those of a fresh interpreter.

What they change cannot be seen where it happens (how deep calls may go, what a warning does, how a text is encoded), so
no operator of such a program is taken to be the same in a worker. Settings of one library count for what uses that.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

from anabranch.analysis.constant_uses import Problem, location_of
from anabranch.analysis.modules import Namespace, world
from anabranch.analysis.program import program_around
from anabranch.analysis.reach import linked_to
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import is_local
from anabranch.analysis.source import SourceText
from anabranch.analysis.strings import words_in_strings
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.words import words

# By module, of all that runs.
_OF_THE_PROCESS = {
    "sys": words("setrecursionlimit set_int_max_str_digits setprofile settrace addaudithook"),
    "threading": words("setprofile settrace setprofile_all_threads settrace_all_threads"),
    "codecs": words("register register_error unregister"),
    "locale": words("setlocale"),
    "warnings": words("filterwarnings simplefilter filters showwarning"),
    "time": words("tzset"),
}
# By library, of what uses it.
_OF_LIBRARIES = {
    "csv": words("field_size_limit register_dialect unregister_dialect"),
    "calendar": words("setfirstweekday"),
    "mimetypes": words("add_type"),
    "numpy": words(
        "set_printoptions seterr seterrcall setbufsize set_string_function set_numeric_ops errstate printoptions"
    ),
    "decimal": words("localcontext"),
}
_COMMON = words("register unregister filters")  # names that others have, too
_FOR_WARNINGS = words("filterwarnings simplefilter")
_FOR_A_BLOCK = words("errstate printoptions localcontext")
_answers: dict[tuple[int, int], tuple[Namespace, Problem | None]] = {}


def why_not_as_in_a_worker(namespace: Namespace) -> Problem | None:
    """Where the program sets something that every operator may depend on."""
    key = (id(namespace), world())
    if key not in _answers:
        found = next(_set_around(namespace), None)
        problem = None
        if found is not None:
            module, name, use = found
            text = f"runs while `{module}.{name}` is set for the process, which workers do not have"
            problem = Problem(text, location_of(use))
        _answers[key] = (namespace, problem)
    return _answers[key][1]


def _set_around(namespace: Namespace) -> Iterator[tuple[str, str, Use]]:
    """By the program, or by a statement of a module that has loaded it."""
    reached = program_around(namespace)
    for other in reached:
        yield from _set_in(other, _OF_THE_PROCESS)
    for other in linked_to(namespace):
        if not any(other is each for each in reached):
            yield from (each for each in _set_in(other, _OF_THE_PROCESS) if not each[2].is_deferred)


def set_libraries(namespace: Namespace) -> Iterator[tuple[str, Use]]:
    """The libraries that a module gives settings."""
    for library, _, use in _set_in(namespace, _OF_LIBRARIES):
        yield library, use


def _set_in(namespace: Namespace, settings: dict[str, frozenset[str]]) -> Iterator[tuple[str, str, Use]]:
    for module, names in settings.items():
        held = [vars(sys.modules[module]).get(name) for name in names] if module in sys.modules else []
        setters = [each for each in held if each is not None and not isinstance(each, list)]
        for text in namespace.texts:
            for name in sorted(names):
                for use in _named(name, module, text, namespace):
                    if not _is_harmless(name, use):
                        yield module, name, use
            for name, value in list(namespace.names.items()):
                if any(value is each for each in setters):
                    for use in uses_of(text).globals.get(name, ()):
                        if isinstance(use.node, ast.Name) and not _is_harmless(value.__name__, use):
                            yield module, name, use


def _named(name: str, module: str, text: SourceText, where: Namespace) -> Iterator[Use]:
    """As an attribute, in an import inside a function, or as a string."""
    if name not in text.text:
        return
    for use in uses_of(text).attributes.get(name, ()):
        assert isinstance(use.node, ast.Attribute)
        if _may_be(use.node.value, module, name, text, where):
            yield use
    for node in walk(text.tree):
        match node:
            case ast.ImportFrom(module=str(imported), names=aliases) if imported == module:
                is_later = bool(text.enclosing(node))
                if is_later and any(alias.name in (name, "*") for alias in aliases):
                    yield Use(node, text, None, is_deferred=True)
            case _:
                pass
    if name not in _COMMON and name in words_in_strings(text):
        yield Use(text.tree, text, None, is_deferred=True)


def _may_be(receiver: ast.expr, module: str, name: str, text: SourceText, where: Namespace) -> bool:
    """Whether it may stand for the module, or for one that has the same setter."""
    base = receiver
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and not is_local(base.id, base, text):
        found: Any = resolve(receiver, where.names)
        if found is not None:
            return getattr(found, "__name__", None) == module
    return name not in _COMMON or (isinstance(receiver, ast.Name) and receiver.id == module)


def _is_harmless(name: str, use: Use) -> bool:
    """`warnings.filterwarnings("ignore")`, `with np.errstate(…):`: it changes no tuples, or is over with the block."""
    call = use.text.parents.get(use.node)
    if not isinstance(call, ast.Call) or call.func is not use.node:
        return False
    if name in _FOR_A_BLOCK:
        around = use.text.parents.get(call)
        return isinstance(around, ast.withitem) or call in getattr(around, "decorator_list", ())
    if name not in _FOR_WARNINGS:
        return False
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "action")]
    match given:
        case [ast.Constant(value=str(action))]:
            return action != "error" and not any(keyword.arg is None for keyword in call.keywords)
        case _:
            return False
