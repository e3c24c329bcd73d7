"""What inference says of user code: a type for each expression, and what each call is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.codegen.functions import Refusal, UserFunction
from anabranch.codegen.types import Type


@dataclass(frozen=True, eq=False)
class Typed:
    """A function body with the types of its expressions, for given types of its parameters.

    Besides the kinds of `types.Type` there are three that are no values: `instance` (`self`), `object` (a module,
    function or class that is only called or looked into) and `emissions` (a display of tuples that is returned).
    """

    function: UserFunction
    parameters: Mapping[str, Type]
    types: Mapping[ast.expr, Type]  # of each expression of the body, and of constants made for defaults
    variables: Mapping[str, Type]  # of each local: the join over all its assignments
    calls: Mapping[ast.Call, Called]
    result: Type  # the join of what is returned; None where it falls off the end. Not for generators
    is_generator: bool
    problems: tuple[Refusal, ...]  # why it is not completely typed
    # Names and dotted names that stand for the same object all the time: globals, `math.pi`, a constant of the class.
    constants: Mapping[ast.expr, Any] = field(default_factory=dict)
    # Expressions of type float that in Python may be an int of known value (`total = 0`) or complex (`x ** 0.5`).
    loose: Collection[ast.expr] = ()


@dataclass(frozen=True)
class Builtin:
    """A call of a builtin or a function of `math`, by its dotted name."""

    name: str


@dataclass(frozen=True, eq=False)
class Member:
    """An attribute of a tuple-valued expression, which has no expression of its own: for `T(*t)`, `t._replace(x=1)`."""

    value: ast.expr
    name: str


@dataclass(frozen=True, eq=False)
class Construct:
    """A NamedTuple is made: an entry for each of its attributes, in order."""

    cls: type[tuple[Any, ...]]
    arguments: tuple[ast.expr | Member, ...]


@dataclass(frozen=True, eq=False)
class Inlined:
    """A function of the user's, typed for these arguments: an expression for each parameter but the instance."""

    typed: Typed
    arguments: tuple[ast.expr, ...]


@dataclass(frozen=True, eq=False)
class To:
    """`ab.to("name", t)`."""

    output: str
    item: ast.expr


Called = Builtin | Construct | Inlined | To


@dataclass(frozen=True, eq=False)
class TypedClass:
    """A user's operator class with the types of what its instances keep."""

    factory: Callable[[], Any]
    fields: Mapping[str, Type]  # of each `self.name`: the join of its initial value and of all stores
    initial: Mapping[str, Any]  # what a new instance keeps
    methods: Mapping[str, Typed]
    problems: tuple[Refusal, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)  # of the class, read through `self`, never assigned
