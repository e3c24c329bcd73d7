"""What each call is: a builtin, a tuple being made, a function of the user's, a tuple for a named output."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from anabranch.analysis import constancy
from anabranch.analysis.lifting import is_made_by_named_tuple, is_named_tuple_class
from anabranch.analysis.lookup import static
from anabranch.analysis.modules import is_library_function
from anabranch.analysis.origins import ClassAttribute
from anabranch.codegen import functions
from anabranch.codegen.functions import Refusal, UserFunction, called_function
from anabranch.codegen.inference import builtins, expressions
from anabranch.codegen.inference.constants import resolve
from anabranch.codegen.inference.joins import INSTANCE, NOTHING, OBJECT, constant_type
from anabranch.codegen.inference.model import Builtin, Construct, Inlined, Member, To
from anabranch.codegen.types import UNKNOWN, Type
from anabranch.operators import emissions

if TYPE_CHECKING:
    from anabranch.codegen.inference.body import Body


def call(body: Body, node: ast.Call) -> Type:
    function = node.func
    match function:
        case ast.Attribute(value=ast.Name(id=name) as owner, attr=attr) if name == body.self_name:
            body.types[owner], body.types[function] = INSTANCE, OBJECT
            return _own_method(body, node, body.function.mangled(attr))
    found = resolve(body, function)
    if found is None:
        if isinstance(function, ast.Attribute):
            return _method(body, node, function)
        _arguments(body, node)
        expressions.expression(body, function)
        return body.problem(f"calls `{ast.unparse(function)}`, which is not known before it runs", node)
    if found.problem is not None:
        _arguments(body, node)
        return body.problem(found.problem, node)
    return _known(body, node, found.value)


def _arguments(body: Body, node: ast.Call) -> list[Type]:
    """The types of all arguments."""
    kinds = []
    for argument in node.args:
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        kinds.append(expressions.expression(body, inner))
    return kinds + [expressions.expression(body, keyword.value) for keyword in node.keywords]


def _known(body: Body, node: ast.Call, callee: Any) -> Type:
    name = builtins.name_of(callee)
    if name is not None:
        kinds = _arguments(body, node)
        kind, problem = builtins.result_of(name, kinds, node)
        body.calls[node] = Builtin(name)
        if problem is not None:
            body.problem(problem, node)
        return kind
    if callee is emissions.to:
        return _to(body, node)
    if isinstance(callee, type):
        if is_named_tuple_class(callee):
            return _construct(body, node, callee)
        _arguments(body, node)
        return body.problem(f"makes a `{callee.__name__}`", node)
    is_foreign = isinstance(callee, BuiltinFunctionType) or (
        isinstance(callee, FunctionType) and is_library_function(callee)
    )
    if is_foreign:
        _arguments(body, node)
        return body.problem(f"calls {functions.described(callee)}", node)
    _arguments(body, node)
    return inline(body, node, called_function(callee), list(node.args), callee)


# Functions of the user's ----------------------------------------------------------------------------------------


def inline(body: Body, node: ast.Call, function: UserFunction | Refusal, given: list[ast.expr], callee: Any) -> Type:
    """A call of a function whose source is known; `given` are the expressions for its first parameters."""
    from anabranch.codegen.inference.functions import type_call

    name = getattr(callee, "__name__", type(callee).__name__)
    called = "a lambda" if name == "<lambda>" else f"`{name}`"
    if isinstance(function, Refusal):
        where = function.location or body.function.location(node)
        body.found[Refusal(f"calls {called}, which {function.reason}", where)] = None
        return UNKNOWN
    bound = _bind(body, node, function, given)
    if bound is None:
        return body.problem(f"calls {called} with other arguments than it takes", node)
    function, arguments = bound
    kinds = [body.types[argument] for argument in arguments]
    if any(kind.kind == "nothing" for kind in kinds):
        return NOTHING
    typed = type_call(body, function, kinds)
    if isinstance(typed, str):
        return body.problem(f"calls {called}, which {typed}", node)
    solved, result = typed
    body.calls[node] = Inlined(solved, tuple(arguments))
    body.found.update(dict.fromkeys(solved.problems))
    if solved.is_generator or result.kind == "emissions":
        return body.problem(f"hands on what {called} emits", node)
    return result


def _bind(
    body: Body, node: ast.Call, function: UserFunction, given: Sequence[ast.expr]
) -> tuple[UserFunction, list[ast.expr]] | None:
    """An expression for each parameter that a caller fills; None where the call does not fit."""
    parameters = function.free_parameters
    if any(isinstance(argument, ast.Starred) for argument in given) or len(given) > len(parameters):
        return None
    bound = dict(zip(parameters, given, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in bound or keyword.arg not in parameters:
            return None
        bound[keyword.arg] = keyword.value
    fixed: dict[str, Any] = {}
    for name in parameters:
        if name in bound:
            continue
        if name not in function.defaults:
            return None
        value = function.defaults[name]
        if not constant_type(value).is_known or is_named_tuple_class(type(value)):
            fixed[name] = value
            continue
        bound[name] = literal(body, value, node)
    if fixed:
        changed = functions.with_constants(function, fixed)
        if isinstance(changed, Refusal):
            return None
        function = changed
    return function, [bound[name] for name in function.free_parameters]


def literal(body: Body, value: Any, node: ast.AST) -> ast.Constant:
    """An expression for a default, which the call does not mention."""
    made = ast.copy_location(ast.Constant(value), node)
    body.types[made] = constant_type(value)
    return made


def _own_method(body: Body, node: ast.Call, name: str) -> Type:
    """`self.method(…)`."""
    assert body.fields is not None
    _arguments(body, node)
    cls = body.fields.cls
    base, found = static(cls, name)
    if base is None or name in body.fields.types:
        return body.problem(f"calls `self.{name}`, a value that the instance keeps", node)
    problem = constancy.why_rebound(ClassAttribute(base, name))
    if problem is not None:
        return body.problem(f"calls `self.{name}`, which {problem}", node)
    if isinstance(found, staticmethod):
        return inline(body, node, called_function(found.__func__), list(node.args), found.__func__)
    if not isinstance(found, FunctionType):
        return body.problem(f"calls `self.{name}`, which is not a plain method", node)
    return inline(body, node, functions.method_of(found), list(node.args), found)


def _method(body: Body, node: ast.Call, function: ast.Attribute) -> Type:
    """A method of a value."""
    _arguments(body, node)
    owner = expressions.expression(body, function.value)
    body.types[function] = OBJECT
    name = function.attr
    if owner.kind in ("nothing", "unknown"):
        return owner
    if owner.kind == "str":
        body.problem(f"handles strings (`.{name}()`)", node)
        return builtins.method_of_text(name)
    if owner.kind != "tuple" or owner.named is None:
        return body.problem(f"calls `.{name}()` of a {owner.kind}", node)
    cls = owner.named
    if name == "_replace" and is_made_by_named_tuple(cls, name):
        return _replace(body, node, function.value, owner)
    base, found = static(cls, name)
    if base is None or not isinstance(found, FunctionType) or is_library_function(found):
        return body.problem(f"calls `.{name}()` of a `{cls.__name__}`", node)
    problem = constancy.why_rebound(ClassAttribute(base, name))
    if problem is not None:
        return body.problem(f"calls `{cls.__name__}.{name}`, which {problem}", node)
    return inline(body, node, called_function(found), [function.value, *node.args], found)


# Tuples ---------------------------------------------------------------------------------------------------------


def _construct(body: Body, node: ast.Call, cls: type[tuple[Any, ...]]) -> Type:
    _arguments(body, node)
    if not is_made_by_named_tuple(cls, "__new__") or static(cls, "__init__")[0] is not object:
        return body.problem(f"makes a `{cls.__name__}`, which has a constructor of its own", node)
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # a NamedTuple
    defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
    positional: list[ast.expr | Member] = []
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            positional.append(argument)
            continue
        spread = body.types[argument.value].present()
        body.types[argument] = spread
        if spread.kind == "nothing":
            return NOTHING
        if spread.kind != "tuple" or not is_simple(argument.value):
            return body.problem(f"makes a `{cls.__name__}` from `{ast.unparse(argument)}`", node)
        positional += [Member(argument.value, name) for name, _ in spread.members]
    given: dict[str, ast.expr | Member] = dict(zip(names, positional, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in given or keyword.arg not in names:
            return body.problem(f"makes a `{cls.__name__}` from other values than it has", node)
        given[keyword.arg] = keyword.value
    for name in names:
        if name not in given and name in defaults:
            given[name] = literal(body, defaults[name], node)
    if len(positional) > len(names) or len(given) != len(names):
        return body.problem(f"makes a `{cls.__name__}` from {len(positional) + len(node.keywords)} values", node)
    return _made(body, node, cls, [given[name] for name in names])


def _replace(body: Body, node: ast.Call, value: ast.expr, owner: Type) -> Type:
    """`t._replace(x=1)`"""
    cls = owner.named
    assert cls is not None
    changed = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    names = [name for name, _ in owner.members]
    if node.args or len(changed) != len(node.keywords) or any(name not in names for name in changed):
        return body.problem(f"replaces other values than a `{cls.__name__}` has", node)
    if not is_simple(value):
        return body.problem(f"calls `._replace()` of `{ast.unparse(value)}`: give it a name first", node)
    return _made(body, node, cls, [changed[name] if name in changed else Member(value, name) for name in names])


def is_simple(node: ast.expr) -> bool:
    """Whether an expression may be evaluated more than once."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _made(body: Body, node: ast.Call, cls: type[tuple[Any, ...]], arguments: list[ast.expr | Member]) -> Type:
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]  # a NamedTuple
    body.calls[node] = Construct(cls, tuple(arguments))
    kinds = []
    for argument in arguments:
        if isinstance(argument, Member):
            kinds.append(body.types[argument.value].member(argument.name) or UNKNOWN)
        else:
            kinds.append(body.types[argument])
    if any(kind.kind == "nothing" for kind in kinds):
        return NOTHING
    return Type("tuple", members=tuple(zip(names, kinds, strict=True)), named=cls)


def _to(body: Body, node: ast.Call) -> Type:
    """`ab.to("name", t)` has the type of its tuple."""
    given: dict[str | None, ast.expr] = dict(zip(("output", "item"), node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords}
    output, item = given.get("output"), given.get("item")
    if output is None or item is None or len(given) != 2:
        return body.problem("calls ab.to with other arguments than it takes", node)
    expressions.expression(body, output)
    kind = expressions.expression(body, item)
    name = output.value if isinstance(output, ast.Constant) else body.values.get(output)
    if not isinstance(name, str):
        body.problem("chooses the output of ab.to by a value", node)
        return kind
    body.calls[node] = To(name, item)
    return kind
