"""Which output attributes are unchanged input attributes, judged by where each emitted value came from."""

from __future__ import annotations

from anabranch.analysis.values import REPLACED_AT_ONCE, Atom, Obj, Sent, Source, Thing, Tup, Value
from anabranch.graph.schema import AttributeType, Schema

Pairs = frozenset[tuple[str, str]]


def forwarded(emitted: Value, output: Schema, input: Schema | None, changed: set[str]) -> tuple[Pairs, Pairs] | None:
    """The pairs (output attribute, input attribute) that hold for every emission of one method.

    The first set holds always, the second wherever the input attribute belongs to the operator's key. None where
    nothing goes to the default output, so that the method says nothing about it. `input` is None for a method that
    gets no tuple; `changed` are attributes of the input that are changed in place.
    """
    always: Pairs | None = None
    with_key: Pairs | None = None
    for thing in emitted:
        if isinstance(thing, Tup) and thing.type is Sent:
            continue
        if isinstance(thing, Atom) and thing.type is type(None):
            continue
        if isinstance(thing, Tup) and not all(thing.items):
            continue  # an attribute that has no value: this was met before all values were known
        found, found_with_key = _of_emission(thing, output, input, changed)
        always = found if always is None else always & found
        with_key = found_with_key if with_key is None else with_key & found_with_key
    if always is None or with_key is None:
        return None
    return always, with_key


def _of_emission(thing: Thing, output: Schema, input: Schema | None, changed: set[str]) -> tuple[Pairs, Pairs]:
    if not isinstance(thing, Tup) or thing.type is not output.type:  # a class derived from it may show other values
        return frozenset(), frozenset()
    always: set[tuple[str, str]] = set()
    with_key: set[tuple[str, str]] = set()
    for attribute, value in zip(output.attributes, thing.items, strict=False):
        source = _common_source(value, attribute.type)
        if source is None or source.attribute in changed:
            continue
        if input is not None and not _is_definitely_kept(input, source.attribute, attribute.type):
            continue
        pair = (attribute.name, source.attribute)
        with_key.add(pair)
        if not source.stored:
            always.add(pair)
    return frozenset(always), frozenset(with_key)


def _common_source(value: Value, kind: AttributeType) -> Source | None:
    """The one input attribute that a value is, whichever path it took."""
    sources: set[Source | None] = set()
    for thing in value:
        if isinstance(thing, Atom) and thing.type is type(None) and not kind.optional:
            continue  # cannot be emitted there, so it never is
        sources.add(thing.source if isinstance(thing, Atom | Tup | Obj) else None)
    is_replaced = REPLACED_AT_ONCE in sources
    names = {source.attribute if source else None for source in sources if source != REPLACED_AT_ONCE}
    if len(names) != 1 or None in names:
        return None
    stored = is_replaced or any(source is not None and source.stored for source in sources)
    return Source(next(name for name in names if name is not None), stored)


def _is_definitely_kept(input: Schema, name: str, kind: AttributeType) -> bool:
    """Emitting converts: an int becomes a float where a float is asked for, and large ones lose digits."""
    if name not in input:
        return False
    return input[name].without_none() == kind.without_none()
