"""Statements of user code as native code. A `return` in the middle becomes the shape of the `if`s around it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from anabranch.analysis.syntax import walk
from anabranch.codegen.inference import To
from anabranch.codegen.native import expressions, operators_on_numbers
from anabranch.codegen.native.bodies import Body
from anabranch.codegen.native.values import ALWAYS, NEVER, NotNative, Value, none
from anabranch.codegen.types import INT

Return = Callable[[ast.expr | None, ast.AST], None]
_FAR = 2**61


def result_of(body: Body) -> Value:
    """Write a function and give the value it returns."""
    node = body.node
    if isinstance(node, ast.Lambda):
        return expressions.lower(body, node.body)
    statements = _without_docstring(node.body)
    if len(_returns(statements)) == 1 and isinstance(statements[-1], ast.Return):
        _block(body, statements[:-1], _never)
        last = statements[-1].value
        return expressions.lower(body, last) if last is not None else none()
    result = body.variable(body.typed.result, "result", node)

    def store(value: ast.expr | None, at: ast.AST) -> None:
        body.store(result, expressions.lower(body, value) if value is not None else none(), at)

    if result.has != ALWAYS:
        body.writer.line(f"{result.has} = False")
        body.clear(result)
    _block(body, statements, store)
    return result


def emissions_of(body: Body, *, is_many: bool) -> None:
    """Write a function whose results are emitted: yielded, returned one by one, or (`is_many`) as a display."""
    node = body.node
    if isinstance(node, ast.Lambda):
        _emit_result(body, node.body, node)
        return
    if body.typed.is_generator:
        _block(body, _without_docstring(node.body), _no_value)
        return
    _block(body, _without_docstring(node.body), lambda value, at: _emit_result(body, value, at))


def _never(value: ast.expr | None, at: ast.AST) -> None:
    raise AssertionError("the only return is at the end")


def _no_value(value: ast.expr | None, at: ast.AST) -> None:
    """A generator's return only ends it."""


def _without_docstring(statements: list[ast.stmt]) -> list[ast.stmt]:
    match statements:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return statements


# Emissions ------------------------------------------------------------------------------------------------------


def _emit_result(body: Body, value: ast.expr | None, at: ast.AST) -> None:
    """What a function that is no generator returns: nothing, a tuple, or a display of tuples."""
    match value:
        case None | ast.Constant(value=None):
            return
        case ast.List(elts=elements):
            for element in elements:
                _emit(body, element)
        case ast.Tuple(elts=elements):
            for element in elements:
                _emit(body, element)
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            condition = expressions.truth(body, expressions.lower(body, test), at)
            with body.branch(f"if {condition}:", condition):
                _emit_result(body, then, at)
            with body.branch("else:"):
                _emit_result(body, otherwise, at)
        case _:
            _emit(body, value, may_be_none=True)


def _emit(body: Body, node: ast.expr, *, may_be_none: bool = False) -> None:
    """A tuple goes out. A function may return None, which is nothing; to yield it is an error."""
    assert body.emit is not None
    output = None
    called = body.typed.calls.get(node) if isinstance(node, ast.Call) else None
    if isinstance(called, To):
        output, node = called.output, called.item
        may_be_none = False
    value = expressions.lower(body, node)
    if may_be_none and value.type.kind == "none":
        return
    if may_be_none and value.has != ALWAYS and value.has not in body.facts:
        with body.branch(f"if {value.has}:", value.has):
            body.emit(output, value.present(), node)
        return
    body.emit(output, body.there(value, node), node)


# Statements -----------------------------------------------------------------------------------------------------


def _block(body: Body, statements: Sequence[ast.stmt], give: Return) -> None:
    """Write statements; whatever follows a return on a way is not on that way."""
    for at, statement in enumerate(statements):
        rest = list(statements[at + 1 :])
        match statement:
            case ast.Return(value=value):
                give(value, statement)
                return
            case ast.If() if _returns([statement]):
                _if_with_return(body, statement, rest, give)
                return
            case ast.While() | ast.For() if _returns([statement]):
                raise NotNative("returns from within a loop", body.location(statement))
            case _:
                _statement(body, statement, give)


def _if_with_return(body: Body, node: ast.If, rest: list[ast.stmt], give: Return) -> None:
    """The rest of the function goes into the branches that do not return."""
    if not (_always_returns(node.body) or _always_returns(node.orelse)) and rest:
        raise NotNative("may return from within nested conditions and go on otherwise", body.location(node))
    condition = expressions.truth(body, expressions.lower(body, node.test), node)
    then = list(node.body) if _always_returns(node.body) else [*node.body, *rest]
    otherwise = list(node.orelse) if _always_returns(node.orelse) else [*node.orelse, *rest]
    if condition in (ALWAYS, NEVER):
        _block(body, then if condition == ALWAYS else otherwise, give)
        return
    with body.branch(f"if {condition}:", condition):
        _block(body, then, give)
    if otherwise:
        with body.branch("else:", expressions.negated(condition)):
            _block(body, otherwise, give)


