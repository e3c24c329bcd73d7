"""Small pictures: one for each kind of operator, and the signs of joints; strokes in a square of 16 pixels."""

from __future__ import annotations

from anabranch.graph.model import Operator
from anabranch.graph.plan import JointKind

_SOURCE = "M3 3v10M5.5 8H13M10 5l3 3-3 3"
_SINK = "M13 3v10M3 8h7.5M7.5 5l3 3-3 3"
_CODE = "M6 2.5C3.5 2.5 5 8 2.5 8 5 8 3.5 13.5 6 13.5M10 2.5c2.5 0 1 5.5 3.5 5.5-2.5 0-1 5.5-3.5 5.5"

_KINDS = {
    "aggregate": "M12 5V3H4l4.5 5L4 13h8v-2",
    "barrier": "M2 4.5h5M2 11.5h5M9 2.5v11M11 8h3",
    "distinct": "M3 6h10M3 10h10M10.5 3l-5 10",
    "feedback": "M12.9 6.2A5.2 5.2 0 1 0 13.2 9M13.2 2.8v3.6H9.6",
    "filter": "M2.5 3h11L9.5 8.2v5.3l-3-1.7V8.2z",
    "flat_map": "M2 8h4l6-5M6 8h7.5M6 8l6 5",
    "join": "M3 4v8l10-8v8z",
    "map": "M2.5 8H13M9 4l4 4-4 4",
    "merge_by": "M2 4h3l4 4h5M2 12h3l4-4M12 5v6",
    "process": _CODE,
    "connect": _CODE,
    "punctuate": "M4 2.5v11M4 3h8.5L10 5.7l2.5 2.8H4",
    "sort": "M3 4h10M3 8h7M3 12h4",
    "split": "M2 8h4l4-4h4M6 8l4 4h4",
    "union": "M2 4h3l4 4h5M2 12h3l4-4",
}

JOINT_SIGNS = {
    JointKind.SOURCE: "M4.5 4v8M7 8h5M10 6l2 2-2 2",
    JointKind.SPLIT: "M3.5 8h3l5-3.5M6.5 8h5M6.5 8l5 3.5",
    JointKind.SHUFFLE: "M4 5l8 6M4 11l8-6",
    JointKind.MERGE: "M12.5 8h-3l-5-3.5M9.5 8h-5M9.5 8l-5 3.5",
    JointKind.SINK: "M11.5 4v8M4 8h5M7 6l2 2-2 2",
}


def kind_sign(operator: Operator) -> str:
    """The strokes of an operator's kind."""
    if operator.is_source:
        return _SOURCE
    return _SINK if operator.is_sink else _KINDS.get(operator.kind, _CODE)
