"""Words by which code reaches objects that it does not name; what may be reached so is not constant.

What the statements of a module have reached by the time a program is compiled is no matter of words: `holders` asks the
interpreter who has an object. Here it is about what functions may do while tuples flow.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

from anabranch.analysis.constant_uses import Problem, bad_use, is_store, location_of, written_by_stray
from anabranch.analysis.later_code import later_imports
from anabranch.analysis.modules import Namespace, is_kind_of, is_library_class, world
from anabranch.analysis.program import program_around
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.receivers import CONSTRUCTION
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import FUNCTIONS
from anabranch.analysis.shapes import UNKNOWN_SHAPE, Shape
from anabranch.analysis.source import SourceText
from anabranch.analysis.special_methods import FOLLOWED, is_a_fact, is_special
from anabranch.analysis.strings import words_in_strings
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import DYNAMIC_ATTRIBUTES, Use, uses_of
from anabranch.analysis.words import words

# Functions of `inspect` that give out objects; the others give texts, or say yes or no.
_LOOKING = words(
    """getmembers getmembers_static getattr_static signature Signature getfullargspec getcallargs getclosurevars
    currentframe stack trace getinnerframes getouterframes getgeneratorlocals getcoroutinelocals getargvalues"""
)


class _Example(Enum):
    ONE = 1


# Modules whose business it is to exchange parts of objects and modules.
_EXCHANGING = frozenset({"ctypes", "mock", "unittest.mock"})
_OF_THE_COLLECTOR = words("get_objects get_referrers get_referents")
# Special names that are only about the object itself and that hand nothing out.
_PLAIN = words(
    """__name__ __class__ __file__ __version__ __members__ __mro__ __bases__ __subclasses__ __call__ __debug__
    __package__ __path__ __spec__ __traceback__ __cause__ __context__ __notes__ __suppress_context__ __new__
    _value_ _name_ _missing_ _generate_next_value_ __wrapped__ __signature__ __main__ __total__ __supertype__
    __origin__ __args__ __metadata__ __required_keys__ __optional_keys__ __init_subclass__"""
)
# They make an object again, or give it another inside.
_REMAKING = words("__init__ __post_init__ __setstate__ __set__ __delete__")
_HANDING_OUT = words("__getstate__ __reduce__ __reduce_ex__ __getattribute__ __getattr__ __getnewargs__ __copy__")
# What `enum` keeps in a class and its members, under names like `_value2member_map_`.
_OF_ENUMS = frozenset(
    name for held in (_Example, _Example.ONE) for name in vars(held) if re.fullmatch(r"_[^_].*[^_]_", name)
)


class Means(Enum):
    LOOK = "hands out what names stand for"
    EXCHANGE = "may let names stand for something else"
    IMPORT = "may let imports find something else"


@dataclass(frozen=True, eq=False)
class Reach:
    """Code that may reach attributes of these names, or any (None)."""

    use: Use
    names: frozenset[str] | None
    means: Means
    is_later: bool = True  # not only before the program is compiled


MayBeOwner = Callable[[ast.expr, Use, Namespace], bool]  # whether an expression may stand for what has the attribute

_reaches: dict[tuple[int, int], tuple[Namespace, list[Reach]]] = {}


def _reaches_of(namespace: Namespace) -> list[Reach]:
    key = (id(namespace), world())
    if key not in _reaches:
        _reaches[key] = (namespace, list(_found_in(namespace)))
    return _reaches[key][1]


def exchanged_by_other_means(namespace: Namespace, names: list[str]) -> Problem | None:
    """Why one of these names may come to stand for something else, although nobody is seen to assign it."""
    return _problem("may be exchanged by other means", namespace, names, Means.EXCHANGE)


def exchanged_module(namespace: Namespace) -> Problem | None:
    """Why an import in a function may find another module than it does now."""
    return _problem("may be exchanged by other means", namespace, [], Means.EXCHANGE, Means.IMPORT)


def _problem(text: str, namespace: Namespace, names: list[str], *means: Means) -> Problem | None:
    for other in program_around(namespace):
        for reach in _reaches_of(other):
            if reach.means in means and (reach.names is None or not reach.names.isdisjoint(names)):
                return Problem(text, location_of(reach.use))
    return None


def reached_by_other_means(
    namespace: Namespace, names: list[str], shape: Shape, may_be_owner: MayBeOwner
) -> Problem | None:
    """Why what attributes of these names hold may be changed, although nobody is seen to do it by name."""
    for other in program_around(namespace):
        if shape.is_array:
            # Nobody can be asked who has a view of an array, so what has run by now counts, too.
            for text in other.texts:
                for use in uses_of(text).dynamic:
                    return Problem("may be reached by other means", location_of(use))
        for reach in _reaches_of(other):
            if not reach.is_later and not shape.is_array:
                continue
            if reach.means is Means.IMPORT or (reach.names is not None and reach.names.isdisjoint(names)):
                continue
            if _is_harmless_look(reach, shape, may_be_owner, other):
                continue
            return Problem("may be reached by other means", location_of(reach.use))
    return None


def _is_harmless_look(reach: Reach, shape: Shape, may_be_owner: MayBeOwner, where: Namespace) -> bool:
    """Whether it is a `getattr` of something else, or of a value that is only read."""
    if not isinstance(reach.use.node, ast.Call) or not reach.use.node.args:
        return False
    if not _is_of_the_interpreter(reach) and not may_be_owner(reach.use.node.args[0], reach.use, where):
        return True
    return bad_use(reach.use, Reader(reach.use.text, where.names, shape), True, []) is None


def _is_of_the_interpreter(reach: Reach) -> bool:
    """`getattr(function, "__defaults__")`: it is not about attributes of objects alone."""
    match reach.use.node:
        case ast.Call(args=[_, ast.Constant(), *_]):
            return reach.names is None
        case _:
            return False


def may_call_by_name(namespace: Namespace) -> bool:
    """Whether a function may call methods whose names are not in its text."""
    for other in program_around(namespace):
        for reach in _reaches_of(other):
            if (
                reach.names is None
                and reach.is_later
                and reach.means is not Means.IMPORT
                and not _is_only_a_value(reach, other)
            ):
                return True
    return False


def _is_only_a_value(reach: Reach, where: Namespace) -> bool:
    """`getattr(trade, name) < limit`: whatever it is, it is neither called nor kept."""
    reader = Reader(reach.use.text, where.names, UNKNOWN_SHAPE)
    return isinstance(reach.use.node, ast.Call) and reader.kind(reach.use.node) is Kind.READS


def may_use_later(namespace: Namespace, name: str) -> Problem | None:
    """Where a function may use an attribute of this name, or has it under another name, or may get it by its name."""
    for other in program_around(namespace):
        if other.strays.may_use(name):
            return written_by_stray(other, "may be used")
        for text in other.texts:
            for use in uses_of(text).attributes[name]:
                if use.is_deferred or not _is_called(use, as_decorator=True):
                    return Problem("may be used by a function", location_of(use))
        reach = may_reach(other, name)
        if reach is not None:
            return Problem("may be used by a function", location_of(reach.use))
    return None


def may_reach(namespace: Namespace, name: str) -> Reach | None:
    """Where a function of a module may get an attribute of this name without naming it."""
    for reach in _reaches_of(namespace):
        is_way = reach.is_later and reach.means is not Means.IMPORT
        if is_way and (name in reach.names if reach.names is not None else not _is_only_a_value(reach, namespace)):
            return reach
    return None


# Where they stand ---------------------------------------------------------------------------------------------------


def _found_in(namespace: Namespace) -> Iterator[Reach]:
    for text in namespace.texts:
        uses = uses_of(text)
        for name, use in _telling_attributes(text):
            yield from _by_attribute(name, use, namespace)
        for name, found in uses.globals.items():
            if name in ("getattr", "__builtins__") or _home_of(namespace.names.get(name)) in _HOMES:
                for use in found:
                    yield from _by_name(name, use, namespace)
        for use in later_imports(text):
            yield from _by_import(use)
        for use in uses.patterns:
            yield from _by_pattern(use, namespace)
        if _TELLING_STRINGS & words_in_strings(text):
            yield from _by_string(text)


_HOMES = _EXCHANGING | {"inspect", "gc", "operator", "_operator", "importlib"}
_TELLING = words("modules reload attrgetter") | _LOOKING | _OF_THE_COLLECTOR
_TELLING_STRINGS = words("__setattr__ __delattr__ __setitem__ __delitem__") | _REMAKING
_telling: dict[SourceText, list[tuple[str, Use]]] = {}


def _telling_attributes(text: SourceText) -> list[tuple[str, Use]]:
    """The attributes that may say something, whatever they are attributes of."""
    if text not in _telling:
        uses = uses_of(text).attributes
        _telling[text] = [
            (name, use) for name, found in uses.items() if name in _TELLING or _is_reserved(name) for use in found
        ]
    return _telling[text]


def _by_attribute(name: str, use: Use, namespace: Namespace) -> Iterator[Reach]:
    assert isinstance(use.node, ast.Attribute)
    is_later = use.is_deferred or not _is_called(use)
    receiver = resolve(use.node.value, namespace.names)
    if isinstance(receiver, ModuleType):
        yield from _of_module(getattr(receiver, "__name__", ""), name, use)
    elif name == "reload" or name == "attrgetter":
        yield Reach(use, None, Means.EXCHANGE if name == "reload" else Means.LOOK)
    if not _is_reserved(name) or name in DYNAMIC_ATTRIBUTES - _REMAKING:
        return
    if is_store(use.node):
        # Of other reserved names it is known elsewhere what comes of giving them another value.
        if use.is_deferred and name in _OF_ENUMS:
            yield Reach(use, None, Means.EXCHANGE)
    elif name in _REMAKING:
        if is_later and not _is_of_construction(name, use):
            yield Reach(use, None, Means.EXCHANGE)
    elif is_later and not _is_of_super(use) and not _is_plain(name):
        yield Reach(use, None, Means.EXCHANGE if name in _OF_ENUMS else Means.LOOK)


def _is_plain(name: str) -> bool:
    """Whether a reserved name leads to nothing but the object itself."""
    return name in _PLAIN or is_a_fact(name) or (name in FOLLOWED and name not in _HANDING_OUT)


def _is_reserved(name: str) -> bool:
    """Whether a name belongs to the interpreter or to `enum`."""
    return (is_special(name) and not name.startswith("__anabranch_")) or name in _OF_ENUMS


def _is_called(use: Use, *, as_decorator: bool = False) -> bool:
    parent = use.text.parents.get(use.node)
    if as_decorator and isinstance(parent, ast.FunctionDef | ast.ClassDef):
        return use.node in parent.decorator_list
    return isinstance(parent, ast.Call) and parent.func is use.node


def _is_of_super(use: Use) -> bool:
    match use.node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case _:
            return False


def _is_of_construction(name: str, use: Use) -> bool:
    """`super().__init__(…)`, or in a method of the same kind `Base.__init__(self, …)`."""
    inside = getattr(use.function, "name", "")
    return _is_of_super(use) or inside == name or (name in CONSTRUCTION and inside in CONSTRUCTION)


def _of_module(module: str, name: str, use: Use) -> Iterator[Reach]:
    if module == "sys" and name == "modules":
        if use.is_deferred and not _is_only_looked_up(use):
            yield Reach(use, None, Means.IMPORT)
    elif module == "importlib" and name == "reload":
        yield Reach(use, None, Means.EXCHANGE)
    elif module in ("operator", "_operator") and name == "attrgetter":
        yield Reach(use, _constant_words(use), Means.LOOK)
    elif module == "gc" and name in _OF_THE_COLLECTOR:
        yield Reach(use, None, Means.EXCHANGE)
    elif module == "inspect" and name in _LOOKING and use.is_deferred:
        yield Reach(use, None, Means.LOOK)


def _is_only_looked_up(use: Use) -> bool:
    match use.text.parents.get(use.node):
        case ast.Subscript(ctx=ast.Load()) | ast.Compare():
            return True
        case ast.Attribute(attr="get" | "items" | "values" | "keys" | "copy"):
            return True
        case _:
            return False


def _by_name(name: str, use: Use, namespace: Namespace) -> Iterator[Reach]:
    if name == "__builtins__":
        yield Reach(use, None, Means.EXCHANGE)
        return
    if not isinstance(use.node, ast.Name) or is_store(use.node):
        return
    held = namespace.names.get(name)
    if name == "getattr" and held is None:
        yield from _by_getattr(use)
    elif held is operator.attrgetter:
        yield Reach(use, _constant_words(use), Means.LOOK)
    elif held is not None and held is getattr(sys.modules.get("importlib"), "reload", None):
        yield Reach(use, None, Means.EXCHANGE)
    else:
        home = _home_of(held)
        # What such a module made before, say a patch that is yet to be started, may do its work later.
        if home in _EXCHANGING:
            yield Reach(use, _patched_names(use), Means.EXCHANGE)
        elif home == "gc" and getattr(held, "__name__", "") in _OF_THE_COLLECTOR:
            yield Reach(use, None, Means.EXCHANGE)
        elif home == "inspect" and getattr(held, "__name__", "") in _LOOKING and use.is_deferred:
            yield Reach(use, None, Means.LOOK)


def _patched_names(use: Use) -> frozenset[str] | None:
    """Of `patch("module.name")` and `patch.object(module, "name")`: the name, where it is plain to see."""
    at = use.text.parents.get(use.node)
    if isinstance(at, ast.Attribute) and at.attr == "patch":  # mock.patch
        at = use.text.parents.get(at)
    is_object = isinstance(at, ast.Attribute) and at.attr == "object"
    call = use.text.parents.get(at) if is_object and at is not None else at
    if not isinstance(call, ast.Call):
        return None
    match call.args[1:2] if is_object else call.args[:1]:
        case [ast.Constant(value=str(name))] if call.func in (at, use.node):
            return frozenset({name.rpartition(".")[2]})
        case _:
            return None


def _home_of(held: Any) -> str:
    if is_kind_of(held, ModuleType):
        return str(held.__name__)
    is_named = is_kind_of(held, type) or (callable(held) and is_library_class(type(held)))
    return str(getattr(held if is_named else type(held), "__module__", ""))


def _by_import(use: Use) -> Iterator[Reach]:
    match use.node:
        case ast.Import(names=aliases):
            modules = {alias.name for alias in aliases}
        case ast.ImportFrom(module=str(module), names=aliases):
            modules = {module, *(f"{module}.{alias.name}" for alias in aliases)}
        case _:
            return
    if modules & (_EXCHANGING | {"importlib.reload", *(f"gc.{name}" for name in _OF_THE_COLLECTOR)}):
        yield Reach(use, None, Means.EXCHANGE)
    elif modules & {"inspect", "operator.attrgetter"}:
        yield Reach(use, None, Means.LOOK)


def _by_getattr(use: Use) -> Iterator[Reach]:
    call = use.text.parents.get(use.node)
    if not (isinstance(call, ast.Call) and call.func is use.node):
        yield Reach(use, None, Means.LOOK)
        return
    look = Use(call, use.text, use.function, use.is_deferred)
    yield Reach(look, _words_in(call.args[1:2]), Means.LOOK, is_later=use.is_deferred)


def _constant_words(use: Use) -> frozenset[str] | None:
    call = use.text.parents.get(use.node)
    return _words_in(call.args) if isinstance(call, ast.Call) and call.func is use.node else None


def _words_in(arguments: list[ast.expr]) -> frozenset[str] | None:
    found: set[str] = set()
    for argument in arguments:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            return None
        found.update(argument.value.split("."))
    return frozenset(found) if all(not _is_reserved(name) or _is_plain(name) for name in found) else None


def _by_string(text: SourceText) -> Iterator[Reach]:
    """`methodcaller("__setattr__", "limit", 5)`: whoever gets such a name as a string may do what it says."""
    for node in walk(text.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _TELLING_STRINGS:
            around = next((each for each in text.enclosing(node) if isinstance(each, FUNCTIONS)), None)
            yield Reach(Use(node, text, around, is_deferred=True), None, Means.EXCHANGE)


def _by_pattern(use: Use, namespace: Namespace) -> Iterator[Reach]:
    """`case Model(weights=w)` gives the attribute another name."""
    assert isinstance(use.node, ast.MatchClass)
    if not use.is_deferred or not any(isinstance(each, ast.MatchAs | ast.MatchStar) for each in walk(use.node)):
        return
    names = set(use.node.kwd_attrs)
    if use.node.patterns:
        cls = resolve(use.node.cls, namespace.names)
        if isinstance(cls, type):
            names.update(getattr(cls, "__match_args__", ()))
        else:
            yield Reach(use, None, Means.LOOK)
            return
    yield Reach(use, frozenset(names), Means.LOOK)
