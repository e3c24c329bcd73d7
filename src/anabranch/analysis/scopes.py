"""Which names of a function are its own, which are captured by functions inside it, and what it is."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import children, walk
from anabranch.analysis.values import FunctionNode

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Scope:
    """The names of one function."""

    parameters: tuple[str, ...]
    own: set[str] = field(default_factory=set)  # parameters and assigned names
    outer_globals: set[str] = field(default_factory=set)  # declared `global`
    outer_locals: set[str] = field(default_factory=set)  # declared `nonlocal`
    captured: set[str] = field(default_factory=set)  # read or written by a function inside
    rebound_inside: set[str] = field(default_factory=set)  # written by a function inside (`nonlocal`)
    is_generator: bool = False
    is_asynchronous: bool = False


_scopes: dict[FunctionNode, Scope] = {}


def scope_of(node: FunctionNode) -> Scope:
    scope = _scopes.get(node)
    if scope is None:
        scope = _scopes[node] = _compute(node)
    return scope


def is_local(name: str, node: ast.AST, text: SourceText) -> bool:
    """Whether a name is a variable of a function or of a comprehension there, so that the global says nothing of it."""
    if any(name in scope_of(around).own for around in text.enclosing(node) if isinstance(around, FUNCTIONS)):
        return True
    around: ast.AST | None = text.parents.get(node)
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, COMPREHENSIONS):
            targets = [part for generator in around.generators for part in walk(generator.target)]
            if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                return True
        around = text.parents.get(around)
    return False


def parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(arguments.vararg.arg)
    names += [a.arg for a in arguments.kwonlyargs]
    if arguments.kwarg:
        names.append(arguments.kwarg.arg)
    return tuple(names)


def body_of(node: FunctionNode) -> list[ast.stmt] | list[ast.expr]:
    return [node.body] if isinstance(node, ast.Lambda) else node.body


def _compute(node: FunctionNode) -> Scope:
    scope = Scope(parameter_names(node.args))
    scope.own.update(scope.parameters)
    scope.is_asynchronous = isinstance(node, ast.AsyncFunctionDef)
    inner: list[FunctionNode] = []
    comprehension_names: set[str] = set()
    lazy: set[str] = set()  # used in generator expressions, which run later
    waiting: list[ast.AST] = list(body_of(node))
    while waiting:
        child = waiting.pop()
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope.own.add(child.name)
                inner.append(child)
                waiting += [*child.decorator_list, *_defaults(child.args)]
                continue
            case ast.Lambda():
                inner.append(child)
                waiting += _defaults(child.args)
                continue
            case ast.ClassDef():
                scope.own.add(child.name)
                # A class body is not followed; its methods may capture anything.
                scope.captured |= {n.id for n in walk(child) if isinstance(n, ast.Name)}
                waiting += [*child.decorator_list, *child.bases]
                continue
            case ast.Yield() | ast.YieldFrom():
                scope.is_generator = True
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                scope.is_asynchronous = True
            case ast.Global(names=names):
                scope.outer_globals.update(names)
            case ast.Nonlocal(names=names):
                scope.outer_locals.update(names)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                scope.own.add(name)
            case ast.NamedExpr(target=ast.Name(id=name)):
                scope.own.add(name)
            case ast.ExceptHandler(name=str(name)):
                scope.own.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                scope.own.add(name)
            case ast.MatchMapping(rest=str(name)):
                scope.own.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                scope.own.update((a.asname or a.name).split(".")[0] for a in aliases)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # Targets belong to the comprehension alone; a walrus inside one belongs to the function.
                targets = {n.id for g in child.generators for n in walk(g.target) if isinstance(n, ast.Name)}
                comprehension_names |= targets
                if isinstance(child, ast.GeneratorExp):
                    lazy |= {n.id for n in walk(child) if isinstance(n, ast.Name)}
                waiting += _comprehension_parts(child)
                continue
            case _:
                pass
        waiting.extend(children(child))
    scope.own -= scope.outer_globals | scope.outer_locals
    for function in inner:
        free, rebound = _free_names(function)
        scope.captured |= free & (scope.own | comprehension_names | scope.outer_locals)
        scope.rebound_inside |= rebound & scope.own
    scope.captured = (scope.captured | lazy) & (scope.own | comprehension_names)
    return scope


def _defaults(arguments: ast.arguments) -> list[ast.AST]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]


def _comprehension_parts(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[ast.AST]:
    elements: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        elements += [generator.iter, *generator.ifs]
    return elements


def _free_names(node: FunctionNode) -> tuple[set[str], set[str]]:
    """The names a function takes from around it, and those of them it writes.

    Names of its comprehensions count too, which only makes an outer variable's cell larger than it need be.
    """
    scope = scope_of(node)
    used: set[str] = set()
    rebound: set[str] = set()
    for part in body_of(node):
        for child in walk(part):
            if isinstance(child, ast.Name):
                used.add(child.id)
            elif isinstance(child, ast.Nonlocal):
                rebound.update(child.names)
    return (used | rebound) - scope.own, rebound - scope.own
