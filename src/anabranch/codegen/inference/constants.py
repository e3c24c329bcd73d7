"""Dotted names that stand for the same object all the time: `LIMIT`, `math.pi`, `settings.LIMIT`, `Color.RED.value`."""

from __future__ import annotations

import ast
import enum
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.analysis import constancy
from anabranch.analysis.lifting import is_named_tuple_class, is_user_class
from anabranch.analysis.lookup import is_data_descriptor, static
from anabranch.analysis.modules import is_library_class, is_library_module, namespace_of
from anabranch.analysis.origins import ClassAttribute, GlobalName, InstanceAttribute, Origin
from anabranch.analysis.patching import patched_module
from anabranch.analysis.special_methods import user_method
from anabranch.codegen.inference.joins import INSTANCE, OBJECT, constant_type
from anabranch.codegen.types import Type

if TYPE_CHECKING:
    from anabranch.codegen.inference.body import Body

# Their values are the environment of the process, which looks like a constant.
_ENVIRONMENT = ("os", "sys", "time")
_LARGEST_COLLECTION = 64  # its elements are compared one by one


@dataclass(frozen=True)
class Found:
    """An object; `problem` says why it may be another one later."""

    value: Any = None
    problem: str | None = None
    origin: Origin | None = None


def resolve(body: Body, node: ast.expr) -> Found | None:
    """What a dotted name stands for; None where it begins with a local."""
    match node:
        case ast.Name(id=name) if name in body.constants:
            found = Found(body.constants[name], None, body.function.origins.get(name))
        case ast.Attribute(value=ast.Name(id=name) as value, attr=attr) if name == body.self_name:
            body.types[value] = INSTANCE
            of_class = _of_own_class(body, body.function.mangled(attr))
            if of_class is None:
                return None
            found = of_class
        case ast.Attribute(value=value, attr=attr):
            owner = resolve(body, value)
            if owner is None or owner.problem is not None:
                return owner
            found = _attribute(body, owner.value, body.function.mangled(attr))
        case _:
            return None
    if found.problem is None:
        kind = constant_type(found.value)
        body.types[node] = kind if kind.is_known else OBJECT
        body.values[node] = found.value
    return found


def _of_own_class(body: Body, name: str) -> Found | None:
    """`self.name` in a method of an operator class; None where it is kept by the instance."""
    fields = body.fields
    assert fields is not None
    if name in fields.types:
        return None
    if fields.initial is None:
        return Found(problem=f"reads `self.{name}`, of which nothing is known")
    if static(fields.cls, name)[0] is None:
        return Found(problem=f"reads `self.{name}`, which `__init__` does not set")
    found = _of_class(fields.cls, fields.cls, name)
    if found.problem is None:
        fields.constants[name] = found.value
    return found


def _attribute(body: Body, owner: Any, name: str) -> Found:
    match owner:
        case types.ModuleType():
            return _of_module(body, owner, name)
        case type():
            return _of_class(owner, owner, name)
        case enum.Enum() if name in ("value", "name"):
            return Found(getattr(owner, name))
        case tuple() if is_named_tuple_class(type(owner)) and is_field(type(owner), name):
            return Found(getattr(owner, name))
    return _of_instance(owner, name)


def is_field(cls: type, name: str) -> bool:
    """Whether an attribute of a NamedTuple is one of its values, not something the class defines instead."""
    if user_method(cls, "__getattribute__") or user_method(cls, "__getattr__"):
        return False
    return type(static(cls, name)[1]).__name__ == "_tuplegetter"


def _of_module(body: Body, module: types.ModuleType, name: str) -> Found:
    full = f"`{module.__name__}.{name}`"
    if name not in vars(module):
        return Found(problem=f"uses {full}, which does not exist yet")
    value = vars(module)[name]
    if is_library_module(module):
        patch = patched_module(module, name, body.function.definition.__globals__)
        if patch is not None:
            return Found(problem=f"uses {full}, which {patch}")
        if module.__name__ in _ENVIRONMENT and not callable(value):
            return Found(problem=f"reads {full}, which is the environment of the process")
        return Found(value)
    origin = GlobalName(namespace_of(vars(module)), name)
    problem = constancy.why_rebound(origin)
    return Found(value, f"reads {origin}, which {problem}" if problem else None, origin)


def _of_class(cls: type, owner: Any, name: str) -> Found:
    """An attribute of a class, read through the class or through an instance, `owner`."""
    if isinstance(cls, enum.EnumType) and name in cls.__members__:
        return Found(cls.__members__[name])
    base, member = static(cls, name)
    if base is None:
        return Found(problem=f"reads `{cls.__name__}.{name}`, which does not exist yet")
    if is_library_class(base):
        return Found(problem=f"uses `{base.__name__}.{name}`")
    origin = ClassAttribute(base, name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        return Found(problem=f"reads {origin}, which {problem}")
    match member:
        case types.FunctionType():
            return Found(member if owner is cls else types.MethodType(member, owner))
        case staticmethod():
            return Found(member.__func__)
        case property():
            return Found(problem=f"reads the property `{name}`")
    if hasattr(type(member), "__get__"):
        return Found(problem=f"reads `{cls.__name__}.{name}`, which is computed")
    return Found(member, None, origin)


def _of_instance(owner: Any, name: str) -> Found:
    """An attribute of an object that exists already, such as the settings of a program."""
    cls = type(owner)
    if not is_user_class(cls):
        return Found(problem=f"uses `.{name}` of a {cls.__name__}")
    if user_method(cls, "__getattribute__") or user_method(cls, "__getattr__"):
        return Found(problem=f"reads an attribute of `{cls.__name__}`, which defines how that is done")
    _, member = static(cls, name)
    parameters = getattr(cls, "__dataclass_params__", None)
    origin = InstanceAttribute(cls, name, bool(parameters is not None and parameters.frozen))
    problem = constancy.why_rebound(origin)
    if problem is not None:
        return Found(problem=f"reads {origin}, which {problem}")
    if isinstance(member, types.MemberDescriptorType) and hasattr(owner, name):
        return Found(getattr(owner, name), None, origin)
    own = getattr(owner, "__dict__", {})
    if name in own and not is_data_descriptor(member):
        return Found(own[name], None, origin)
    return _of_class(cls, owner, name)


def collection_type(body: Body, found: Found) -> tuple[Type | None, str | None]:
    """The type of a constant container of constants, as a tuple of its elements or keys, and why it may change."""
    value = found.value
    if not isinstance(value, tuple | frozenset | set | list | dict):
        return None, None
    if len(value) > _LARGEST_COLLECTION:
        return None, f"looks into a {type(value).__name__} of {len(value)} elements"
    if not isinstance(value, tuple | frozenset):
        problem = constancy.why_changing(found.origin, value)
        if problem is not None:
            return None, f"looks into a {type(value).__name__} that {problem}"
    members = tuple((str(at), constant_type(each)) for at, each in enumerate(value))
    return Type("tuple", members=members), None
