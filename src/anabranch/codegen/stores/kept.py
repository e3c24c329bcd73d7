"""Which fields of an operator's schema native code has words for."""

from __future__ import annotations

from anabranch.codegen.native.recent_visits import Ring
from anabranch.codegen.native.records import Record
from anabranch.codegen.stores.schema import FLAG, Path
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate


def kept_paths(operator: Operator, record: Record) -> frozenset[Path]:
    """The paths of what a record keeps. Of windows that hold tuples these are not words with names, but a ring."""
    definition = operator.definition
    if not isinstance(definition, WindowAggregate) or record.shape != "sliding count":
        return frozenset(word.path for word in record.words)
    places = Ring(definition, operator.inputs[0].schema).places
    flags = [("tuple", name, FLAG) for name, (kind, _) in places.items() if kind.optional]
    return frozenset([*(("tuple", name) for name in places), *flags])
