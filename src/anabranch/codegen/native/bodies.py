"""The body of a user's function as native code: its variables, its instance, and where its results go."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from anabranch.analysis.syntax import walk
from anabranch.codegen.inference import Typed
from anabranch.codegen.native import expressions
from anabranch.codegen.native.values import ALWAYS, NEVER, STORABLE, ZEROS, NotNative, Value
from anabranch.codegen.native.writer import Writer
from anabranch.codegen.types import Type
from anabranch.errors import Location

if TYPE_CHECKING:
    from anabranch.codegen.native.kernel import Kernel

T = TypeVar("T")
Emit = Callable[[str | None, Value, ast.AST], None]  # an output's name, or None for the only one

_MOST_INLINED = 12  # calls inside calls


@dataclass(eq=False)
class Instance:
    """`self`: the variables that hold its fields while a tuple is processed."""

    name: str
    fields: Mapping[str, Value]
    owner: Any = None  # the class, for its constants
    is_read_only: str = ""  # why fields cannot be assigned here


@dataclass(eq=False)
class Body:
    """One function while it is written; functions that it calls are written into the same lines."""

    kernel: Kernel
    typed: Typed
    arguments: Mapping[str, Value]
    emit: Emit | None = None
    instance: Instance | None = None
    depth: int = 0
    variables: dict[str, Value] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)  # definitely, on the way to here
    facts: set[str] = field(default_factory=set)  # conditions known to hold here

    def __post_init__(self) -> None:
        for name, value in self.arguments.items():
            self.assigned.add(name)
            if self._stores(name):
                self.variables[name] = self.variable(self.typed.variables.get(name, value.type), name, self.node)
                self.store(self.variables[name], value, self.node)
            else:
                self.variables[name] = value

    @property
    def writer(self) -> Writer:
        return self.kernel.writer

    @property
    def node(self) -> ast.FunctionDef | ast.Lambda:
        return self.typed.function.node

    def location(self, node: ast.AST) -> Location:
        return Location(self.typed.function.file, getattr(node, "lineno", self.node.lineno))

    # Names ------------------------------------------------------------------------------------------------------

    def is_local(self, name: str) -> bool:
        return name in self.arguments or name in self.typed.variables or self.is_instance_name(name)

    def is_instance_name(self, name: str) -> bool:
        return self.instance is not None and name == self.instance.name

    def is_instance(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self.is_instance_name(node.id)

    def name(self, name: str, node: ast.AST) -> Value:
        if self.is_instance_name(name):
            raise NotNative("passes `self` on", self.location(node))
        if name in self.variables:
            if name not in self.assigned:
                raise NotNative(f"may use `{name}` before it is assigned", self.location(node))
            return self.variables[name]
        if self.is_local(name):
            raise NotNative(f"may use `{name}` before it is assigned", self.location(node))
        constants = self.typed.function.constants
        if name not in constants:
            raise NotNative(f"uses `{name}`, which is not constant", self.location(node))
        return self.constant(constants[name], node)

    def constant(self, value: Any, node: ast.AST) -> Value:
        return expressions.constant(self, value, node)

    def field(self, name: str, node: ast.AST) -> Value:
        assert self.instance is not None
        name = self.typed.function.mangled(name)
        if name in self.instance.fields:
            return self.instance.fields[name]
        bound = self.typed.function.bound
        owner = bound if bound is not None else self.instance.owner
        if hasattr(owner, name):
            return self.constant(getattr(owner, name), node)
        raise NotNative(f"uses `self.{name}`", self.location(node))

    def member(self, value: Value, name: str, node: ast.AST) -> Value:
        found = self.there(value, node)
        if found.members is None or name not in found.members:
            raise NotNative(f"uses `.{name}` of {value.type}", self.location(node))
        return found.members[name]

    def member_at(self, value: Value, at: int, node: ast.AST) -> Value:
        found = self.there(value, node)
        if found.members is None or not -len(found.members) <= at < len(found.members):
            raise NotNative(f"uses `[{at}]` of {value.type}", self.location(node))
        return list(found.members.values())[at]

    def there(self, value: Value, node: ast.AST) -> Value:
        """The value of an optional that must not be None here: where it is, Python raises."""
        if value.type.kind == "none":
            raise NotNative("computes with None", self.location(node))
        if value.has != ALWAYS and value.has not in self.facts:
            self.kernel.check(expressions.negated(value.has))
        return value.present()

    # Variables --------------------------------------------------------------------------------------------------

    def variable(self, kind: Type, hint: str, node: ast.AST) -> Value:
        """A new variable: one name for each number, text and flag in it."""
        has = self.writer.fresh(f"{hint}_has") if kind.optional else ALWAYS
        if kind.kind == "tuple":
            members = {name: self.variable(each, f"{hint}_{name}", node) for name, each in kind.members}
            return Value(kind, has=has, members=members)
        if kind.kind == "none":
            return Value(kind, "0", NEVER)
        if kind.kind not in STORABLE:
            raise NotNative(f"keeps a {kind.kind} in `{hint}`", self.location(node))
        return Value(kind.varying(), self.writer.fresh(hint), has)

    def store(self, target: Value, value: Value, node: ast.AST) -> None:
        """Assign a value to the names of a variable, as if at once: `p = P(p.y, p.x)` reads all of p before."""
        names = list(_names(target))
        if len(names) > 1 and any(name in names for name in _names_read(value)):
            value = self.kept(value)
        self._store(target, value, node)

    def _store(self, target: Value, value: Value, node: ast.AST) -> None:
        if target.type.kind == "none":
            return
        if target.has != ALWAYS:
            self.writer.line(f"{target.has} = {value.has}")
            self.facts.discard(target.has)
        elif value.has != ALWAYS and not target.type.optional:  # an optional without a flag is never read
            value = self.there(value, node)
        if value.type.kind == "none":
            self.clear(target)
            return
        if target.members is not None:
            if value.members is None:
                raise NotNative(f"keeps a nested tuple, {value.type}", self.location(node))
            for name, member in target.members.items():
                self._store(member, value.members[name], node)
        elif not target.is_stable:  # else it is a field that nobody reads
            self.writer.line(f"{target.code} = {self.code_of(expressions.as_type(self, value, target.type, node))}")

    def clear(self, target: Value) -> None:
        """What stands beside a None has some value too, so that every variable has one on every way."""
        for member in (target.members or {"": target}).values():
            if member.has not in (ALWAYS, NEVER):
                self.writer.line(f"{member.has} = False")
            if member.members is not None:
                self.clear(member)
            elif not member.is_stable and member.type.kind in STORABLE:
                self.writer.line(f"{member.code} = {ZEROS[member.type.kind]}")

    def code_of(self, value: Value) -> str:
        """A number, or the number of a text in the pool."""
        return self.kernel.text_number(value) if value.type.kind == "str" else value.code

    def kept(self, value: Value, position: int | None = None, hint: str = "kept") -> Value:
        """The value as it is now, whatever is assigned later; lines go to `position`, or to the end."""
        if value.is_stable or value.column is not None or value.type.kind == "none":
            return value
        if value.members is not None:
            members = {name: self.kept(each, position, f"{hint}_{name}") for name, each in value.members.items()}
            return replace(value, members=members, has=self._kept_code(value.has, position, hint), is_stable=True)
        has = self._kept_code(value.has, position, f"{hint}_has")
        return replace(value, code=self._kept_code(value.code, position, hint), has=has, is_stable=True)

    def _kept_code(self, code: str, position: int | None, hint: str) -> str:
        if code in (ALWAYS, NEVER, ""):
            return code
        name = self.writer.fresh(hint)
        if position is None:
            self.writer.line(f"{name} = {code}")
        else:
            self.writer.insert(position, f"{name} = {code}")
        return name

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                if name in self.variables:
                    self.store(self.variables[name], value, target)
                elif self._stores(name) == 1:
                    self.variables[name] = self.kept(value, hint=name)
                else:
                    kind = self.typed.variables.get(name, value.type)
                    if not kind.is_known:
                        raise NotNative(f"`{name}` holds values of several types", self.location(target))
                    self.variables[name] = self.variable(kind, name, target)
                    self.store(self.variables[name], value, target)
                self.assigned.add(name)
            case ast.Attribute(value=owner, attr=attr) if self.is_instance(owner):
                assert self.instance is not None
                if self.instance.is_read_only:
                    raise NotNative(self.instance.is_read_only, self.location(target))
                name = self.typed.function.mangled(attr)
                if name not in self.instance.fields:
                    raise NotNative(f"assigns `self.{attr}`", self.location(target))
                self.store(self.instance.fields[name], value, target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                whole = self.there(value, target)
                if whole.members is None or len(whole.members) != len(elements):
                    raise NotNative(f"unpacks {value.type}", self.location(target))
                parts = [self.kept(part) for part in whole.members.values()]
                for element, part in zip(elements, parts, strict=True):
                    self.assign(element, part)
            case _:
                raise NotNative(f"assigns `{ast.unparse(target)}`", self.location(target))

    def _stores(self, name: str) -> int:
        """How often a name is assigned in the function; what is assigned in a loop counts as often."""
        return _store_counts(self.node).get(name, 0)

    # Knowledge --------------------------------------------------------------------------------------------------

    @contextmanager
    def branch(self, header: str, condition: str = ALWAYS) -> Iterator[None]:
        """A block in which a condition holds."""
        facts, assigned = set(self.facts), set(self.assigned)
        self.facts |= set(_conjuncts(condition))
        with self.writer.block(header):
            yield
        self.facts &= facts
        self.assigned = assigned

    @contextmanager
    def assuming(self, condition: str) -> Iterator[None]:
        """What is written inside is only evaluated where a condition holds."""
        facts = set(self.facts)
        self.facts |= set(_conjuncts(condition))
        yield
        self.facts &= facts

    def captured(self, evaluate: Callable[[], T]) -> tuple[list[str], T]:
        """A value, and the lines it needs, which are to stand in a block of their own."""
        writer = self.writer
        lines, writer.lines = writer.lines, []
        writer.depth += 1
        value = evaluate()
        writer.depth -= 1
        captured, writer.lines = writer.lines, lines
        return captured, value

    # Calls ------------------------------------------------------------------------------------------------------

    def inline(self, typed: Typed, values: list[Value], node: ast.Call) -> Value:
        """Write a called function here; the value is what it returns."""
        from anabranch.codegen.native import statements

        if self.depth >= _MOST_INLINED:
            raise NotNative(f"calls {ast.unparse(node.func)}, too deep to be followed", self.location(node))
        if typed.is_generator:
            raise NotNative(f"iterates over {ast.unparse(node.func)}", self.location(node))
        function = typed.function
        is_method = self.instance is not None and function.is_method
        if function.bound is not None and not is_method:
            raise NotNative(f"calls {ast.unparse(node.func)}, a method of an object", self.location(node))
        arguments = {}
        for name, value in zip(function.free_parameters, values, strict=True):
            arguments[name] = self.kept(value, hint=name) if is_method or _is_compound(value) else value
        instance = None
        if is_method:
            assert self.instance is not None
            instance = replace(self.instance, name=function.parameters[0])
        inner = Body(self.kernel, typed, arguments, None, instance, self.depth + 1, facts=set(self.facts))
        result = statements.result_of(inner)
        self.facts &= inner.facts
        return result


def _names(variable: Value) -> Iterator[str]:
    """All names of a variable."""
    if variable.members is not None:
        for member in variable.members.values():
            yield from _names(member)
    yield from (code for code in (variable.code, variable.has) if code.isidentifier() and code != ALWAYS)


def _names_read(value: Value) -> Iterator[str]:
    if value.members is not None:
        for member in value.members.values():
            yield from _names_read(member)
    yield from re.findall(r"[A-Za-z_]\w*", f"{value.code} {value.has}")


def _is_compound(value: Value) -> bool:
    return value.members is None and any(mark in value.code for mark in " (")


_counts: dict[ast.AST, dict[str, int]] = {}


def _store_counts(node: ast.FunctionDef | ast.Lambda) -> dict[str, int]:
    known = _counts.get(node)
    if known is None:
        known = {}
        for child in walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                known[child.id] = known.get(child.id, 0) + 1
            elif isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name):
                known[child.target.id] = known.get(child.target.id, 0) + 1
            elif isinstance(child, ast.While | ast.For):
                for inner in walk(child):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        known[inner.id] = known.get(inner.id, 0) + 1
        _counts[node] = known
    return known


@lru_cache(maxsize=4096)
def _conjuncts(condition: str) -> tuple[str, ...]:
    """The conditions of which all hold where this one does."""
    if condition in (ALWAYS, NEVER):
        return ()
    if condition.isidentifier():
        return (condition,)
    tree = ast.parse(condition, mode="eval").body
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return tuple(part for value in tree.values for part in _conjuncts(ast.unparse(value)))
    return (ast.unparse(tree),)
