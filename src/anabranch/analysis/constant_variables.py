"""Whether a variable of an enclosing function, a default or an attribute may change while tuples flow."""

from __future__ import annotations

import ast
import sys

from anabranch.analysis.constant_globals import rebound_global
from anabranch.analysis.constant_uses import (
    Problem,
    bad_binding,
    bad_use,
    is_fresh_for,
    is_known,
    is_store,
    location_of,
    written_by_stray,
)
from anabranch.analysis.constructor_arguments import is_definitely_given_fresh, is_field
from anabranch.analysis.fresh_objects import is_definitely_fresh
from anabranch.analysis.instances import IsIdle, attribute_uses, never, spellings
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.origins import Default, GlobalName, Variable
from anabranch.analysis.program import program_around
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.receivers import Receiver, argument_of
from anabranch.analysis.scopes import FUNCTIONS, scope_of
from anabranch.analysis.shapes import Shape
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.errors import Location


def _owner(origin: Variable) -> tuple[SourceText, FunctionNode] | None:
    text = origin.home.text
    if text is None:
        return None
    for node in text.enclosing(origin.home.node):
        if isinstance(node, FUNCTIONS) and origin.name in scope_of(node).own:
            return text, node
    return None


def rebound_variable(origin: Variable) -> Problem | None:
    found = _owner(origin)
    if found is None:
        return Problem("cannot be followed: the source around it is not known")
    text, owner = found
    namespace = namespace_of(origin.home.namespace)
    if namespace.strays.may_use(origin.name):  # another function inside the one around it, perhaps
        return written_by_stray(namespace, "may be changed")
    if scope_of(owner).is_generator or scope_of(owner).is_asynchronous:
        return Problem("belongs to a generator, which may still run")
    for use in uses_of(text).attributes["cell_contents"]:
        return Problem("may be assigned through its cell", location_of(use))
    stores = [use for use in uses_of(text).variables[owner, origin.name] if is_store(use.node)]
    inner = [use for use in stores if use.function is not owner]
    if inner:
        return Problem("is assigned by a function", location_of(inner[0]))
    if len(stores) + (origin.name in scope_of(owner).parameters) > 1:
        return Problem("is assigned more than once", location_of(stores[-1]))
    for use in stores:
        if not _is_definitely_one_kind_of_value(use, text, owner):
            return Problem("is assigned in a loop", location_of(use))
    return None


def _is_definitely_one_kind_of_value(use: Use, text: SourceText, owner: FunctionNode) -> bool:
    """Outside loops a variable keeps what it got; a loop over plain numbers or strings gives it only these."""
    child, parent = use.node, text.parents.get(use.node)
    while parent is not None and child is not owner:
        if isinstance(parent, ast.While | ast.AsyncFor):
            return False
        if isinstance(parent, ast.For):
            return child is parent.target and _are_definitely_constants(parent.iter)
        child, parent = parent, text.parents.get(parent)
    return True


