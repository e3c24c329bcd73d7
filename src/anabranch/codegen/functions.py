"""User functions as generated code sees them: the syntax tree, and what every name in it that is not a local means."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from anabranch.analysis import constancy
from anabranch.analysis.home import Home, home_of
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.lookup import static
from anabranch.analysis.modules import is_library_function, moment, namespace_of
from anabranch.analysis.origins import ClassAttribute, Default, Given, GlobalName, Origin, Variable
from anabranch.analysis.patching import patched_function, patched_module
from anabranch.analysis.program import look_at_code
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import COMPREHENSIONS, scope_of
from anabranch.analysis.shapes import shape_of
from anabranch.analysis.syntax import children, walk
from anabranch.analysis.words import words
from anabranch.errors import Location

# These look at the function or the frame that they are called in, so they mean something else in other code.
_BOUND_TO_THEIR_PLACE = words("super locals globals vars dir eval exec __class__")
_LOOKS_AT_FRAMES = (
    inspect.currentframe, inspect.stack, inspect.trace, sys._getframe, sys._current_frames,
    traceback.extract_stack, traceback.format_stack, traceback.walk_stack,
)  # fmt: skip
_OF_THE_LOADER = words("__name__ __file__ __loader__ __spec__ __path__ __package__ __cached__ __builtins__ __doc__")


@dataclass(frozen=True)
class Refusal:
    """Why user code cannot be taken as it is written; the reason follows the name of the function."""

    reason: str
    location: Location | None = None

    def __str__(self) -> str:
        return f"{self.reason} ({self.location})" if self.location else self.reason


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of the user's whose source is known and whose free names stand for the same all the time."""

    node: ast.FunctionDef | ast.Lambda
    file: str
    parameters: tuple[str, ...]  # by position; that of the instance first
    constants: Mapping[str, Any]  # each free name (global, of an enclosing function, builtin), and bound parameters
    definition: FunctionType
    bound: Any = None  # the instance of a bound method or of a callable object
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of the last parameters; immutable
    is_method: bool = False  # of an operator class: the first parameter is an instance that does not exist yet
    origins: Mapping[str, Origin] = field(
        default_factory=dict
    )  # where constants were found, as the analysis needs to know

    @property
    def name(self) -> str:
        return "the lambda" if isinstance(self.node, ast.Lambda) else f"`{self.node.name}`"

    @property
    def free_parameters(self) -> tuple[str, ...]:
        """Those that a caller fills."""
        return self.parameters[1:] if self.is_method or self.bound is not None else self.parameters

    def location(self, node: ast.AST) -> Location:
        return Location(self.file, getattr(node, "lineno", self.node.lineno))

    def mangled(self, name: str) -> str:
        """An attribute's real name: inside a class, `__x` is `_Class__x`."""
        home = home_of(self.definition)
        return home.mangled(name) if home is not None else name

    def called_with(self, count: int) -> UserFunction:
        """The function as a caller with so many arguments sees it: parameters left to their defaults are constants."""
        left = self.free_parameters[count:]
        if not left or any(name not in self.defaults or _is_assigned(self.node, name) for name in left):
            return self
        return _with_constants(self, {name: self.defaults[name] for name in left})


class _NotPlain(Exception):
    def __init__(self, reason: str, location: Location | None = None) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, location)


def user_function(fn: Any) -> UserFunction | Refusal:
    """A lambda, function, bound method, callable object or `functools.partial` as written, or why it stays a call."""
    with look_at_code(fn):
        return called_function(fn)


def called_function(fn: Any) -> UserFunction | Refusal:
    """The same for a function that one calls which was just taken."""
    try:
        return _user_function(fn)
    except _NotPlain as problem:
        return problem.refusal


def method_of(definition: FunctionType) -> UserFunction | Refusal:
    """A method of an operator class."""
    try:
        return replace(_bound(definition, None), is_method=True)
    except _NotPlain as problem:
        return problem.refusal


def with_constants(function: UserFunction, values: Mapping[str, Any]) -> UserFunction | Refusal:
    """The function with some of its parameters fixed."""
    try:
        return _with_constants(function, values)
    except _NotPlain as problem:
        return problem.refusal


def _user_function(fn: Any) -> UserFunction:
    match fn:
        case functools.partial():
            return _with_arguments(_user_function(fn.func), fn)
        case FunctionType():
            return _plain(fn)
        case MethodType(__func__=FunctionType() as definition, __self__=instance):
            return _bound(definition, instance)
        case type():
            raise _NotPlain(f"is the class `{fn.__name__}`")
    cls = type(fn)
    _, found = static(cls, "__call__")
    if not is_user_class(cls) or not isinstance(found, FunctionType):
        raise _NotPlain(f"is {described(fn)}, not a function written in Python")
    problem = constancy.why_rebound(ClassAttribute(cls, "__call__"))
    if problem is not None:
        raise _NotPlain(f"calls `{cls.__name__}.__call__`, which {problem.text}", problem.location)
    return _bound(found, fn)


