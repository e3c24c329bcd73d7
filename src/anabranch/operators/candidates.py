"""What a running maximum without a key may take: of each stretch, the tuples that are the largest so far in it.

All others are not the largest of the stream either, so that the operator, in one place, gives nothing for them. What
finds candidates is the operator itself, with nothing kept at the beginning of each stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anabranch.graph.model import Operator, Port, Record
from anabranch.operators.base import OperatorDefinition
from anabranch.operators.process import Process


@dataclass(frozen=True)
class FindCandidates(OperatorDefinition):
    record: ClassVar = Record(kind="candidates", state="stateless", selectivity="1:[0,1]", forwards="all")
    search: Process
    found: Port  # what the search gives, which is not what goes on


def candidates_for(operator: Operator) -> Operator:
    """What comes before a running maximum, where its tuples are."""
    definition, [into], [out] = operator.definition, operator.inputs, operator.outputs
    assert isinstance(definition, Process)
    given = Port("out", into.schema, is_punctuated=False)
    finding = FindCandidates(definition, out)
    return Operator(f"{operator.id}: candidates", finding, operator.inputs, (given,), operator.location)
