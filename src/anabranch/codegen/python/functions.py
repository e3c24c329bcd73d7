"""The user's functions and classes of operators, as code to be inlined where that can be done."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from anabranch.analysis import constancy
from anabranch.analysis.instances import may_be_hidden
from anabranch.analysis.lookup import static
from anabranch.analysis.origins import ClassAttribute
from anabranch.codegen.functions import Refusal, user_function
from anabranch.codegen.inference import type_class, type_function
from anabranch.codegen.python.inlines import Inline, NotInline, inline
from anabranch.codegen.types import type_of_schema
from anabranch.graph.schema import Schema


def inline_function(fn: Any, *schemas: Schema) -> Inline | None:
    """A function of tuples of these types, or None where it has to be called."""
    function = user_function(fn)
    if isinstance(function, Refusal) or len(function.free_parameters) < len(schemas):
        return None
    typed = type_function(function, [type_of_schema(schema) for schema in schemas])
    if len(typed.function.free_parameters) != len(schemas):
        return None
    try:
        return inline(typed.function, typed)
    except NotInline:
        return None


def inline_methods(factory: Callable[[], Any], methods: dict[str, Schema]) -> dict[str, Inline]:
    """The methods of an operator class that can be inlined."""
    cls: Any = factory
    while isinstance(cls, functools.partial):
        cls = cls.func
    kinds = {name: (type_of_schema(schema),) for name, schema in methods.items()}
    try:
        typed = type_class(factory, kinds)
    except TypeError:  # a factory that cannot be looked up, since it has no hash
        return {}
    if isinstance(typed, Refusal):
        return {}
    if static(cls, "__new__")[0] is not object or may_be_hidden(cls, "__class__"):
        return {}  # instances may be of another class
    found = {}
    for name in methods:
        is_own = name in typed.fields or may_be_hidden(cls, name)  # of the instance, not of its class
        method = typed.methods.get(name)
        if is_own or constancy.why_rebound(ClassAttribute(cls, name)) is not None:
            continue
        if method is None or len(method.function.free_parameters) != 1:
            continue
        try:
            found[name] = inline(method.function, method if not typed.problems else None)
        except NotInline:
            continue
    return found
