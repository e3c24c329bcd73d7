"""Who may read the sources of a program, and who must: what can be cut, read apart, or read only where it was built."""

from __future__ import annotations

from typing import Any, cast

from anabranch.analysis import analyze_function
from anabranch.analysis.program import look_at_program
from anabranch.graph.model import Graph, Operator
from anabranch.graph.places import Taking
from anabranch.graph.plan import Plan
from anabranch.graph.traverse import loops
from anabranch.operators.base import SourceDefinition
from anabranch.operators.sinks.collect import Collect
from anabranch.operators.sinks.write_file import WriteFile
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.generate import Generate
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.passes.effects import has_effects

_PLAIN_KEYS = ("int", "str", "bool", "bytes", "date", "datetime")  # kinds of keys that are the same in another process
_PLAIN_DEFAULTS = (int, float, str, bytes, type(None))


def must_stay(graph: Graph) -> str | None:
    """Why the sources have to be read where the program was built."""
    for source in graph.sources:
        with located(source):
            is_live = cast(SourceDefinition, source.definition).is_live
        if is_live:
            return f"'{source.id}' gives tuples as they arrive"
        if isinstance(source.definition, Beacon) and source.definition.count is None:
            return f"'{source.id}' has no end, for which a job would wait"
        if may_share(graph, source):
            return f"'{source.id}' may share something with the operators"
    return None


def can_be_cut(graph: Graph) -> bool:
    """Whether the only source of a program is one that can be cut into slices, as far as that is known without it."""
    return len(graph.sources) == 1 and is_in_slices(graph.sources[0])


def is_in_slices(source: Operator) -> bool:
    """The same of one source."""
    if len(source.outputs) > 1:
        return False
    match source.definition:
        case Beacon(count=int()) | FromItems(items=tuple() | range(), partition_by=()):
            return True
        case ReadFiles(partition_by=()) | FromFrame():
            return True
    return False


def can_be_read_apart(graph: Graph, *, partitions: bool = True) -> bool:
    """Whether each reader can have a task of its own, as far as that is known without reading the sources."""
    if len(graph.sources) == 1 and is_in_partitions(graph.sources[0]):
        return partitions
    return not _is_by_order(graph) and all(map(is_in_slices, graph.sources))


def _is_by_order(graph: Graph) -> bool:
    """Whether who is drawn from depends on what the others have."""
    definitions = [cast(SourceDefinition, source.definition) for source in graph.sources]
    return len(definitions) > 1 and all(definition.order_by is not None for definition in definitions)


def is_in_partitions(source: Operator) -> bool:
    """Whether it is files that are drawn in turn, whose keys can be compared elsewhere (`partition_keys.py`)."""
    match source.definition:
        case ReadFiles(partition_by=(_, *_) as key, order_by=None):
            is_plain = all(source.outputs[0].schema[name].kind in _PLAIN_KEYS for name in key)
            return is_plain and source.on_error == "stop"
    return False


def has_one_stream(graph: Graph) -> bool:
    """Whether all that arrives is one stream: then what follows at once, and has no state, runs where it is read."""
    return len(graph.sources) == 1 and len(graph.sources[0].outputs) == 1


def may_share(graph: Graph, source: Operator) -> bool:
    """Whether the next tuple of a source may depend on what became of the last, or the other way round.

    By the sequential meaning a tuple is processed before the next is drawn. That can be told only where the source runs
    a user's code which is not a function of its arguments alone.
    """
    match source.definition:
        case Generate(fn=function) if not all(isinstance(each, _PLAIN_DEFAULTS) for each in _defaults(function)):
            return True  # it is called without them, so that they are something from outside
        case Generate(fn=function, schema=schema) | Beacon(fn=function, schema=schema):
            with look_at_program(graph, thoroughly=False):
                return bool(analyze_function(function, input=schema, output=None, emits="many").shared)
        case FromItems(items=items):
            return not isinstance(items, list | tuple | range)
    return False


def _defaults(function: Any) -> tuple[Any, ...]:
    return getattr(function, "__defaults__", None) or ()


def taking_of(plan: Plan) -> Taking:
    """How all of a program takes its tuples in one process."""
    graph = plan.graph
    if any(may_share(graph, source) for source in graph.sources):
        return Taking.ONE_BY_ONE
    is_only = len(graph.sources) == 1 and isinstance(graph.sources[0].definition, FromFrame | ReadFiles)
    return Taking.COLUMNS if is_only and plan.settings.target.reads_slices else Taking.TOGETHER


def can_be_dealt_out(plan: Plan) -> bool:
    """Whether what is read in the driver may be processed later, in many channels.

    Not where somebody waits for what comes out, nor where a source and an operator may share something: then each tuple
    is processed before the next is drawn.
    """
    if not plan.regions or loops(plan.graph):
        return False
    if not all(isinstance(sink.definition, Collect | WriteFile) for sink in plan.graph.sinks):
        return False
    if not any(may_share(plan.graph, source) for source in plan.graph.sources):
        return True
    between = [each for each in plan.graph.operators if not each.is_source and not each.is_sink]
    with look_at_program(plan.graph, thoroughly=False):
        return not any(map(has_effects, between))