def _statement(body: Body, node: ast.stmt, give: Return) -> None:
    match node:
        case ast.Pass():
            pass
        case ast.Assign(targets=targets, value=value):
            found = expressions.lower(body, value)
            if len(targets) > 1:
                found = body.kept(found)
            for target in targets:
                body.assign(target, found)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                body.assign(target, expressions.lower(body, value))
        case ast.AugAssign(target=target, op=op, value=value):
            load = ast.copy_location(_as_load(target), node)
            one = expressions.lower(body, load)
            position = body.writer.position
            other = expressions.lower(body, value)
            if body.writer.position > position:
                one = body.kept(one, position)
            body.assign(target, operators_on_numbers.binary(body, op, one, other, node))
        case ast.If():
            _if(body, node, give)
        case ast.While() | ast.For():
            _loop(body, node, give)
        case ast.Break():
            body.writer.line("break")
        case ast.Continue():
            body.writer.line("continue")
        case ast.Expr(value=ast.Yield(value=value)):
            if value is None:
                raise NotNative("yields None", body.location(node))
            _emit(body, value)
        case ast.Expr(value=ast.YieldFrom(value=ast.List(elts=elements) | ast.Tuple(elts=elements))):
            for element in elements:
                _emit(body, element)
        case ast.Expr(value=ast.Constant()):
            pass
        case ast.Expr(value=value):
            expressions.lower(body, value)
        case _:
            words = type(node).__name__.lower()
            raise NotNative(f"has a statement `{words}`", body.location(node))


def _if(body: Body, node: ast.If, give: Return) -> None:
    condition = expressions.truth(body, expressions.lower(body, node.test), node)
    if condition in (ALWAYS, NEVER):
        _block(body, node.body if condition == ALWAYS else node.orelse, give)
        return
    before = set(body.assigned)
    after: list[set[str]] = []
    with body.branch(f"if {condition}:", condition):
        _block(body, node.body, give)
        after.append(set(body.assigned))
    after.append(before)
    if node.orelse:
        with body.branch("else:", expressions.negated(condition)):
            _block(body, node.orelse, give)
            after[1] = set(body.assigned)
    body.assigned = after[0] & after[1]


def _loop(body: Body, node: ast.While | ast.For, give: Return) -> None:
    """A loop stops once the tuple will not be finished here: its values may be wrong by then, and it never end."""
    if node.orelse:
        raise NotNative("has a loop with `else`", body.location(node))
    body.facts.clear()
    with body.kernel.in_loop():
        if isinstance(node, ast.While):
            with body.branch("while not bad and full == 0:"):
                condition = expressions.truth(body, expressions.lower(body, node.test), node)
                body.writer.line(f"if {expressions.negated(condition)}: break")
                _block(body, node.body, give)
        else:
            _for_range(body, node, give)
    body.facts.clear()


def _for_range(body: Body, node: ast.For, give: Return) -> None:
    match node:
        case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[])):
            pass
        case _:
            raise NotNative(f"iterates over `{ast.unparse(node.iter)}`", body.location(node))
    values = [body.there(value, node) for value in expressions.in_order(body, arguments)]
    if any(value.type.kind != "int" for value in values):
        raise NotNative("has a range of other than ints", body.location(node))
    if len(values) == 3 and not values[2].type.constant:
        raise NotNative("has a range with a step that is no constant", body.location(node))
    if len(values) > 1:
        _check_range(body, values)
    counter = body.writer.fresh(node.target.id if isinstance(node.target, ast.Name) else "k")
    with body.branch(f"for {counter} in range({', '.join(value.code for value in values)}):"):
        body.writer.line("if bad or full != 0: break")
        body.assign(node.target, Value(INT, counter, is_stable=True))
        _block(body, node.body, give)


def _check_range(body: Body, values: list[Value]) -> None:
    """Compiled loops count their steps in 64 bits, which the distance between two ints may need one more of."""
    if len(values) == 3 and abs(values[2].type.constant) > _FAR:
        raise NotNative("has a range with a step that is too large", body.location(body.node))
    for end in values[:2]:
        if end.type.constant is None or abs(end.type.constant) > _FAR:
            body.kernel.check(f"({end.code} > {_FAR} or {end.code} < {-_FAR})")


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=attr):
            return ast.Attribute(value, attr, ast.Load())
    return target


def _returns(statements: Sequence[ast.stmt]) -> list[ast.Return]:
    return [node for statement in statements for node in walk(statement) if isinstance(node, ast.Return)]


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and _always_returns(last.body) and _always_returns(last.orelse)
