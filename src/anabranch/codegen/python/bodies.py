"""User code inside other code: its statements with new names, `yield` and `return` replaced by what comes next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from anabranch.analysis.scopes import scope_of
from anabranch.codegen.python.expressions import Expressions
from anabranch.codegen.python.inlines import Inline, NotInline
from anabranch.codegen.python.items import Item
from anabranch.codegen.python.lines import Lines, joined
from anabranch.codegen.python.names import Names
from anabranch.errors import Location

Local = Item | str  # what a parameter stands for
Emit = Callable[["Body", ast.expr], None]  # writes what becomes of a value that is yielded or returned
AtEnd = Callable[[], None]


class Body(Expressions):
    """One place at which a function is written into other code."""

    def __init__(
        self,
        code: Inline,
        arguments: Sequence[Local],
        lines: Lines,
        names: Names,
        instance: str | None = None,
        depth: int = 0,
        fields: Mapping[str, str] | None = None,
        keep: str | None = None,
    ) -> None:
        """`fields` stand for the attributes of the instance; after each change of one, the line `keep` is due."""
        super().__init__(code, lines, names, depth)
        self.fields = fields or {}
        self._keep = keep
        if code.instance is not None:
            self.locals[code.instance] = instance or names.constant(code.function.bound, "instance")
        stored = _stored(code.body)
        for name, argument in zip(code.parameters, arguments, strict=True):
            self.locals[name] = self._rebindable(name, argument) if name in stored else argument
        for name in sorted(scope_of(code.function.node).own):
            if name not in self.locals and name not in code.function.constants:
                self.locals[name] = names.new(name)

    def _rebindable(self, name: str, argument: Local) -> str:
        fresh = self.names.new(name)
        self.lines.add(f"{fresh} = {argument if isinstance(argument, str) else argument.tuple(self.lines, self.names)}")
        return fresh

    def write(self, emit: Emit, at_return: Emit, at_end: AtEnd = lambda: None) -> None:
        """The body: `emit` writes what a yielded value becomes, `at_return` a returned one, `at_end` its lack."""
        self._emit, self._at_return = emit, at_return
        self._block(self.code.body, at_end)

    def _block(self, body: Sequence[ast.stmt], at_end: AtEnd | None) -> None:
        """`at_end` is given where the function ends with the block."""
        for number, statement in enumerate(body):
            self.is_calm = True
            with self.lines.at(self.lines.place, self._location(statement)):
                ends_here = at_end if number == len(body) - 1 else None
                if self._statement(statement, ends_here):
                    return
        if at_end is not None:
            at_end()

    def _statement(self, statement: ast.stmt, at_end: AtEnd | None) -> bool:
        """True where it has taken care of the function's end."""
        match statement:
            case ast.Return(value=None):
                assert at_end is not None
                at_end()
                return True
            case ast.Return(value=ast.expr() as value):
                self._at_return(self, value)
                return True
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                self._emit(self, value)
            case ast.Expr(value=ast.YieldFrom(value=value)):
                self._yield_from(value)
            case ast.If(test=test, body=then, orelse=otherwise):
                condition = self.expression(test)
                with self._forked(), self.lines.block("if ", condition, ":"):
                    self.present |= self.present_if(test)
                    self._block(then, at_end)
                if otherwise or at_end is not None:
                    with self._forked(), self.lines.block("else:"):
                        self._block(otherwise, at_end)
                self._forget([*then, *otherwise])
                return at_end is not None
            case ast.While(test=test, body=then, orelse=otherwise):
                self.is_calm = False  # it is evaluated again and again: nothing may move out of it
                self._forget([statement])
                with self._forked(), self.lines.block("while ", self.expression(test), ":"):
                    self._block(then, None)
                self._else(otherwise)
            case ast.For(target=target, iter=iter_, body=then, orelse=otherwise):
                sequence = self.expression(iter_)
                self._forget([statement])
                if self._changes_a_field(target):
                    raise NotInline
                with self._forked(), self.lines.block("for ", self.expression(target), " in ", sequence, ":"):
                    self._block(then, None)
                self._else(otherwise)
            case ast.AnnAssign(value=None) | ast.Pass():
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._simple(ast.copy_location(ast.Assign([target], value), statement))
            case _:
                self._simple(statement)
        return False

    def _simple(self, statement: ast.stmt) -> None:
        self.lines.add(self.simple(statement))
        self._forget([statement])
        if self._keep is not None and self._changes_a_field(statement):
            self.lines.add(self._keep)

    def _changes_a_field(self, where: ast.AST) -> bool:
        nodes = [node for node in ast.walk(where) if isinstance(node, ast.Attribute)]
        return any(isinstance(node.ctx, ast.Store) and self._text_of(node) is not None for node in nodes)

    def _forget(self, body: Sequence[ast.stmt]) -> None:
        """What is assigned may be None again."""
        nodes = [node for statement in body for node in ast.walk(statement)]
        stored = [n for n in nodes if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store)]
        self.present -= {self._text_of(node) for node in stored}

    def _else(self, otherwise: list[ast.stmt]) -> None:
        if otherwise:
            with self._forked(), self.lines.block("else:"):
                self._block(otherwise, None)

    def _yield_from(self, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple | ast.List):
            held = []
            for element in value.elts:  # all are made before the first goes on
                self.is_calm = True
                held.append(self.names.new("item"))
                self.lines.add(joined(f"{held[-1]} = ", self.expression(element)))
            for name in held:
                self._emit_name(name, value)
            return
        name = self.names.new("item")
        with self._forked(), self.lines.block(f"for {name} in ", self.expression(value), ":"):
            self._emit_name(name, value)

    def _emit_name(self, name: str, where: ast.expr) -> None:
        """Emit what a local of the generated code holds."""
        self.locals[name] = name
        self._emit(self, ast.copy_location(ast.Name(name, ast.Load()), where))

    @contextmanager
    def _forked(self) -> Iterator[None]:
        outer, present = self.locals, self.present
        self.locals = {name: held if isinstance(held, str) else held.fork() for name, held in outer.items()}
        try:
            yield
        finally:
            self.locals, self.present = outer, present

    def _location(self, node: ast.AST) -> Location:
        return self.code.function.location(node)


def _stored(body: Sequence[ast.stmt]) -> frozenset[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
