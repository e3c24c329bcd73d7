"""Attributes of objects that exist already: modules, classes, members of enumerations, instances."""

from __future__ import annotations

import ast
import dataclasses
import enum
import sys
import types
from dataclasses import replace
from typing import Any

from anabranch.analysis import constancy, logging_calls
from anabranch.analysis.copies import mind_copies
from anabranch.analysis.genuine import is_own_class, is_replaced
from anabranch.analysis.lifting import READABLE, is_array, is_made_by_named_tuple, is_named_tuple_class, is_user_class
from anabranch.analysis.locales import names_in_calendar
from anabranch.analysis.lookup import (
    MISSING,
    NAMES,
    constant_of_class,
    is_data_descriptor,
    of_builtin,
    of_class_member,
    static,
)
from anabranch.analysis.modules import is_library_module, namespace_of
from anabranch.analysis.origins import ClassAttribute, GlobalName, InstanceAttribute
from anabranch.analysis.patching import CALL_YOUR_OWN, REPLACED, patched_module
from anabranch.analysis.protocols import refuse_unknown_methods
from anabranch.analysis.purity import is_numpy_ufunc
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.settled import is_settled
from anabranch.analysis.shapes import is_judged_by_attributes
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import shown
from anabranch.analysis.values import (
    NONE,
    NOTHING,
    STR,
    UNKNOWN,
    Bound,
    Const,
    Method,
    Plain,
    Value,
    one,
)

# Environment that looks like a constant.
_DENIED_OF_MODULES = {
    "sys": frozenset({"argv", "path", "modules", "stdin", "stdout", "stderr", "executable", "prefix", "flags"}),
    "time": frozenset({"timezone", "tzname", "altzone", "daylight"}),
    "os": frozenset({"environ", "environb"}),
}


def of_const(run: Run, frame: Frame, const: Const, held: Any, name: str, node: ast.AST) -> Value:
    if isinstance(held, types.ModuleType):
        return _of_module(run, frame, held, name, node)
    if isinstance(held, type):
        return _of_class(run, frame, held, name, node)
    if isinstance(held, enum.Enum):
        return _of_member(run, frame, const, held, name, node)
    if isinstance(held, types.FunctionType | types.BuiltinFunctionType | types.MethodType | types.MethodDescriptorType):
        if name in NAMES:
            return STR
        return run.unknown(frame, node, f"reads `{name}` of a function, which all calls share")
    if is_numpy_ufunc(held) and name in ("reduce", "accumulate", "outer"):
        return one(Const(getattr(held, name)))
    if type(held) in READABLE or is_array(held):
        return of_builtin(run, frame, const, Plain if is_array(held) else type(held), name, node)
    if isinstance(held, dataclasses.Field) and name == "name":
        return STR
    if logging_calls.rule_of(const, name):
        return one(Method(const, name, type(held)))
    if not is_user_class(type(held)):
        run.read(frame, one(const), node)
        return UNKNOWN
    return _of_existing_instance(run, frame, const, held, name, node)


