"""Special methods: what builtin code calls on objects of the user's classes without being told to."""

from __future__ import annotations

import ast
import enum
import types

from anabranch.analysis.instances import written_special_method
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.looking_inside import with_parts
from anabranch.analysis.modules import is_library_function, world
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.state import ITERATORS, mind_the_order
from anabranch.analysis.values import (
    NOTHING,
    Atom,
    Bound,
    Const,
    Fun,
    Method,
    Obj,
    Partial,
    Place,
    Plain,
    Site,
    Super,
    Thing,
    Tup,
    Value,
    one,
)
from anabranch.analysis.words import words
from anabranch.errors import Location

# Called when an instance is made or a class is defined, not when an instance is used.
_CONSTRUCTION = words("__init__ __new__ __post_init__ __init_subclass__ __set_name__ __class_getitem__")
_GENERATED_NAMES = frozenset(
    f"__{name}__" for name in words("""init repr eq lt le gt ge hash setattr delattr getstate setstate replace""")
)


def is_definitely_generated(base: type, name: str, function: types.FunctionType) -> bool:
    """Whether a method was written by the dataclass decorator, so that it only looks at the fields."""
    return (
        "__dataclass_fields__" in vars(base)
        and name in _GENERATED_NAMES
        and function.__code__.co_qualname.startswith("__create_fn__")
    )


_special: dict[type, dict[str, types.FunctionType]] = {}
_written: dict[tuple[type, int], tuple[str, Location] | None] = {}
_odd: dict[type, str | None] = {}
_PLAIN_MEMBERS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_single: dict[tuple[type, str], types.FunctionType | None] = {}


def special_methods(cls: type) -> dict[str, types.FunctionType]:
    """The special methods of a class that are the user's own code."""
    if cls not in _special:
        _special[cls] = _special_methods(cls)
    return _special[cls]


def _special_methods(cls: type) -> dict[str, types.FunctionType]:
    found: dict[str, types.FunctionType] = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            if not (name.startswith("__") and name.endswith("__")) or name in _CONSTRUCTION:
                continue
            found.pop(name, None)
            if isinstance(member, types.FunctionType) and not (
                is_library_function(member) or is_definitely_generated(base, name, member) or base is tuple
            ):
                found[name] = member
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        # The factory of NamedTuples makes these.
        for name in ("__repr__", "__getnewargs__"):
            if name in found and found[name].__globals__.get("__name__", "").startswith(("namedtuple_", "collections")):
                del found[name]
    return found


_NOT_PROTOCOLS = words(
    """__abstractmethods__ __annotations__ __class__ __dataclass_fields__ __dataclass_params__ __dict__ __doc__
    __firstlineno__ __match_args__ __module__ __orig_bases__ __parameters__ __qualname__ __signature__ __slotnames__
    __slots__ __static_attributes__ __subclasshook__ __type_params__ __weakref__ __classcell__ __class_getitem__
    __init_subclass__ __new__ __protocol_attrs__"""
)


def odd_special_method(cls: type) -> str | None:
    """A special method of a user's class that is not a plain function, so that it cannot be followed."""
    if cls not in _odd:
        _odd[cls] = None
        for base in cls.__mro__:
            for name, member in vars(base).items() if is_user_class(base) else ():
                is_special = name.startswith("__") and name.endswith("__") and name not in _NOT_PROTOCOLS
                if is_special and member is not None and not isinstance(member, _PLAIN_MEMBERS):
                    _odd[cls] = name
    return _odd[cls]


def special_method(cls: type, name: str) -> types.FunctionType | None:
    """A special method that is the user's own code, as the interpreter looks it up."""
    if (cls, name) not in _single:
        _single[cls, name] = _special_method(cls, name)
    return _single[cls, name]


def _special_method(cls: type, name: str) -> types.FunctionType | None:
    for base in cls.__mro__:
        if name in vars(base):
            member = vars(base)[name]
            if isinstance(member, types.FunctionType) and not is_definitely_generated(base, name, member):
                return None if is_library_function(member) else member
            return None
    return None


