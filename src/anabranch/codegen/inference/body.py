"""One function body on the way to its types: what is known of its variables, and its statements.

Types do not follow the flow of control: a variable has one type, the join of all that is assigned to it. So the body
is gone through until nothing changes. Whether a variable certainly has a value where it is read does follow the flow.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from anabranch.analysis.scopes import scope_of
from anabranch.codegen.functions import Refusal, UserFunction
from anabranch.codegen.inference import expressions
from anabranch.codegen.inference.fields import Fields
from anabranch.codegen.inference.joins import (
    EMISSIONS,
    INSTANCE,
    NOTHING,
    OBJECT,
    described,
    is_loose,
    join,
    published,
)
from anabranch.codegen.inference.model import Called, Typed
from anabranch.codegen.types import INT, NONE, UNKNOWN, Type

_MOST_PASSES = 40
Names = frozenset[str]


@dataclass(eq=False)
class Body:
    function: UserFunction
    given: dict[str, Type]  # the parameters that a caller fills
    fields: Fields | None = None  # of the instance whose method this is
    stack: tuple[FunctionType, ...] = ()  # the functions that called this one
    variables: dict[str, Type] = field(default_factory=dict)
    types: dict[ast.expr, Type] = field(default_factory=dict)
    values: dict[ast.expr, Any] = field(default_factory=dict)
    calls: dict[ast.Call, Called] = field(default_factory=dict)
    result: Type = NOTHING
    # What was found in this pass, and what the joins of variables found in any.
    found: dict[Refusal, None] = field(default_factory=dict)
    conflicts: dict[str, Refusal] = field(default_factory=dict)
    # The variables that certainly have a value here; None where no path leads.
    assigned: Names | None = frozenset()
    breaks: list[list[Names | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.constants = dict(self.function.constants)
        self.self_name = self.function.parameters[0] if self.fields is not None else None
        if self.function.bound is not None:
            self.constants[self.function.parameters[0]] = self.function.bound
        scope = scope_of(self.function.node)
        self.is_generator = scope.is_generator
        self.changed_inside = scope.rebound_inside

    def problem(self, reason: str, node: ast.AST) -> Type:
        self.found[Refusal(reason, self.function.location(node))] = None
        return UNKNOWN

    def why_unknown(self, attr: str) -> None:
        """Say why the type of `self.attr` is not known."""
        assert self.fields is not None
        reason = self.fields.problems.get(self.function.mangled(attr))
        if reason is not None:
            self.found[reason] = None

    # Passes -----------------------------------------------------------------------------------------------------

    def solve(self) -> Typed:
        self.variables = dict(self.given)
        for _ in range(_MOST_PASSES):
            before = dict(self.variables)
            self._pass()
            if self.variables == before:
                break
        else:
            self.problem("is too large to be followed", self.function.node)
        return self._typed()

    def _pass(self) -> None:
        self.types, self.values, self.calls, self.found = {}, {}, {}, {}
        self.result = NOTHING
        self.assigned = frozenset(self.given)
        for name in sorted(self.changed_inside):
            self.assign_name(name, UNKNOWN, self.function.node)
        node = self.function.node
        if isinstance(node, ast.Lambda):
            self._return(node.body, node.body)
        else:
            self.block(node.body)
            if self.assigned is not None:
                self.result = join(self.result, NONE)

    def _typed(self) -> Typed:
        # The types of a body are few objects, used for many nodes.
        distinct = {id(kind): kind for kind in self.types.values()}
        final = {key: published(kind) for key, kind in distinct.items()}
        loose = {key for key, kind in distinct.items() if is_loose(kind)}
        result = NONE if self.is_generator else published(self.result)
        problems = {**self.found, **dict.fromkeys(self.conflicts.values())}
        if not problems:
            problems = self._unexplained([key for key, kind in final.items() if not kind.is_known], result)
        parameters = dict(self.given)
        if self.self_name is not None:
            parameters = {self.self_name: INSTANCE, **parameters}
        elif self.function.bound is not None:
            parameters = {self.function.parameters[0]: OBJECT, **parameters}
        return Typed(
            self.function,
            {name: published(kind) for name, kind in parameters.items()},
            {node: final[id(kind)] for node, kind in self.types.items()},
            {name: published(kind) for name, kind in self.variables.items()},
            self.calls,
            result,
            self.is_generator,
            tuple(problems),
            self.values,
            dict.fromkeys(node for node, kind in self.types.items() if id(kind) in loose),
        )

    def _unexplained(self, unknown: list[int], result: Type) -> dict[Refusal, None]:
        """A problem for what has no type although nothing was found to be wrong, so that nobody relies on it."""
        for node, kind in self.types.items():
            if id(kind) in unknown:
                reason = f"has a value of unknown type, `{ast.unparse(node)}`"
                return {Refusal(reason, self.function.location(node)): None}
        if not result.is_known:
            return {Refusal("returns values of different types", self.function.location(self.function.node)): None}
        return {}

    # Variables --------------------------------------------------------------------------------------------------

    def read_name(self, node: ast.Name) -> Type:
        if self.assigned is not None and node.id not in self.assigned:
            self.problem(f"may read `{node.id}` before it has a value", node)
        return self.variables.get(node.id, NOTHING)

    def assign_name(self, name: str, kind: Type, node: ast.AST) -> None:
        if name in self.constants:
            self.problem(f"assigns `{name}`", node)
            return
        known = self.variables.get(name, NOTHING)
        joined = join(known, kind)
        if not joined.is_known and known.is_known and kind.is_known:
            reason = f"keeps {described(known)} or {described(kind)} in `{name}`"
            self.conflicts.setdefault(name, Refusal(reason, self.function.location(node)))
        self.variables[name] = joined
        if self.assigned is not None:
            self.assigned |= {name}

    def assign(self, target: ast.expr, kind: Type) -> None:
        match target:
            case ast.Name(id=name):
                self.assign_name(name, kind, target)
                self.types[target] = self.variables.get(name, kind)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(target, targets, kind)
            case ast.Attribute(value=ast.Name(id=name) as owner, attr=attr) if name == self.self_name:
                assert self.fields is not None
                self.types[owner] = INSTANCE
                attr = self.function.mangled(attr)
                self.fields.assign(attr, kind, self.function.location(target))
                self.types[target] = self.fields.types.get(attr, kind)
            case ast.Starred(value=inner):
                self.problem("unpacks with `*`", target)
                self.assign(inner, UNKNOWN)
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                self.problem(f"changes `{ast.unparse(value)}`", target)
                self.types[target] = UNKNOWN
            case _:
                self.problem(f"assigns `{ast.unparse(target)}`", target)

    def _unpack(self, target: ast.expr, targets: list[ast.expr], kind: Type) -> None:
        self.types[target] = kind
        parts = [each for _, each in kind.members]
        if kind.kind != "tuple" or len(parts) != len(targets):
            if kind.kind not in ("unknown", "nothing"):
                self.problem(f"unpacks {described(kind)}", target)
            parts = [kind if kind.kind == "nothing" else UNKNOWN] * len(targets)
        for each, part in zip(targets, parts, strict=True):
            self.assign(each, part)

    # Statements -------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=value):
                self._expression_statement(value)
            case ast.Assign(targets=targets, value=value):
                kind = expressions.expression(self, value)
                for target in targets:
                    self.assign(target, kind)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, expressions.expression(self, value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.If(test=test, body=then, orelse=otherwise):
                expressions.condition(self, test)
                self._branches([then, otherwise])
            case ast.While():
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Return(value=value):
                if value is None:
                    self.result = join(self.result, NONE)
                else:
                    self._return(value, node)
                self.assigned = None
            case ast.Break() | ast.Continue():
                if isinstance(node, ast.Break):
                    self.breaks[-1].append(self.assigned)
                self.assigned = None
            case ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._other(node)

    def _expression_statement(self, value: ast.expr) -> None:
        match value:
            case ast.Constant(value=str()):
                return  # a docstring
            case ast.Yield():
                expressions.emitted(self, value.value, value)
                self.types[value] = NONE
            case ast.YieldFrom(value=ast.List(elts=parts) | ast.Tuple(elts=parts) as display):
                for part in parts:
                    expressions.emitted(self, part, part)
                self.types[display], self.types[value] = EMISSIONS, NONE
            case ast.YieldFrom(value=inner):
                expressions.several(self, inner)
                self.types[value] = NONE
            case _:
                expressions.expression(self, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name) and target.id not in self.constants:
            now = self.read_name(target)
        elif isinstance(target, ast.Attribute):
            now = expressions.attribute(self, target)
        else:
            now = UNKNOWN
        kind = expressions.binary(self, node.op, now, expressions.expression(self, node.value), node)
        self.assign(target, kind)

    def _branches(self, branches: list[list[ast.stmt]]) -> None:
        before = self.assigned
        after: list[Names | None] = []
        for branch in branches:
            self.assigned = before
            self.block(branch)
            after.append(self.assigned)
        self.assigned = _meet(after)

    def _while(self, node: ast.While) -> None:
        expressions.condition(self, node.test)
        is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self._loop(node, None if is_endless else self.assigned)

    def _for(self, node: ast.For) -> None:
        kind = expressions.iterated(self, node.iter)
        before = self.assigned
        if kind == INT and not isinstance(node.target, ast.Name):
            self.problem("unpacks a number", node.target)
        self.assign(node.target, kind)
        self._loop(node, before)

    def _loop(self, node: ast.For | ast.While, unentered: Names | None) -> None:
        """The body of a loop; `unentered` is what is assigned where its condition fails at once."""
        self.breaks.append([])
        self.block(node.body)
        if node.orelse:
            self.problem("uses `else` of a loop", node.orelse[0])
            self.assigned = unentered
            self.block(node.orelse)
            unentered = self.assigned
        self.assigned = _meet([unentered, *self.breaks.pop()])

    def _return(self, value: ast.expr, node: ast.AST) -> None:
        if self.is_generator:
            expressions.expression(self, value)
            return
        kind = expressions.returned(self, value)
        joined = join(self.result, kind)
        if not joined.is_known and self.result.is_known and kind.is_known:
            self.problem(f"returns {described(self.result)} or {described(kind)}", node)
        self.result = joined

    def _other(self, node: ast.stmt) -> None:
        """What native code does not know; the rest is typed for the Python form as far as it goes."""
        name = _STATEMENTS.get(type(node), type(node).__name__.lower())
        self.problem(f"uses `{name}`", node)
        before = self.assigned
        match node:
            case ast.Raise(exc=exc):
                if exc is not None:
                    self.types[exc] = UNKNOWN
                self.assigned = None
            case ast.Assert(test=test):
                expressions.condition(self, test)
            case ast.With(items=items, body=inner):
                for item in items:
                    expressions.expression(self, item.context_expr)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, UNKNOWN)
                self.block(inner)
            case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
                for handler in handlers:
                    if handler.name is not None:
                        self.assign_name(handler.name, UNKNOWN, handler)
                self._branches([inner + orelse, *(handler.body for handler in handlers)])
                self.assigned = before
                self.block(final)
            case ast.Match(subject=subject, cases=cases):
                expressions.expression(self, subject)
                for bound in _names_in_patterns(cases):
                    self.assign_name(bound, UNKNOWN, node)
                self._branches([case.body for case in cases])
                self.assigned = before
            case ast.FunctionDef() | ast.ClassDef():
                self.assign_name(node.name, UNKNOWN, node)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    self.assign_name((alias.asname or alias.name).split(".")[0], UNKNOWN, node)
            case _:
                pass


_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "def",
    ast.ClassDef: "class",
    ast.Delete: "del",
    ast.ImportFrom: "import",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.TryStar: "try",
}


def _meet(paths: list[Names | None]) -> Names | None:
    """What is assigned where several paths meet."""
    reached = [names for names in paths if names is not None]
    return frozenset.intersection(*reached) if reached else None


def _names_in_patterns(cases: list[ast.match_case]) -> list[str]:
    found: list[str] = []
    for child in (node for case in cases for node in ast.walk(case.pattern)):
        match child:
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.append(name)
            case _:
                pass
    return found
