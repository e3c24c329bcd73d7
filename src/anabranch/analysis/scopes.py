"""Which names of a function are its own, which are captured by functions inside it, and what it is."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from anabranch.analysis.source import SourceText, is_outside_the_body
from anabranch.analysis.syntax import children, walk
from anabranch.analysis.values import FunctionNode

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


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
    """Whether a name is not the global of that name there, so that the global says nothing of it."""
    return binder_of(name, node, text) is not None


def owner_of(name: str, node: ast.AST, text: SourceText) -> FunctionNode | None:
    """The function whose variable a name is there; None where it is a global, or belongs to something else."""
    binder = binder_of(name, node, text)
    return binder if isinstance(binder, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else None


def binder_of(name: str, node: ast.AST, text: SourceText) -> ast.AST | None:
    """What a name belongs to there: a function, a comprehension, or the class in whose body it stands; else None."""
    child, around = node, text.parents.get(node)
    is_direct = True  # in the body of a class, and in nothing in it that has names of its own
    outside: ast.AST | None = None  # what a comprehension goes through first is computed before it begins
    while around is not None:
        match around:
            case ast.comprehension(iter=iterable) if iterable is child:
                whole = text.parents.get(around)
                if isinstance(whole, Comprehension) and whole.generators[0] is around:
                    outside = whole
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if around is not outside:
                if name in comprehension_targets(around):
                    return around
                is_direct = False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if not is_outside_the_body(around, child):
                if name in scope_of(around).outer_globals:
                    return None
                if name in scope_of(around).own:
                    return around
                is_direct = False
            case ast.ClassDef() if is_direct and not is_outside_the_body(around, child):
                names = class_scope_of(around)
                if name in names.outer_globals:
                    return None
                if name in names.own:
                    return around
                is_direct = False
            case _:
                pass
        child, around = around, text.parents.get(around)
    return None


def comprehension_targets(node: Comprehension) -> set[str]:
    """The variables of a comprehension; what stands in `for table[key] in …` is none."""
    return {
        part.id
        for generator in node.generators
        for part in walk(generator.target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


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
                waiting += [*around_function(child), *annotations_of(child)]
                continue
            case ast.Lambda():
                inner.append(child)
                waiting += [*around_function(child), *annotations_of(child)]
                continue
            case ast.ClassDef():
                scope.own.add(child.name)
                # A class body is not followed; its methods may capture anything.
                scope.captured |= {n.id for n in walk(child) if isinstance(n, ast.Name)}
                waiting += [*child.decorator_list, *child.bases, *child.keywords]
                continue
            case ast.Yield() | ast.YieldFrom():
                scope.is_generator = True
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                scope.is_asynchronous = True
            case ast.Global(names=names):
                scope.outer_globals.update(names)
            case ast.Nonlocal(names=names):
                scope.outer_locals.update(names)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # Targets belong to the comprehension alone; a walrus inside one belongs to the function.
                comprehension_names |= comprehension_targets(child)
                if isinstance(child, ast.GeneratorExp):
                    lazy |= {n.id for n in walk(child) if isinstance(n, ast.Name)}
                waiting += _comprehension_parts(child)
                continue
            case _:
                scope.own.update(_bound_by(child))
        waiting.extend(children(child))
    scope.own -= scope.outer_globals | scope.outer_locals
    for function in inner:
        free, rebound = _free_names(function)
        scope.captured |= free & (scope.own | comprehension_names | scope.outer_locals)
        scope.rebound_inside |= rebound & scope.own
    scope.captured = (scope.captured | lazy) & (scope.own | comprehension_names)
    return scope


def _bound_by(node: ast.AST) -> list[str]:
    """The names that a node itself gives something to stand for, where it is no definition."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [(alias.asname or alias.name).split(".")[0] for alias in aliases]
        case _:
            return []


_class_scopes: dict[ast.ClassDef, Scope] = {}


def class_scope_of(node: ast.ClassDef) -> Scope:
    """The names that the body of a class assigns, wherever in it."""
    if node not in _class_scopes:
        scope = Scope(())
        waiting: list[ast.AST] = list(node.body)
        while waiting:
            child = waiting.pop()
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope.own.add(child.name)
                    waiting += [*around_function(child), *annotations_of(child)]
                    continue
                case ast.Lambda():
                    waiting += [*around_function(child), *annotations_of(child)]
                    continue
                case ast.ClassDef():
                    scope.own.add(child.name)
                    waiting += [*child.decorator_list, *child.bases, *child.keywords]
                    continue
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    waiting.append(child.generators[0].iter)
                    continue
                case ast.Global(names=names):
                    scope.outer_globals.update(names)
                case ast.Nonlocal(names=names):
                    scope.outer_locals.update(names)
                case _:
                    scope.own.update(_bound_by(child))
            waiting.extend(children(child))
        scope.own -= scope.outer_globals | scope.outer_locals
        _class_scopes[node] = scope
    return _class_scopes[node]


def around_function(node: FunctionNode) -> list[ast.AST]:
    """What is evaluated where a function is defined, not where it is called, but for annotations."""
    arguments = node.args
    found: list[ast.AST] = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
    if isinstance(node, ast.Lambda):
        return found
    return [*node.decorator_list, *found, *getattr(node, "type_params", ())]


def annotations_of(node: FunctionNode) -> list[ast.AST]:
    """Those of a function's parameters, and of what it returns."""
    if isinstance(node, ast.Lambda):
        return []
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [each.annotation for each in every if each is not None]
    return [each for each in (*annotations, node.returns) if each is not None]


def _comprehension_parts(node: Comprehension) -> list[ast.AST]:
    elements: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for generator in node.generators:
        elements += [generator.iter, *generator.ifs]
        elements += [part for part in walk(generator.target) if isinstance(part, ast.Attribute | ast.Subscript)]
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
