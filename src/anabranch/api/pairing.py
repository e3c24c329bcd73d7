"""How tuples that meet become one: the `out=` of `join` and `barrier`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anabranch.api.signatures import check_takes, checked_schema, output_schema
from anabranch.api.where import Caller
from anabranch.errors import BuildError
from anabranch.graph.schema import Schema, is_named_tuple


def combiner(
    what: str, out: Any, schemas: Sequence[Schema], where: Caller, equal: Sequence[str] = ()
) -> tuple[Callable[..., Any], Schema]:
    """From `out=`: a function of the tuples, or a tuple type.

    A type is filled with the tuples themselves when its attributes have their types, one for each; otherwise by
    name. A name that several of them have is refused unless it is known to be `equal` in all.
    """
    if out is None:
        raise BuildError(
            f"{what} needs to know what to make of tuples that meet",
            location=where.location,
            hint="say out=Pair, a NamedTuple, or out=function",
        )
    if not is_named_tuple(out) and not isinstance(out, type):
        check_takes(f"out= of {what}", out, tuple(schemas), where)
        return out, output_schema(f"out= of {what}", out, None, where, single=True)
    target = checked_schema(out, where)
    nested = [attribute.type.nested for attribute in target.attributes]
    if nested == list(schemas):
        return _Together(target.type), target
    return _by_name(what, target, schemas, where, equal), target


class _Together:
    """Makes a tuple of the tuples themselves."""

    def __init__(self, target: type) -> None:
        self.target = target

    def __call__(self, *items: Any) -> Any:
        return self.target(*items)


class _ByName:
    """Makes a tuple of attributes taken from the tuples by position: (which tuple, which attribute)."""

    def __init__(self, target: type, places: Sequence[tuple[int, int]]) -> None:
        self.target = target
        self.places = tuple(places)

    def __call__(self, *items: Any) -> Any:
        return self.target(*[items[which][position] for which, position in self.places])


def _by_name(what: str, target: Schema, schemas: Sequence[Schema], where: Caller, equal: Sequence[str]) -> _ByName:
    places = []
    for attribute in target.attributes:
        owners = [index for index, schema in enumerate(schemas) if attribute.name in schema]
        if not owners:
            names = " nor ".join(schema.name for schema in schemas)
            raise BuildError(
                f"out={target.name} of {what} has an attribute '{attribute.name}' that neither {names} has",
                location=where.location,
                hint=f"give a function instead: out=combine, annotated to return {target.name}",
            )
        if len(owners) > 1 and attribute.name not in equal:
            raise BuildError(
                f"attribute '{attribute.name}' of out={target.name} is ambiguous: several inputs of {what} have it",
                location=where.location,
                hint=f"give a function instead: out=combine, annotated to return {target.name}",
            )
        owner = schemas[owners[0]]
        if not attribute.type.accepts(owner[attribute.name]):
            raise BuildError(
                f"attribute '{attribute.name}' is {owner[attribute.name]} in {owner.name}, "
                f"but {attribute.type} in out={target.name}",
                location=where.location,
                hint=f"make it {owner[attribute.name]} in {target.name}, or give a function: out=combine",
            )
        places.append((owners[0], owner.names.index(attribute.name)))
    return _ByName(target.type, places)
