"""A program while it is being built: nodes that know what feeds them, frozen into a graph at the end."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from anabranch.errors import BuildError, Location
from anabranch.graph.model import Definition, Edge, Graph, Hints, Operator, Port
from anabranch.graph.properties import PunctuationIn, PunctuationOut
from anabranch.graph.schema import Schema, schema_of
from anabranch.graph.verify import verify

_serials = itertools.count()  # the order of declaration and of connection, over all programs


class DeadLetter(NamedTuple):
    """What `on_error="dead_letter"` sends for an item that failed."""

    operator: str
    where: str
    error: str
    item: str


@dataclass
class Draft:
    """An app being built; `None` stands for streams made outside any app."""

    name: str
    location: Location
    nodes: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Connection:
    node: Node
    port: int
    is_feedback: bool
    serial: int = field(default_factory=lambda: next(_serials))


@dataclass(eq=False)
class Node:
    """An operator being built."""

    definition: Definition
    outputs: tuple[Port, ...]
    location: Location
    draft: Draft | None
    on_error: str = "stop"
    hints: Hints = field(default_factory=Hints)
    name: str | None = None
    inputs: list[Connection] = field(default_factory=list)
    input_names: tuple[str, ...] = ()
    serial: int = field(default_factory=lambda: next(_serials))

    @property
    def label(self) -> str:
        return self.name or self.definition.label


_current: ContextVar[Draft | None] = ContextVar("anabranch_current_app", default=None)


@contextmanager
def building(draft: Draft, where: Location) -> Iterator[None]:
    """Everything declared inside belongs to `draft`; `where` it was called is named if that is inside another."""
    outer = _current.get()
    if outer is not None:
        raise BuildError(
            f"app '{draft.name}' is called while app '{outer.name}' is being built",
            location=where,
            hint="write what they share as a plain function of streams, without @ab.app",
        )
    token = _current.set(draft)
    try:
        yield
    finally:
        _current.reset(token)


class Output(NamedTuple):
    """An output port of a node: what a stream of the API stands for."""

    node: Node
    port: int

    @property
    def schema(self) -> Schema:
        return self.node.outputs[self.port].schema

    @property
    def is_punctuated(self) -> bool:
        return self.node.outputs[self.port].is_punctuated


def add_node(
    definition: Definition,
    inputs: Sequence[Output],
    outputs: Sequence[tuple[str, Schema]],
    *,
    location: Location,
    input_names: Sequence[str] = (),
    on_error: str = "stop",
    unpunctuated: Iterable[str] = (),
) -> Node:
    """Declare an operator; `unpunctuated` names the outputs punctuations never travel on."""
    if on_error not in ("stop", "skip", "dead_letter"):
        raise BuildError(
            f"on_error={on_error!r} is unknown", location=location, hint='use "stop", "skip" or "dead_letter"'
        )
    draft = _current.get()
    for stream in inputs:
        _check_same_app(stream.node, draft, location)
    is_punctuated = _is_punctuated(definition, inputs, location)
    silent = set(unpunctuated)
    ports = [Port(name, schema, is_punctuated and name not in silent) for name, schema in outputs]
    if on_error == "dead_letter":
        ports.append(Port("dead_letter", schema_of(DeadLetter)))
    node = Node(definition, tuple(ports), location, draft, on_error)
    node.input_names = tuple(input_names) or _default_names(len(inputs))
    for stream in inputs:
        node.inputs.append(Connection(stream.node, stream.port, is_feedback=False))
    if draft is not None:
        draft.nodes.append(node)
    return node


def close_loop(entry: Node, back: Output) -> None:
    """Connect the feedback edge of a loop."""
    entry.inputs.append(Connection(back.node, back.port, is_feedback=True))


def _default_names(count: int) -> tuple[str, ...]:
    return ("in",) if count == 1 else tuple(f"in{number}" for number in range(1, count + 1))


def _is_punctuated(definition: Definition, inputs: Sequence[Output], location: Location) -> bool:
    """The rules of composition of paper 000, section 5.2."""
    punctuated = [stream for stream in inputs if stream.is_punctuated]
    if definition.punctuation_in is PunctuationIn.EXPECTING and len(punctuated) != 1:
        why = next(filter(None, (_lost_punctuations(stream.node) for stream in inputs)), "nothing before it makes any")
        raise BuildError(
            f"'{definition.label}' needs a stream with punctuations, but {why}",
            location=location,
            hint="add .punctuate(when) directly before it",
        )
    if definition.punctuation_out is PunctuationOut.GENERATES:
        return True
    return definition.punctuation_out is PunctuationOut.PRESERVES and len(punctuated) == 1


def _lost_punctuations(node: Node) -> str | None:
    """Where the punctuations of a stream got lost on its way, if it ever had any."""
    punctuated = [connection for connection in node.inputs if connection.node.outputs[connection.port].is_punctuated]
    if len(punctuated) > 1:
        return f"several punctuated streams meet in '{node.label}', where the ends of their windows are lost"
    if punctuated:
        return f"'{node.label}' lets none through"
    before = (_lost_punctuations(connection.node) for connection in node.inputs if not connection.is_feedback)
    return next(filter(None, before), None)


def _check_same_app(node: Node, draft: Draft | None, location: Location) -> None:
    if node.draft is draft:
        return

    def where(of: Draft | None) -> str:
        return f"in app '{of.name}'" if of is not None else "outside any app"

    raise BuildError(
        f"a stream made {where(node.draft)} is used {where(draft)}",
        location=location,
        hint=f"make it where it is used; it comes from {node.location}",
    )


# Freezing -------------------------------------------------------------------------------------------------------


def freeze_app(draft: Draft) -> Graph:
    if not any(not node.outputs for node in draft.nodes):
        raise BuildError(
            f"app '{draft.name}' has no sink: nothing would come out of it",
            location=draft.location,
            hint="end a stream with .write_csv(path), .collect(name) or another sink",
        )
    return _freeze(draft.name, draft.nodes)


def freeze_sinks(name: str, sinks: Iterable[Node]) -> Graph:
    """The program that ends in these sinks: they and everything upstream of them."""
    found: dict[int, Node] = {}
    pending = list(sinks)
    while pending:
        node = pending.pop()
        if node.serial not in found:
            found[node.serial] = node
            pending += [connection.node for connection in node.inputs]
    return _freeze(name, [found[serial] for serial in sorted(found)])


def _freeze(name: str, nodes: Sequence[Node]) -> Graph:
    ids = _assign_ids(nodes)
    operators = []
    connections: list[tuple[int, Edge]] = []
    for node in nodes:
        ports = []
        for index, connection in enumerate(node.inputs):
            source = connection.node.outputs[connection.port]
            port_name = node.input_names[index] if index < len(node.input_names) else "back"
            ports.append(Port(port_name, source.schema, source.is_punctuated))
            edge = Edge(ids[connection.node.serial], connection.port, ids[node.serial], index, connection.is_feedback)
            connections.append((connection.serial, edge))
        operators.append(
            Operator(
                ids[node.serial],
                node.definition,
                tuple(ports),
                node.outputs,
                node.location,
                node.on_error,
                node.hints,
            )
        )
    edges = tuple(edge for _, edge in sorted(connections, key=lambda pair: pair[0]))
    graph = Graph(name, tuple(operators), edges)
    verify(graph)
    return graph


def _assign_ids(nodes: Sequence[Node]) -> dict[int, str]:
    """Names the user gave, then labels, numbered where they repeat: the same in every run."""
    given: dict[str, Node] = {}
    for node in nodes:
        if node.name is None:
            continue
        if node.name in given:
            raise BuildError(
                f"two operators are named '{node.name}'",
                location=node.location,
                hint=f"give one of them another name; the other is at {given[node.name].location}",
            )
        given[node.name] = node
    taken = dict.fromkeys(given)
    last_number: dict[str, int] = {}
    ids = {}
    for node in nodes:
        chosen = node.name
        if chosen is None:
            label = node.definition.label
            number = last_number.get(label, 0) + 1
            chosen = label if number == 1 else f"{label}_{number}"
            while chosen in taken:
                number += 1
                chosen = f"{label}_{number}"
            last_number[label] = number
        taken[chosen] = None
        ids[node.serial] = chosen
    return ids
