"""Where an analysis starts: the input tuple, the frame around the first call, and what is known before it."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from anabranch.analysis.copies import mind_copies
from anabranch.analysis.home import Home, home_of
from anabranch.analysis.live_code import is_of_dataclasses
from anabranch.analysis.lookup import static
from anabranch.analysis.protocols import touch
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.scopes import Scope
from anabranch.analysis.special_methods import is_definitely_generated, user_method
from anabranch.analysis.syntax import walk
from anabranch.analysis.values import PLAIN_ATOM, Atom, Obj, Place, Plain, Site, Source, Tup, Value, one
from anabranch.errors import Location
from anabranch.graph.schema import SCALARS, AttributeType, Schema

_SCALAR_TYPES = {name: kind for kind, name in SCALARS.items()}


@dataclass
class _Root(Frame):
    """Stands for whoever calls the user's function: the engine."""

    where: Location | None = None
    label: str = ""

    @property
    def name(self) -> str:
        return self.label

    def at(self, node: ast.AST) -> Location | None:
        return self.where


def _nobody() -> None:
    """The function that the first frame belongs to."""


def root_frame(target: Any, where: Location | None) -> Frame:
    name = getattr(target, "__name__", None) or type(target).__name__
    node = ast.parse("lambda: None", mode="eval").body
    assert isinstance(node, ast.Lambda)
    label = "the lambda" if name == "<lambda>" else f"`{name}`"
    nobody = cast("types.FunctionType", _nobody)
    return _Root(Home(nobody, node, None, None), node, Scope(()), (), {}, where=where, label=label)


def location_of(target: Any) -> Location | None:
    """Where the user wrote a function or a class."""
    while isinstance(target, functools.partial):
        target = target.func
    target = getattr(target, "__func__", target)
    if isinstance(target, types.FunctionType):
        return Location(target.__code__.co_filename, target.__code__.co_firstlineno)
    cls = target if isinstance(target, type) else type(target)
    methods = [member for member in vars(cls).values() if isinstance(member, types.FunctionType)]
    found = [method.__code__ for method in methods if method.__module__ == cls.__module__]
    found = [code for code in found if not is_of_dataclasses(code)]
    if found:
        first = min(found, key=lambda code: code.co_firstlineno)
        return Location(first.co_filename, first.co_firstlineno)
    return None


# The input tuple ------------------------------------------------------------------------------------------------


def receive(run: Run, root: Frame, schema: Schema) -> Value:
    """The input tuple as the engine hands it over, with all that its class may do when it is taken apart."""
    given = input_tuple(run, schema)
    touch(run, root, given, root.node)
    mind_copies(run, root, schema.type, root.node)
    for name in ("__iter__", "__getitem__", "__len__", "__getattribute__", "__getattr__"):
        if user_method(schema.type, name) is not None:
            run.share(root, root.node, f"gets a `{schema.type.__name__}`, whose `{name}` cannot be followed")
    return given


def input_tuple(run: Run, schema: Schema) -> Value:
    items = tuple(_attribute(run, a.name, a.type, Source(a.name)) for a in schema.attributes)
    return one(Tup(schema.type, items))


def _attribute(run: Run, label: str, kind: AttributeType, source: Source | None) -> Value:
    match kind.kind:
        case "list":
            assert kind.element is not None
            site = Site(Place.INPUT, label)
            run.heap.put(site, _attribute(run, f"{label}[]", kind.element, None))
            value: Value = one(Obj(site, list, source))
        case "tuple":
            assert kind.nested is not None
            items = tuple(_attribute(run, f"{label}.{a.name}", a.type, None) for a in kind.nested.attributes)
            value = one(Tup(kind.nested.type, items, source))
        case scalar:
            value = one(Atom(_SCALAR_TYPES[scalar], source))
    return value | one(Atom(type(None), source)) if kind.optional else value


def other_input(run: Run, position: int) -> Value:
    """A further argument of a helper function: a tuple whose type is not given."""
    site = Site(Place.INPUT, f"argument {position + 2}")
    run.heap.put(site, PLAIN_ATOM | one(Obj(site, Plain)))
    return one(Obj(site, Plain)) | PLAIN_ATOM


# What __init__ certainly assigns --------------------------------------------------------------------------------


def definite_attributes(cls: type) -> set[str]:
    """The attributes that every path through __init__ assigns, so that the class's own never shows through them."""
    return _assigned_by(cls, cls.__mro__)


def _assigned_by(cls: type, order: tuple[type, ...]) -> set[str]:
    for position, base in enumerate(order):
        member = vars(base).get("__init__")
        if isinstance(member, types.FunctionType):
            if is_definitely_generated(base, "__init__", member):
                return set(vars(base)["__dataclass_fields__"])
            return _assigned_in(member, cls, order[position + 1 :])
    return set()


def _assigned_in(function: types.FunctionType, cls: type, rest: tuple[type, ...]) -> set[str]:
    home = home_of(function)
    if home is None or isinstance(home.node, ast.Lambda) or not home.node.args.args:
        return set()
    receiver = home.node.args.args[0].arg
    found: set[str] = set()
    for statement in home.node.body:
        match statement:
            case ast.Assign(targets=targets):
                names = [_own_attribute(target, receiver) for target in targets]
                found |= {home.mangled(name) for name in names if name is not None}
            case ast.AnnAssign(target=target, value=ast.expr()):
                name = _own_attribute(target, receiver)
                if name is not None:
                    found.add(home.mangled(name))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=function_name), attr="__init__"))):
                if isinstance(function_name, ast.Name) and function_name.id == "super":
                    found |= _assigned_by(cls, rest)
            case ast.Expr() | ast.AugAssign() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Assert():
                pass
            case _:
                if any(isinstance(n, ast.Return) for n in walk(statement)):
                    break  # what follows is not on every path
    return {name for name in found if not _is_descriptor(static(cls, name)[1])}


def replaced_at_once(cls: type, inputs: Mapping[str, Schema | None]) -> set[str]:
    """The attributes that every method with an input assigns from its tuple before anything else, which might fail.

    With a key, an instance is made when its first tuple arrives, so no later call sees what __init__ gave them.
    """
    found: set[str] | None = None
    for name, schema in inputs.items():
        member = static(cls, name)[1]
        home = home_of(member) if isinstance(member, types.FunctionType) else None
        if schema is None or home is None or isinstance(home.node, ast.Lambda) or len(home.node.args.args) != 2:
            return set()
        receiver, item = (argument.arg for argument in home.node.args.args)
        first = _assigned_first(home.node.body, home, receiver, item, schema)
        found = first if found is None else found & first
    names = found or set()
    return {name for name in names if not _is_descriptor(static(cls, name)[1])}


def _assigned_first(body: list[ast.stmt], home: Home, receiver: str, item: str, schema: Schema) -> set[str]:
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[target], value=ast.Attribute(value=ast.Name(id=owner), attr=attribute)):
                name = _own_attribute(target, receiver)
                is_field = type(static(schema.type, attribute)[1]).__name__ == "_tuplegetter"
                if name is None or owner != item or not is_field:
                    return found
                found.add(home.mangled(name))
            case _:
                return found
    return found


def _own_attribute(target: ast.expr, receiver: str) -> str | None:
    match target:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == receiver:
            return name
        case _:
            return None


def _is_descriptor(member: Any) -> bool:
    return hasattr(type(member), "__set__") and not isinstance(member, types.MemberDescriptorType)