def described(fn: Any) -> str:
    """What a message calls something that can be called: `json.loads`."""
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None)
    if name is None:
        return f"a `{type(fn).__module__}.{type(fn).__qualname__}`"
    module = getattr(fn, "__module__", None)
    return name if module in (None, "builtins", "__main__") else f"{module}.{name}"


def _bound(definition: FunctionType, instance: Any) -> UserFunction:
    function = _plain(definition)
    if not function.parameters:
        raise _NotPlain("takes no instance", function.location(function.node))
    if _is_assigned(function.node, function.parameters[0]):
        raise _NotPlain(f"assigns `{function.parameters[0]}`, its instance", function.location(function.node))
    return replace(function, bound=instance)


def _with_arguments(function: UserFunction, given: functools.partial[Any]) -> UserFunction:
    free = function.free_parameters
    by_name = (*free[len(given.args) :], *(a.arg for a in function.node.args.kwonlyargs))
    if len(given.args) > len(free) or any(name not in by_name for name in given.keywords):
        where = function.location(function.node)
        raise _NotPlain("is given arguments by functools.partial that it does not take", where)
    return _with_constants(function, dict(zip(free, given.args, strict=False)) | given.keywords)


def _with_constants(function: UserFunction, values: Mapping[str, Any]) -> UserFunction:
    for name in values:
        if _is_assigned(function.node, name):
            where = function.location(function.node)
            raise _NotPlain(f"assigns its parameter `{name}`, which is given from outside", where)
    given = dict.fromkeys(values, Given("an argument of functools.partial"))
    return replace(
        function,
        parameters=tuple(name for name in function.parameters if name not in values),
        constants=MappingProxyType({**function.constants, **values}),
        defaults=MappingProxyType({n: v for n, v in function.defaults.items() if n not in values}),
        origins=MappingProxyType({**function.origins, **given}),
    )


# Functions as they are defined -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Known:
    moment: tuple[int, int]
    code: Any
    result: UserFunction | Refusal


_known: WeakKeyDictionary[FunctionType, _Known] = WeakKeyDictionary()


def _plain(definition: FunctionType) -> UserFunction:
    known = _known.get(definition)
    if known is None or known.moment != moment() or known.code is not definition.__code__:
        try:
            result: UserFunction | Refusal = _read(definition)
        except _NotPlain as problem:
            result = problem.refusal
        known = _known[definition] = _Known(moment(), definition.__code__, result)
    if isinstance(known.result, Refusal):
        raise _NotPlain(known.result.reason, known.result.location)
    return known.result


def _read(definition: FunctionType) -> UserFunction:
    if is_library_function(definition):
        raise _NotPlain(f"is {described(definition)}, a function of a library")
    home = home_of(definition)
    if home is None or home.text is None:
        raise _NotPlain("has no source that can be found")
    node = home.node
    if isinstance(node, ast.AsyncFunctionDef):
        raise _NotPlain("is asynchronous", home.location)
    patch = patched_function(definition)
    if patch is not None:
        raise _NotPlain(patch.text, patch.location)
    if node.args.vararg or node.args.kwarg:
        raise _NotPlain("takes any number of arguments", home.location)
    scope = scope_of(node)
    for name in sorted(scope.outer_globals | scope.outer_locals):
        if _is_assigned(node, name):
            what = "the global" if name in scope.outer_globals else "the outer variable"
            raise _NotPlain(f"assigns {what} `{name}`", home.location)
    constants: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for use in _free_uses(node):
        if use.id not in constants:
            constants[use.id], origin = _constant(home, use)
            if origin is not None:
                origins[use.id] = origin
    seen = [definition]
    for child in walk(node):
        match child:
            case ast.Name() | ast.Attribute() if _looks_at_frames(resolve(child, home.namespace), seen):
                raise _NotPlain("looks at the frames of the interpreter", Location(home.file, child.lineno))
    positional = tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))
    function = UserFunction(node, home.file, positional, constants, definition, None, _defaults(home), False, origins)
    # Without a caller that knows the name, a parameter after `*` is always its default.
    keyword_only = {a.arg: function.defaults.get(a.arg, _MISSING) for a in node.args.kwonlyargs}
    if _MISSING in keyword_only.values():
        raise _NotPlain("needs an argument by name", home.location)
    return _with_constants(function, keyword_only) if keyword_only else function


