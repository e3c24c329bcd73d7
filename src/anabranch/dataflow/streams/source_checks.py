"""Which sources a stream can have: those that can be read again from a place in them, as more arrives."""

from __future__ import annotations

from typing import cast

from anabranch.errors import UsageError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.base import SourceDefinition
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.operators.sources.read_tcp import ReadTcp
from anabranch.passes.layout.source_reading import may_share


def check_sources(graph: Graph, once: bool) -> None:
    """A `UsageError` at the first that cannot be one of a stream."""
    for source in graph.sources:
        _check_source(graph, source, once)
    orders = [cast(SourceDefinition, source.definition).order_by for source in graph.sources]
    if len(orders) > 1 and None not in orders:
        raise UsageError(
            f"the sources are to be drawn by '{orders[0]}', and a stream takes what arrives in turns",
            location=graph.sources[0].location,
            hint=f'leave order_by= out; ab.merge_by("{orders[0]}", …) puts streams of one type in order',
        )


def _check_source(graph: Graph, source: Operator, once: bool) -> None:
    match source.definition:
        case ReadFiles(partition_by=()) | FromItems(items=tuple() | range(), partition_by=()) | FromFrame():
            return
        case ReadFiles():
            problem = "has partition_by=, which speaks of files that are all there"
            hint = "leave partition_by= out for a stream"
        case ReadTcp():
            if not once:
                return
            problem = "gives lines as they come, and once= takes what is there at once: that is nothing"
            hint = "leave once= (--once) out, and call finish() when enough has come"
        case Beacon():
            if not may_share(graph, source):
                return
            problem = "may share something with the operators, which run in other processes"
            hint = "use a function that keeps nothing between its calls"
        case _:
            problem = "cannot be a source of a stream: it cannot be read again from a place in it"
            hint = "use files, read_tcp, beacon, or from_items with a list"
    raise UsageError(f"'{source.id}' {problem}", location=source.location, hint=hint)