def _are_definitely_constants(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(isinstance(part, ast.Constant) for part in parts)
        case _:
            return False


def changing_variable(origin: Variable, shape: Shape) -> Problem | None:
    found = _owner(origin)
    if found is None:
        return Problem("cannot be followed: the source around it is not known")
    text, owner = found
    if origin.name in scope_of(owner).parameters and not _is_definitely_given_fresh(origin, text, owner, shape):
        return Problem("was handed in, so it may be changed elsewhere", Location(text.file, owner.lineno))
    reader = Reader(text, origin.home.namespace, shape)
    for use in uses_of(text).variables[owner, origin.name]:
        is_later = use.function is not owner or _is_in_generator_expression(use, text, owner)
        problem = bad_use(use, reader, is_later, [])
        if problem:
            return problem
    return None


def _is_definitely_given_fresh(origin: Variable, text: SourceText, owner: FunctionNode, shape: Shape) -> bool:
    """Whether each call of a factory function in the program hands a new container to this parameter."""
    if isinstance(owner, ast.Lambda) or owner.decorator_list or not isinstance(text.parents.get(owner), ast.Module):
        return False
    namespace = namespace_of(origin.home.namespace)
    if not is_known(namespace) or rebound_global(GlobalName(namespace, owner.name)):
        return False
    made = namespace.names.get(owner.name)
    calls = 0
    for other in program_around(namespace):
        if other.strays.may_use(owner.name):
            return False
        for name in [n for n, value in list(other.names.items()) if value is made]:
            for other_text in other.texts:
                for use in uses_of(other_text).globals[name]:
                    if is_store(use.node):
                        continue
                    call = other_text.parents.get(use.node)
                    if not isinstance(call, ast.Call) or call.func is not use.node:
                        return False
                    calls += 1
                    given = argument_of(call, owner, origin.name)
                    if not is_fresh_for(given, Reader(other_text, other.names, shape)):
                        return False
        mentioning = [t for t in other.texts if owner.name in t.text and other is not namespace]
        if any(uses_of(t).attributes[owner.name] for t in mentioning):
            return False
    return calls > 0


def _is_in_generator_expression(use: Use, text: SourceText, owner: FunctionNode) -> bool:
    node: ast.AST | None = use.node
    while node is not None and node is not owner:
        if isinstance(node, ast.GeneratorExp):
            return True
        node = text.parents.get(node)
    return False


# Defaults and attributes ----------------------------------------------------------------------------------------


def changing_default(origin: Default, shape: Shape) -> Problem | None:
    text, node = origin.home.text, origin.home.node
    if text is None:
        return Problem("cannot be followed: its source is not known")
    positional = [*node.args.posonlyargs, *node.args.args]
    given = dict(zip(reversed([a.arg for a in positional]), reversed(node.args.defaults), strict=False))
    given |= {a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None}
    if not is_definitely_fresh(given.get(origin.name), origin.home.namespace, shape.depth <= 1):
        return Problem("may have another name, through which it is changed", origin.home.location)
    reader = Reader(text, origin.home.namespace, shape)
    for use in uses_of(text).variables[node, origin.name]:
        if not is_store(use.node) and reader.kind(use.node) is not Kind.READS:
            return Problem("is handed on or changed", location_of(use))
    return None


def _bad_binding(use: Use, reader: Reader) -> Problem | None:
    """What is wrong with an assignment of an attribute, in a class or to `self`."""
    match use.text.parents.get(use.node):
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            is_own = is_definitely_given_fresh(use, value, reader, is_fresh_for)
            if is_field(value, reader.names) and not is_own:
                return Problem("may have been handed in, and be changed elsewhere", location_of(use))
            return None if is_own else bad_binding(use, reader, [])
        case _:
            return bad_binding(use, reader, [])


def changing_attribute(cls: type, name: str, shape: Shape, is_idle: IsIdle = never) -> Problem | None:
    found = attribute_uses(cls, name)
    if found is None:
        return Problem("cannot be followed: not all of the source around it is known")
    is_bound = False
    for use, namespace, receiver in found:
        problem = None
        if not is_store(use.node):
            is_later = use.is_deferred and not is_idle(use, namespace)
            problem = bad_use(use, Reader(use.text, namespace.names, shape), is_later, [])
        elif receiver is not Receiver.UNKNOWN:
            # That none of these run during a run was settled before; here it matters what is assigned.
            is_bound = True
            problem = _bad_binding(use, Reader(use.text, namespace.names, shape))
        if problem:
            return problem
    module = namespace_of(vars(sys.modules[cls.__module__]))
    for text in module.texts:
        for base in cls.__mro__:
            for spelling in spellings(cls, name):
                for use in uses_of(text).class_names[base.__name__, spelling]:
                    is_bound |= is_store(use.node)
                    # A class body runs where it stands, also inside a function.
                    reader = Reader(text, module.names, shape)
                    problem = _bad_binding(use, reader) if is_store(use.node) else bad_use(use, reader, False, [])
                    if problem:
                        return problem
    return None if is_bound else Problem("cannot be followed: where it is assigned is not known")
