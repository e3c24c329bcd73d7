"""Whether an object that exists already may change while tuples flow.

Only what runs during a run can do that: functions, not the statements of a module, which have run by then. So the
texts that can reach the object are searched for functions that write it, or hand it where it cannot be followed.
"""

from __future__ import annotations

import ast
import dis
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

from anabranch.analysis.instances import Receiver, attribute_uses, spellings, written_attribute
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import Namespace, namespace_of, neighbours, world
from anabranch.analysis.origins import ClassAttribute, Default, Given, GlobalName, InstanceAttribute, Origin, Variable
from anabranch.analysis.reading import Kind, Reader, is_definitely_fresh, resolve
from anabranch.analysis.scopes import FUNCTIONS, scope_of
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.errors import Location


@dataclass(frozen=True)
class Problem:
    """Why something is not definitely constant; the text follows its description."""

    text: str
    location: Location | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.location})" if self.location else self.text


_rebound: dict[tuple[Origin, int], Problem | None] = {}
_changing: dict[tuple[Origin, int, int], tuple[Any, Problem | None]] = {}


def why_rebound(origin: Origin) -> Problem | None:
    """Why the name may come to stand for something else during a run."""
    key = (origin, world())
    if key not in _rebound:
        match origin:
            case GlobalName():
                _rebound[key] = _rebound_global(origin)
            case Variable():
                _rebound[key] = _rebound_variable(origin)
            case ClassAttribute(cls=cls, name=name) | InstanceAttribute(cls=cls, name=name):
                found = written_attribute(cls, name, is_instance=isinstance(origin, InstanceAttribute))
                _rebound[key] = Problem(found[0], found[1]) if found else None
            case Default() | Given():
                _rebound[key] = None
    return _rebound[key]


def why_changing(origin: Origin | None, held: Any) -> Problem | None:
    """Why a mutable object that was found there may change during a run."""
    if origin is None:
        return Problem("may be changed elsewhere")
    key = (origin, id(held), world())
    if key not in _changing:
        problem = why_rebound(origin) or _changing_object(origin, held)
        _changing[key] = (held, problem)
    return _changing[key][1]


def _changing_object(origin: Origin, held: Any) -> Problem | None:
    shallow = are_parts_immutable(held)
    match origin:
        case GlobalName():
            return _changing_global(origin, held, shallow)
        case Variable():
            return _changing_variable(origin, shallow)
        case Default():
            return _changing_default(origin, shallow)
        case ClassAttribute():
            return _changing_attribute(origin.cls, origin.name, shallow)
        case InstanceAttribute():
            return _changing_attribute(origin.cls, origin.name, shallow)
        case Given():
            return Problem("may be changed by whoever made it")


def are_parts_immutable(held: Any) -> bool:
    """Whether nothing inside a container can be changed."""
    if isinstance(held, dict | MappingProxyType):
        return all(_is_definitely_immutable(part) for pair in held.items() for part in pair)
    if isinstance(held, list | tuple | set | frozenset):
        return all(_is_definitely_immutable(part) for part in held)
    return False


def _is_definitely_immutable(part: Any) -> bool:
    kind = type(part)
    if kind in ATOM_TYPES or isinstance(part, type | FunctionType):
        return True
    if kind in (tuple, frozenset) or (isinstance(part, tuple) and hasattr(kind, "_fields")):
        return all(_is_definitely_immutable(inner) for inner in part)
    return False


# Globals --------------------------------------------------------------------------------------------------------


def _rebound_global(origin: GlobalName) -> Problem | None:
    namespace, name = origin.namespace, origin.name
    if not _is_known(namespace) and _is_stored_by_some_code(namespace, name):
        return Problem("is assigned by a function whose source is not known")
    for text in namespace.texts:
        for use in uses_of(text).globals[name]:
            if use.is_deferred and _is_store(use.node):
                return Problem("is assigned by a function", _location(use))
        for use in uses_of(text).dynamic:
            if use.is_deferred and _may_write_globals(use, name, namespace):
                return Problem("may be assigned by other means", _location(use))
    for other in neighbours(namespace):
        for text in other.texts:
            if name in text.text:
                for use in uses_of(text).attributes[name]:
                    if use.is_deferred and _is_store(use.node) and _may_be_module(use, other, namespace):
                        return Problem("is assigned from another place", _location(use))
    return None