def _of_module(run: Run, frame: Frame, module: types.ModuleType, name: str, node: ast.AST) -> Value:
    found = vars(module).get(name, MISSING)
    if found is MISSING:
        if is_library_module(module) and "__getattr__" in vars(module):
            return run.unknown(frame, node, f"uses {shown(node)}, which is not known")
        return run.unknown(frame, node, f"uses `{module.__name__}.{name}`, which does not exist yet")
    if is_library_module(module):
        if name in _DENIED_OF_MODULES.get(module.__name__, ()):
            return run.unknown(frame, node, f"reads {shown(node)}, which is the environment of the process")
        patch = patched_module(module, name, frame.home.namespace)
        if patch is not None:
            run.share(frame, node, f"uses `{module.__name__}.{name}`, which {patch}")
        if is_replaced(module, name):
            return run.unknown(frame, node, f"uses `{module.__name__}.{name}`, {REPLACED}", CALL_YOUR_OWN)
        named = names_in_calendar(found, frame.home.namespace)
        return one(run.lift(named if named is not None else found, None))
    if sys.modules.get(module.__name__) is not module:
        return run.unknown(frame, node, f"reads `{module.__name__}.{name}` of a module that was not imported")
    origin = GlobalName(namespace_of(vars(module)), name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        run.share(frame, node, f"reads {origin}, which {problem}", "pass it as an attribute, or keep it in `self`")
    return one(run.lift(found, origin))


def _of_class(run: Run, frame: Frame, cls: type, name: str, node: ast.AST) -> Value:
    meta = type(cls)
    if is_user_class(meta):
        refuse_unknown_methods(run, frame, meta, node)
        if (
            user_method(meta, "__getattribute__")
            or user_method(meta, "__getattr__")
            or is_data_descriptor(static(meta, name)[1])
        ):
            return run.unknown(frame, node, f"reads `{cls.__name__}.{name}`, whose metaclass defines how that is done")
    if name in NAMES:
        return STR
    if name in ("__mro__", "__bases__", "__dict__", "__subclasses__"):
        return run.unknown(frame, node, f"uses `{name}` of a class, which cannot be followed")
    if isinstance(cls, enum.EnumType) and name in cls.__members__:
        return one(Const(cls.__members__[name]))
    if is_named_tuple_class(cls) and name in ("_make", "_replace", "_asdict") and is_made_by_named_tuple(cls, name):
        return one(Method(Const(cls), name, cls))
    base, found = static(cls, name)
    if base is None:
        owner, found = static(meta, name)
        if owner is not None and is_own_class(owner):
            return one(Method(Const(cls), name, owner))
        return run.unknown(frame, node, f"reads `{cls.__name__}.{name}`, which does not exist yet")
    match found:
        case staticmethod():
            return one(run.lift(found.__func__, None))
        case classmethod():
            if is_own_class(base):
                return one(Method(Const(cls), name, cls))
            return one(Bound(run.lift(found.__func__, None), Const(cls)))
        case types.ClassMethodDescriptorType() | types.BuiltinFunctionType():
            return one(Method(Const(cls), name, cls))
        case types.FunctionType() | types.MethodDescriptorType() | types.WrapperDescriptorType():
            return one(Const(found))
        case property():
            return one(Const(found))
    if name in ("_fields", "__match_args__", "_field_defaults"):
        return one(run.lift(found, None))
    getter = user_method(type(found), "__get__")
    if getter is not None:
        descriptor = Const(found, ClassAttribute(cls, name))
        return run.call(frame, one(Bound(Const(getter), descriptor)), Args((NONE, one(Const(cls)))), node)
    return constant_of_class(run, frame, base, name, found, node)


def _of_member(run: Run, frame: Frame, const: Const, member: enum.Enum, name: str, node: ast.AST) -> Value:
    owner, _ = static(type(member), name)
    if owner is not None and is_user_class(owner) and name in ("name", "value", "_name_", "_value_"):
        return run.unknown(frame, node, f"reads `{name}`, which `{type(member).__name__}` defines itself")
    if name in ("name", "_name_"):
        return STR
    if name in ("value", "_value_"):
        return one(run.lift(member._value_, ClassAttribute(type(member), member._name_)))
    if is_user_class(type(member)):
        _mind_assignments(run, frame, type(member), name, node)
    if name in type(member).__members__:
        return one(Const(type(member).__members__[name]))
    if name in vars(member):
        return one(run.lift(vars(member)[name], InstanceAttribute(type(member), name)))
    return of_class_member(run, frame, const, type(member), name, node)


def _of_existing_instance(run: Run, frame: Frame, const: Const, held: Any, name: str, node: ast.AST) -> Value:
    cls = type(held)
    refuse_unknown_methods(run, frame, cls, node)
    mind_copies(run, frame, cls, node)
    if user_method(cls, "__getattribute__") or user_method(cls, "__getattr__"):
        return run.unknown(frame, node, f"reads an attribute of `{cls.__name__}`, which defines how that is done")
    if name == "__class__":
        return one(Const(cls))
    _, found = static(cls, name)
    if isinstance(found, types.MemberDescriptorType):
        inside = getattr(held, name, MISSING)
    else:
        inside = getattr(held, "__dict__", {}).get(name, MISSING)
    if inside is MISSING or is_data_descriptor(found):
        if found is MISSING and _is_definitely_missing(cls, name):
            return NOTHING  # an error
        if found is MISSING:
            return run.unknown(frame, node, f"reads `{name}`, which this `{cls.__name__}` does not have yet")
        _mind_assignments(run, frame, cls, name, node)
        return of_class_member(run, frame, const, cls, name, node)
    origin = InstanceAttribute(cls, name, _is_definitely_frozen(cls))
    problem = constancy.why_rebound(origin)
    if (problem is not None or _may_change(origin, inside)) and is_settled(held):
        origin = replace(origin, settled=Const(held))
        problem = constancy.why_rebound(origin)
    if problem is not None:
        hint = "make it an operator class with key=, or a frozen dataclass"
        run.share(frame, node, f"reads {origin}, which {problem}", hint)
    return one(run.lift(inside, origin))


def _is_definitely_missing(cls: type, name: str) -> bool:
    """Whether nobody gives such an instance an attribute of this name, now or later."""
    return is_judged_by_attributes(cls) and constancy.why_rebound(InstanceAttribute(cls, name)) is None


def _may_change(origin: InstanceAttribute, held: Any) -> bool:
    return (type(held) in READABLE or is_array(held)) and constancy.why_changing(origin, held) is not None


def _mind_assignments(run: Run, frame: Frame, cls: type, name: str, node: ast.AST) -> None:
    """An instance may be given an attribute of its own in place of its class's."""
    origin = InstanceAttribute(cls, name, _is_definitely_frozen(cls))
    problem = constancy.why_rebound(origin)
    if problem is not None:
        run.share(frame, node, f"reads {origin}, which {problem}")


def _is_definitely_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return bool(parameters is not None and parameters.frozen)
