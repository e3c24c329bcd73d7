"""A cycle that is not made by `feedback`. The API cannot make one; this graph is built by hand."""

from typing import NamedTuple

from anabranch.errors import Location
from anabranch.graph.model import Edge, Graph, Operator, Port
from anabranch.graph.schema import schema_of
from anabranch.graph.verify import verify
from anabranch.operators.union import Union


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


calls = Port("in", schema_of(Call))
first = Operator("first", Union(), (calls,), (calls,), Location(__file__, 19))
second = Operator("second", Union(), (calls,), (calls,), Location(__file__, 20))
edges = (Edge("first", 0, "second", 0), Edge("second", 0, "first", 0))
verify(Graph("cycle", (first, second), edges))