def _changing_global(origin: GlobalName, held: Any, shallow: bool) -> Problem | None:
    if not _is_known(origin.namespace):
        return Problem("cannot be followed: not all of the source around it is known")
    group = [
        (namespace, name)
        for namespace in neighbours(origin.namespace)
        for name, value in list(namespace.names.items())
        if value is held
    ]
    for namespace, name in group:
        if not _is_known(namespace):
            return Problem("cannot be followed: not all of the source around it is known")
        for text in namespace.texts:
            reader = Reader(text, namespace.names, shallow)
            for use in uses_of(text).globals[name]:
                problem = _bad_use(use, reader, use.is_deferred, [n for _, n in group])
                if problem:
                    return problem
    names = {name for _, name in group}
    for namespace in neighbours(origin.namespace):
        for text in namespace.texts:
            reader = Reader(text, namespace.names, shallow)
            for name in sorted(names):
                for use in uses_of(text).attributes[name] if name in text.text else ():
                    if _may_be_module(use, namespace, origin.namespace):
                        problem = _bad_use(use, reader, use.is_deferred, [])
                        if problem:
                            return problem
    return None


def _bad_use(use: Use, reader: Reader, is_deferred: bool, aliases: list[str]) -> Problem | None:
    """What is wrong with one use of a container that is taken to be constant."""
    if _is_store(use.node):
        if is_deferred:
            return Problem("is assigned by a function", _location(use))
        return _bad_binding(use, reader, aliases)
    kind = reader.kind(use.node)
    if kind is Kind.CHANGES and is_deferred:
        return Problem("is changed", _location(use))
    if kind is Kind.ESCAPES and not _is_alias(use, aliases):
        return Problem("is handed on, so it may be changed elsewhere", _location(use))
    return None


def _is_alias(use: Use, aliases: list[str]) -> bool:
    """`B = A` at module level, where the uses of B are checked too."""
    match use.text.parents.get(use.node):
        case ast.Assign(targets=targets) if not use.is_deferred:
            return all(isinstance(target, ast.Name) and target.id in aliases for target in targets)
        case _:
            return False


def _bad_binding(use: Use, reader: Reader, aliases: list[str]) -> Problem | None:
    parent = use.text.parents.get(use.node)
    match use.node, parent:
        case ((ast.ImportFrom() | ast.Import()), _):
            return None
        case _, ast.AugAssign() | ast.Delete():
            return None
        case _, ast.Assign(value=value) | ast.AnnAssign(value=value):
            if isinstance(value, ast.Name) and value.id in aliases:
                return None
            if is_definitely_fresh(value, reader.names, reader.are_parts_immutable):
                return None
        case _:
            pass
    return Problem("may have another name, through which it is changed", _location(use))


def _is_known(namespace: Namespace) -> bool:
    return namespace.is_complete and all(text.is_python for text in namespace.texts)


def _is_store(node: ast.AST) -> bool:
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    return True  # a definition, an import, a captured name


def _location(use: Use) -> Location:
    return Location(use.text.file, getattr(use.node, "lineno", 1))


def _is_stored_by_some_code(namespace: Namespace, name: str) -> bool:
    codes: list[CodeType] = []
    for value in list(namespace.names.values()):
        members = list(vars(value).values()) if isinstance(value, type) else [value]
        codes += [m.__code__ for m in members if isinstance(m, FunctionType) and m.__globals__ is namespace.names]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if name in code.co_names and any(
            i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") and i.argval == name for i in dis.get_instructions(code)
        ):
            return True
    return False