_MISSING = object()


def _looks_at_frames(held: Any, seen: list[FunctionType]) -> bool:
    """Whether a function does, or one that it calls: the frame of who called it is among those that it sees."""
    if any(held is each for each in _LOOKS_AT_FRAMES):
        return True
    if not isinstance(held, FunctionType) or held in seen or is_library_function(held):
        return False
    seen.append(held)
    home = home_of(held)
    if home is None:
        return False
    names = [child for child in walk(home.node) if isinstance(child, ast.Name | ast.Attribute)]
    return any(_looks_at_frames(resolve(each, home.namespace), seen) for each in names)


def _defaults(home: Home) -> Mapping[str, Any]:
    code = home.function.__code__
    names = code.co_varnames[: code.co_argcount]
    values = home.function.__defaults__ or ()
    found = dict(zip(names[len(names) - len(values) :], values, strict=True)) | (home.function.__kwdefaults__ or {})
    for name, value in found.items():
        if shape_of(value).depth > 0:
            problem = constancy.why_changing(Default(home, name), value)
            if problem is not None:
                raise _NotPlain(f"has a default for `{name}` that {problem.text}", problem.location or home.location)
    return MappingProxyType(found)


def _constant(home: Home, use: ast.Name) -> tuple[Any, Origin | None]:
    """What a free name stands for, if it is definitely the same while tuples flow."""
    name = home.mangled(use.id)
    where = Location(home.file, use.lineno)
    origin: Origin
    cell = home.cell(name)
    if name in _BOUND_TO_THEIR_PLACE and (name not in home.namespace or name == "__class__"):
        raise _NotPlain(f"uses `{name}`", where)
    if cell is not None:
        try:
            held = cell.cell_contents
        except ValueError:
            raise _NotPlain(f"uses `{name}`, which has no value yet", where) from None
        origin = Variable(home, name)
    else:
        is_there, held = home.global_(name)
        if not is_there:
            raise _NotPlain(f"uses `{name}`, which is not defined yet", where)
        if name in _OF_THE_LOADER:
            raise _NotPlain(f"reads `{name}`, which depends on how the module was loaded", where)
        if name not in home.namespace:
            patch = patched_module(builtins, name, home.namespace)
            if patch is not None:
                raise _NotPlain(f"uses `{name}`, which {patch.text}", patch.location or where)
            return held, None
        origin = GlobalName(namespace_of(home.namespace), name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        raise _NotPlain(f"reads {origin}, which {problem.text}", where)
    return held, origin


# Names -------------------------------------------------------------------------------------------------------------


def _is_assigned(node: ast.AST, name: str) -> bool:
    """Whether anything in a function assigns the name, in functions inside it too."""
    body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]  # a function's node
    for part in body:
        for child in walk(part):
            match child:
                case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                    return True
                case ast.FunctionDef(name=found) | ast.ClassDef(name=found) if found == name:
                    return True
                case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found):
                    if found == name:
                        return True
                case ast.MatchMapping(rest=found) if found == name:
                    return True
                case ast.alias(asname=str(found)) | ast.alias(name=found) if found.split(".")[0] == name:
                    return True
                case _:
                    pass
    return False


def _free_uses(node: ast.FunctionDef | ast.Lambda) -> Iterator[ast.Name]:
    """Each use of a name that comes from outside of the function, in order."""
    body: list[Any] = [node.body] if isinstance(node, ast.Lambda) else node.body
    for part in body:
        yield from _outer_uses(part, frozenset(scope_of(node).own))


def _outer_uses(node: ast.AST, own: frozenset[str]) -> Iterator[ast.Name]:
    match node:
        case ast.Name(id=name):
            if name not in own:
                yield node
            return
        case ast.ClassDef() | ast.AsyncFunctionDef():
            raise _NotPlain(f"defines `{node.name}` inside")
        case ast.FunctionDef() | ast.Lambda():
            inner = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
            outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
            outside += [] if isinstance(node, ast.Lambda) else node.decorator_list
            for part in outside:
                yield from _outer_uses(part, own)
            for each in inner:
                yield from _outer_uses(each, own | scope_of(node).own)
            return
        case ast.AnnAssign(target=target, value=value):  # a local's annotation is not evaluated
            yield from _outer_uses(target, own)
            if value is not None:
                yield from _outer_uses(value, own)
            return
        case ast.ListComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
            yield from _outer_uses(first.iter, own)
        case ast.DictComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
            yield from _outer_uses(first.iter, own)
        case _:
            pass
    if isinstance(node, COMPREHENSIONS):
        targets = [n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)]
        own |= frozenset(targets)
    for child in children(node):
        yield from _outer_uses(child, own)
