"""`x.name = value`: descriptors, instances, and objects that others share."""

from __future__ import annotations

import ast
import types

from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.lookup import is_data_descriptor, static
from anabranch.analysis.origins import ClassAttribute
from anabranch.analysis.protocols import refuse_unknown_methods
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import is_definitely_generated, user_method
from anabranch.analysis.state import shown
from anabranch.analysis.values import (
    Bound,
    Const,
    Obj,
    Place,
    Thing,
    Value,
    one,
)


def store(run: Run, frame: Frame, value: Value, name: str, stored: Value, node: ast.AST) -> None:
    for thing in value:
        match thing:
            case Obj(site=site, type=cls):
                if is_user_class(cls):
                    _store_on_instance(run, frame, thing, cls, name, stored, node)
                else:
                    run.change(frame, one(thing), node, shown(node))
                    run.heap.put_attribute(site, name, stored)
                    run.heap.put(site, stored)
            case Const():
                _store_on_const(run, frame, thing, name, stored, node)
            case _:
                pass  # immutable, or a function made during the call


def _store_on_instance(run: Run, frame: Frame, thing: Obj, cls: type, name: str, stored: Value, node: ast.AST) -> None:
    if name in ("__class__", "__dict__"):
        run.share(frame, node, f"assigns `{name}`, which changes what the object is")
        return
    refuse_unknown_methods(run, frame, cls, node)
    if _defines_stores(run, frame, cls, node):
        return
    if _stored_by_descriptor(run, frame, thing, cls, name, stored, node):
        return
    if thing.site.place is Place.OWN:
        run.keep(frame, node, f"keeps {shown(node)} from one tuple to the next", None)
    else:
        run.change(frame, one(thing), node, shown(node))
    run.put_attribute(thing, name, stored)


def _defines_stores(run: Run, frame: Frame, cls: type, node: ast.AST) -> bool:
    for name in ("__setattr__", "__delattr__"):
        base, found = static(cls, name)
        if not isinstance(found, types.FunctionType) or base is None:
            continue
        if not is_definitely_generated(base, name, found):
            run.share(frame, node, f"assigns an attribute of `{cls.__name__}`, which defines how that is done ({name})")
            return True
    return False


def _stored_by_descriptor(
    run: Run, frame: Frame, thing: Thing, cls: type, name: str, stored: Value, node: ast.AST
) -> bool:
    """Whether a property or another descriptor takes the value; it is followed then."""
    _, found = static(cls, name)
    if isinstance(found, property):
        for setter in (found.fset, found.fdel):
            if setter is not None:
                args = Args((one(thing), stored)) if setter is found.fset else Args((one(thing),))
                run.call(frame, one(run.lift(setter, None)), args, node)
        return True
    if not is_data_descriptor(found):
        return False
    setter_method, deleter = (user_method(type(found), method) for method in ("__set__", "__delete__"))
    if setter_method is None and deleter is None:
        run.share(frame, node, f"assigns `{name}`, whose `{type(found).__name__}` cannot be followed")
    descriptor = Const(found, ClassAttribute(cls, name))
    if setter_method is not None:
        run.call(frame, one(Bound(Const(setter_method), descriptor)), Args((one(thing), stored)), node)
    if deleter is not None:
        run.call(frame, one(Bound(Const(deleter), descriptor)), Args((one(thing),)), node)
    return True


def _store_on_const(run: Run, frame: Frame, const: Const, name: str, stored: Value, node: ast.AST) -> None:
    held = const.object
    if isinstance(held, type):
        origin = ClassAttribute(held, name)
        run.share(frame, node, f"assigns {origin}", f"assign it in __init__ (self.{name} = …) and use key=")
    elif isinstance(held, types.ModuleType):
        hint = "keep it in `self` of an operator class and use key="
        run.share(frame, node, f"assigns `{held.__name__}.{name}`", hint)
    elif not _stored_by_descriptor(run, frame, const, type(held), name, stored, node):
        run.share(
            frame,
            node,
            f"assigns {shown(node)}, an attribute of an object that all calls share",
            "make it an operator class and use key=, so that each key has an instance of its own",
        )