def class_of(thing: Thing) -> type | None:
    """The class of an instance, where it is the user's."""
    match thing:
        case Obj(type=kind) | Tup(type=kind):
            return kind if is_user_class(kind) else None
        case Const(object=held) if not isinstance(held, types.FunctionType | types.ModuleType):
            # Of a class, this is its metaclass.
            return type(held) if is_user_class(type(held)) else None
        case _:
            return None


def touch(run: Run, frame: Frame, value: Value, node: ast.AST) -> None:
    """Builtin code gets these values: it may look at all they hold and use their special methods."""
    everything = with_parts(run, frame, run.heap.reachable(value), node)
    for thing in everything:
        match thing:
            case Const():
                run.read(frame, one(thing), node)
            case Obj(site=Site(place=place), type=kind) if place is not Place.FRESH and (
                kind in ITERATORS or (kind is not Plain and hasattr(kind, "__next__"))
            ):
                run.change(frame, one(thing), node)
            case _:
                pass
        cls = class_of(thing)
        if cls is not None and not issubclass(cls, enum.Enum):
            _refuse_odd_methods(run, frame, cls, node)
            for method in special_methods(cls).values():
                run.call(frame, one(Bound(Const(method), thing)), Args(more=one(thing)), node)


def _refuse_odd_methods(run: Run, frame: Frame, cls: type, node: ast.AST) -> None:
    odd = odd_special_method(cls)
    if odd is not None:
        run.share(frame, node, f"uses a `{cls.__name__}`, whose `{odd}` is not a plain method")
    if (cls, world()) not in _written:
        _written[cls, world()] = written_special_method(cls)
    written = _written[cls, world()]
    if written is not None:
        name, where = written
        run.share(frame, node, f"uses a `{cls.__name__}`, whose `{name}` is assigned by a function ({where})")


def special(run: Run, frame: Frame, thing: Thing, name: str, args: Args, node: ast.AST) -> Value | None:
    """The result of a special method, if the user wrote it; None where the builtin one applies."""
    cls = class_of(thing)
    if cls is None:
        return None
    _refuse_odd_methods(run, frame, cls, node)
    method = special_method(cls, name)
    if method is None:
        return None
    return run.call(frame, one(Bound(Const(method), thing)), args, node)


def call_back(run: Run, frame: Frame, value: Value, given: Value, node: ast.AST) -> Value:
    """Functions among the values are called, any number of times, with anything that was given."""
    functions = functions_in(value)
    return run.call(frame, functions, Args(more=given - functions), node) if functions else NOTHING


def functions_in(value: Value) -> Value:
    return frozenset(
        thing
        for thing in value
        if isinstance(thing, Fun | Bound | Method | Partial) or (isinstance(thing, Const) and callable(thing.object))
    )


def turn_into_text(run: Run, frame: Frame, value: Value, node: ast.AST) -> None:
    """Some objects have no text of their own but their address, or an order that differs between processes."""
    touch(run, frame, frozenset(t for t in value if not isinstance(t, Atom)), node)
    for thing in run.heap.reachable(value):
        match thing:
            case Obj(type=kind) if issubclass(kind, set | frozenset):
                mind_the_order(run, frame, thing, node)
            case Obj(type=kind) if _has_default_text(kind):
                run.share(frame, node, f"makes a text of a `{kind.__name__}`, which contains its address")
            case Const(object=held):
                if isinstance(held, set | frozenset):
                    mind_the_order(run, frame, thing, node)
                elif _has_default_text(type(held)):
                    run.share(frame, node, f"makes a text of a `{type(held).__name__}`, which contains its address")
            case Fun() | Bound() | Method() | Super() | Partial():
                run.share(frame, node, "makes a text of a function, which contains its address")
            case _:
                pass


def _has_default_text(kind: type) -> bool:
    if kind in (Plain, type) or issubclass(kind, BaseException):
        return False
    if kind in ITERATORS or issubclass(kind, types.FunctionType | types.BuiltinFunctionType):
        return True
    return kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__ and kind.__format__ is object.__format__