def _may_write_globals(use: Use, name: str, namespace: Namespace) -> bool:
    """Whether `globals()`, `exec`, `setattr` and the like may write this global."""
    node = use.node
    parent = use.text.parents.get(node)
    match node:
        case ast.Call(func=ast.Name(id="globals")):
            match parent:
                case ast.Subscript(slice=ast.Constant(value=str(key))):
                    return key == name
                case _:
                    return True
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[ast.Constant(value=str(code)), *_]):
            return name in code
        case ast.Call(func=ast.Name(id="exec" | "eval")):
            return True
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, ast.Constant(value=str(key)), *_]):
            return key == name and _looks_like_module(target, namespace)
        case ast.Call(func=ast.Name(id="setattr" | "delattr" | "vars"), args=[target, *_]):
            return _looks_like_module(target, namespace)
        case ast.Attribute(value=target):
            return _looks_like_module(target, namespace)
        case _:
            return False


def _looks_like_module(node: ast.AST, namespace: Namespace) -> bool:
    if isinstance(resolve(node, namespace.names), type(sys)):
        return True
    words = {n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in ast.walk(node)}
    return bool(words & {"modules", "import_module", "__import__"})


def _may_be_module(use: Use, where: Namespace, module: Namespace) -> bool:
    """Whether the receiver of an attribute may be the module whose globals are `module`."""
    assert isinstance(use.node, ast.Attribute)
    receiver = use.node.value
    around = [scope_of(n) for n in use.text.enclosing(use.node) if isinstance(n, FUNCTIONS)]
    base = receiver
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and not any(base.id in scope.own for scope in around):
        found = resolve(receiver, where.names)
        if found is not None:
            return isinstance(found, type(sys)) and vars(found) is module.names
    if module.module is None:
        return False
    # A variable may hold the module only if somebody has it as an object.
    return any(
        any(value is module.module for value in list(other.names.values()))
        or any("sys.modules" in text.text or "import_module" in text.text for text in other.texts)
        for other in neighbours(module)
    )


# Variables of enclosing functions -------------------------------------------------------------------------------


def _owner(origin: Variable) -> tuple[SourceText, FunctionNode] | None:
    text = origin.home.text
    if text is None:
        return None
    for node in text.enclosing(origin.home.node):
        if isinstance(node, FUNCTIONS) and origin.name in scope_of(node).own:
            return text, node
    return None


def _rebound_variable(origin: Variable) -> Problem | None:
    found = _owner(origin)
    if found is None:
        return Problem("cannot be followed: the source around it is not known")
    text, owner = found
    if scope_of(owner).is_generator or scope_of(owner).is_asynchronous:
        return Problem("belongs to a generator, which may still run")
    stores = [use for use in uses_of(text).variables[owner, origin.name] if _is_store(use.node)]
    inner = [use for use in stores if use.function is not owner]
    if inner:
        return Problem("is assigned by a function", _location(inner[0]))
    if len(stores) + (origin.name in scope_of(owner).parameters) > 1:
        return Problem("is assigned more than once", _location(stores[-1]))
    for use in stores:
        if not _is_definitely_one_kind_of_value(use, text, owner):
            return Problem("is assigned in a loop", _location(use))
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


def _changing_variable(origin: Variable, shallow: bool) -> Problem | None:
    found = _owner(origin)
    if found is None:
        return Problem("cannot be followed: the source around it is not known")
    text, owner = found
    if origin.name in scope_of(owner).parameters and not _is_definitely_given_fresh(origin, text, owner, shallow):
        return Problem("was handed in, so it may be changed elsewhere", Location(text.file, owner.lineno))
    reader = Reader(text, origin.home.namespace, shallow)
    for use in uses_of(text).variables[owner, origin.name]:
        is_later = use.function is not owner or _is_in_generator_expression(use, text, owner)
        problem = _bad_use(use, reader, is_later, [])
        if problem:
            return problem
    return None


