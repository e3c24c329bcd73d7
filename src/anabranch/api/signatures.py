"""Reading types from the annotations of the user's functions and classes."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing
from typing import Any

from anabranch.api.redefined import check_not_redefined, note_use
from anabranch.api.where import Caller
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import AttributeType, Schema, attribute_type, is_named_tuple, schema_of, type_name

_ITERABLES = (
    collections.abc.Iterable,
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.Sequence,
    collections.abc.Collection,
    list,
    tuple,
    set,
)


def checked_schema(candidate: object, where: Caller) -> Schema:
    """The schema of a type the user named; an error shows the user's line."""
    with where.blamed():
        schema = schema_of(candidate, where.local_names)
    note_use(schema.type, where)
    return schema


def output_schema(what: str, fn: Any, out: object, where: Caller, *, single: bool) -> Schema:
    """The type of what `fn` emits: `out=` if given, else its return annotation."""
    if out is not None:
        return checked_schema(out, where)
    annotation = return_annotation(fn, where)
    found = emitted_type(annotation, what, where)
    if found is None and annotation is not None:
        raise BuildError(
            f"{what} is annotated to return {type_name(annotation)}, but must return a NamedTuple",
            location=where.location,
            hint="declare one for what it gives: class Out(NamedTuple): value: int",
        )
    if found is None:
        example = "-> Out" if single else "-> Iterator[Out]"
        is_lambda = getattr(unwrapped(fn), "__name__", "") == "<lambda>"
        raise BuildError(
            f"it is not known what type {what} returns",
            location=where.location,
            hint="add out=Out, the NamedTuple it returns" if is_lambda else f"annotate it ({example}), or say out=Out",
        )
    if single and _is_optional(annotation):
        raise BuildError(
            f"{what} may return None, but must return a tuple each time",
            location=where.location,
            hint="use flat_map, where None stands for no tuple" if what.endswith("map") else None,
        )
    return checked_schema(found, where)


def emitted_type(annotation: object, what: str, where: Caller) -> object | None:
    """The one tuple type an annotation such as `Iterator[T]`, `T | None` or `list[T | ab.To]` speaks of."""
    found = _tuple_types(annotation)
    if len(found) > 1:
        names = ", ".join(candidate.__name__ for candidate in found)
        raise BuildError(
            f"{what} returns several types: {names}",
            location=where.location,
            hint='send the others to named outputs: yield ab.to("name", t), with outputs={"name": T}',
        )
    return found[0] if found else None


def _tuple_types(annotation: object) -> list[type]:
    if is_named_tuple(annotation):
        assert isinstance(annotation, type)
        return [annotation]
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is collections.abc.Generator:
        arguments = arguments[:1]
    if origin in _ITERABLES or origin in (typing.Union, types.UnionType):
        found: list[type] = []
        for argument in arguments:
            found += [candidate for candidate in _tuple_types(argument) if candidate not in found]
        return found
    return []


def _is_optional(annotation: object) -> bool:
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return is_union and type(None) in typing.get_args(annotation)


def return_annotation(fn: Any, where: Caller) -> object:
    return _resolve(fn, "return", where)


def unwrapped(fn: Any) -> Any:
    """The function whose annotations count: behind partials and callable objects."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if not inspect.isroutine(fn) and not isinstance(fn, type) and callable(fn):
        return type(fn).__call__
    return fn


def _resolve(fn: Any, name: str, where: Caller) -> object:
    target = unwrapped(fn)
    target = inspect.unwrap(target) if callable(target) else target
    annotation = getattr(target, "__annotations__", {}).get(name)
    if not isinstance(annotation, str):
        return annotation
    global_names = getattr(inspect.unwrap(getattr(target, "__func__", target)), "__globals__", {})
    try:
        # Annotations are the user's own code, evaluated in the user's own module, as typing.get_type_hints does.
        return eval(annotation, global_names, _closure_names(target) | where.local_names)
    except Exception as problem:
        raise BuildError(
            f"the annotation '{annotation}' of {shown(target)} cannot be resolved: {problem}",
            location=where.location,
            hint="define or import the type at module level",
        ) from None


def _closure_names(fn: Any) -> dict[str, Any]:
    fn = getattr(fn, "__func__", fn)
    cells = getattr(fn, "__closure__", None) or ()
    names = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    found = {}
    for name, cell in zip(names, cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # a cell that is still empty
            continue
    return found


def check_takes(what: str, fn: Any, schemas: tuple[Schema, ...], where: Caller, *, is_method: bool = False) -> None:
    """`fn` must be callable with one tuple of each schema, and annotated for those types or not at all."""
    if isinstance(fn, type):
        raise BuildError(
            f"{what} is class {fn.__name__}, but must be a function",
            location=where.location,
            hint=f"a class is an operator: .process({fn.__name__})",
        )
    taken = "one tuple" if len(schemas) == 1 else f"{len(schemas)} tuples" if schemas else "no argument"
    if is_method:
        taken += " besides self"
    bound = check_arity(what, fn, len(schemas) + is_method, taken, where)
    if bound is None:
        return
    names = list(bound.arguments)[1 if is_method else 0 :]
    for name, schema in zip(names, schemas, strict=False):
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            return
        expected = _resolve(fn, name, where)
        if is_named_tuple(expected) and not issubclass(schema.type, expected):  # type: ignore[arg-type]  # checked
            assert isinstance(expected, type)
            check_not_redefined(what, expected, schema.type, where)
            wanted = expected.__name__
            raise BuildError(
                f"{what} takes {wanted}, but the stream carries {schema.name}",
                location=where.location,
                hint=f"use it on a stream of {wanted}, or annotate it with {schema.name}",
            )


def check_arity(what: str, fn: Any, count: int, taken: str, where: Caller) -> inspect.BoundArguments | None:
    """`fn` must be callable with so many positional arguments; how they bind, where that can be known."""
    if not callable(fn):
        raise BuildError(
            f"{what} is {shown(fn)}, but must be a function",
            location=where.location,
            hint="pass the function itself, without calling it",
        )
    if inspect.iscoroutinefunction(unwrapped(fn)) or inspect.isasyncgenfunction(unwrapped(fn)):
        raise BuildError(
            f"{what} is asynchronous, but operators are called one tuple after the other",
            location=where.location,
            hint="use a plain function",
        )
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some builtins have none: their first call will tell
        return None
    try:
        return signature.bind(*[None] * count)
    except TypeError:
        raise BuildError(
            f"{what} must take {taken}, but is {_shown_signature(fn, signature)}",
            location=where.location,
        ) from None


def _shown_signature(fn: Any, signature: inspect.Signature) -> str:
    """A signature without its annotations: which arguments there are is the point."""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    arguments = str(inspect.Signature(bare))
    name = getattr(unwrapped(fn), "__name__", "")
    return f"lambda {arguments[1:-1]}".rstrip() + ": …" if name == "<lambda>" else f"{name}{arguments}"


def value_type(fn: Any, what: str, where: Caller) -> AttributeType:
    """The attribute type a function is annotated to return."""
    annotation = return_annotation(fn, where)
    if annotation is None:
        raise BuildError(
            f"it is not known what type {what} gives",
            location=where.location,
            hint="annotate its method: def result(self) -> float",
        )
    with where.blamed():
        return attribute_type(annotation, what, where.local_names)
