"""Native state as stores, and stores as native state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anabranch.codegen.stores.checks import check_store
from anabranch.codegen.stores.forms import read
from anabranch.codegen.stores.schema import lacking, schema_of
from anabranch.codegen.stores.store import Store, with_marks
from anabranch.codegen.stores.words import Unfit

if TYPE_CHECKING:
    from anabranch.codegen.native.element import NativeElement


def stores_of(element: NativeElement) -> dict[str, Store]:
    """What the operators of an element keep, which goes on with it as if nothing had happened."""
    oracle = element.oracle()
    oracle.begin()
    found = {}
    for name, begun in oracle.begun(element.ended).items():
        operator = element.part.operator(name)
        schema = lacking(schema_of(operator), begun.not_kept) if begun.meaning is not None else None
        found[name] = with_marks(read(operator, begun.meaning, schema, begun.ended_inputs))
    oracle.begin()
    return found


def take_stores(element: NativeElement, stores: Mapping[str, Store]) -> None:
    """Begin with stores: in the Python form where there are no words for what is in them."""
    own = {name: stores[name] for name in element.part.operators if name in stores}
    for store in own.values():
        check_store(store, element.part)
    try:
        element.begin_with(own)
    except Unfit as problem:
        element.begin_in_python(own, str(problem))