def _is_definitely_given_fresh(origin: Variable, text: SourceText, owner: FunctionNode, shallow: bool) -> bool:
    """Whether each call of a factory function in the program hands a new container to this parameter."""
    if isinstance(owner, ast.Lambda) or owner.decorator_list or not isinstance(text.parents.get(owner), ast.Module):
        return False
    namespace = namespace_of(origin.home.namespace)
    if not _is_known(namespace) or why_rebound(GlobalName(namespace, owner.name)):
        return False
    made = namespace.names.get(owner.name)
    calls = 0
    for other in neighbours(namespace):
        for name in [n for n, value in list(other.names.items()) if value is made]:
            for other_text in other.texts:
                for use in uses_of(other_text).globals[name]:
                    if _is_store(use.node):
                        continue
                    call = other_text.parents.get(use.node)
                    if not isinstance(call, ast.Call) or call.func is not use.node:
                        return False
                    calls += 1
                    if not is_definitely_fresh(_argument(call, owner, origin.name), other.names, shallow):
                        return False
        mentioning = [t for t in other.texts if owner.name in t.text and other is not namespace]
        if any(uses_of(t).attributes[owner.name] for t in mentioning):
            return False
    return calls > 0


def _argument(call: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
    """The expression that a call gives to a parameter."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    by_name = {k.arg: k.value for k in call.keywords}
    if name in by_name:
        return by_name[name]
    position = positional.index(name) if name in positional else len(call.args)
    return call.args[position] if position < len(call.args) else None


def _is_in_generator_expression(use: Use, text: SourceText, owner: FunctionNode) -> bool:
    node: ast.AST | None = use.node
    while node is not None and node is not owner:
        if isinstance(node, ast.GeneratorExp):
            return True
        node = text.parents.get(node)
    return False


# Defaults and attributes ----------------------------------------------------------------------------------------


def _changing_default(origin: Default, shallow: bool) -> Problem | None:
    text, node = origin.home.text, origin.home.node
    if text is None:
        return Problem("cannot be followed: its source is not known")
    positional = [*node.args.posonlyargs, *node.args.args]
    given = dict(zip(reversed([a.arg for a in positional]), reversed(node.args.defaults), strict=False))
    given |= {a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None}
    if not is_definitely_fresh(given.get(origin.name), origin.home.namespace, shallow):
        return Problem("may have another name, through which it is changed", origin.home.location)
    reader = Reader(text, origin.home.namespace, shallow)
    for use in uses_of(text).variables[node, origin.name]:
        if not _is_store(use.node) and reader.kind(use.node) is not Kind.READS:
            return Problem("is handed on or changed", _location(use))
    return None


def _changing_attribute(cls: type, name: str, shallow: bool) -> Problem | None:
    found = attribute_uses(cls, name)
    if found is None:
        return Problem("cannot be followed: not all of the source around it is known")
    is_bound = False
    for use, namespace, receiver in found:
        problem = None
        if not _is_store(use.node):
            problem = _bad_use(use, Reader(use.text, namespace.names, shallow), use.is_deferred, [])
        elif receiver is not Receiver.UNKNOWN:
            # That none of these run during a run was settled before; here it matters what is assigned.
            is_bound = True
            problem = _bad_binding(use, Reader(use.text, namespace.names, shallow), [])
        if problem:
            return problem
    module = namespace_of(vars(sys.modules[cls.__module__]))
    for text in module.texts:
        for base in cls.__mro__:
            for spelling in spellings(cls, name):
                for use in uses_of(text).class_names[base.__name__, spelling]:
                    is_bound |= _is_store(use.node)
                    # A class body runs where it stands, also inside a function.
                    problem = _bad_use(use, Reader(text, module.names, shallow), False, [])
                    if problem:
                        return problem
    return None if is_bound else Problem("cannot be followed: where it is assigned is not known")
