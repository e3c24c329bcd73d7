"""The graph of a program: operators joined by streams, as the compiler and the engines see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from anabranch.errors import Location
from anabranch.graph.properties import PunctuationIn, PunctuationOut
from anabranch.graph.schema import Schema


@dataclass(frozen=True)
class Record:
    """What is known of an operator's definition before it is used: the operator model of paper 000, section 3.2.

    `"user code"` stands for what must be found by analysing the functions the user gave.
    """

    kind: str
    state: str = "stateful"  # stateless | key | user code | stateful
    selectivity: str = "1:[0,inf)"  # 1:1 | 1:[0,1] | 1:[0,inf) | user code
    forwards: str = "none"  # all | any | user code | none
    punctuation_in: PunctuationIn = PunctuationIn.OBLIVIOUS
    punctuation_out: PunctuationOut = PunctuationOut.PRESERVES


class Definition:
    """What an operator does; a frozen dataclass in `anabranch.operators` holds its parameters."""

    record: ClassVar[Record]

    @property
    def label(self) -> str:
        """A name to call the operator by when the user gave none."""
        return self.record.kind

    @property
    def key(self) -> tuple[str, ...]:
        """The attributes its state is partitioned by, where it has any."""
        return ()

    def shown(self, item: Any) -> Any:
        """A tuple that comes here as a user knows it."""
        return item

    @property
    def punctuation_in(self) -> PunctuationIn:
        return self.record.punctuation_in

    @property
    def punctuation_out(self) -> PunctuationOut:
        return self.record.punctuation_out


@dataclass(frozen=True)
class Port:
    """Where a stream leaves or enters an operator.

    `is_punctuated` says whether window punctuations travel on the stream (paper 000, section 5.2).
    """

    name: str
    schema: Schema
    is_punctuated: bool = False


@dataclass(frozen=True)
class Hints:
    """What the user asked for with `.place`; the compiler's fusion and placement honour it."""

    pe: str | None = None
    host: str | None = None
    alone: bool = False
    together_with: tuple[str, ...] = ()
    apart_from: tuple[str, ...] = ()
    replica_of: str | None = None
    threaded: bool = False
    resources: tuple[tuple[str, float], ...] = ()


MAIN = "out"  # the name of an output that no other may have


@dataclass(frozen=True)
class Operator:
    """One operator of a program. Its id is stable: the same program gives the same ids in every run."""

    id: str
    definition: Definition
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    location: Location
    on_error: str = "stop"  # stop | skip | dead_letter
    hints: Hints = field(default_factory=Hints)

    @property
    def kind(self) -> str:
        return self.definition.record.kind

    @property
    def is_source(self) -> bool:
        return not self.inputs

    @property
    def is_sink(self) -> bool:
        return not self.outputs

    @property
    def has_main_output(self) -> bool:
        """Whether what it gives without saying where goes somewhere: to its first output."""
        return bool(self.outputs) and self.outputs[0].name == MAIN

    def output(self, name: str) -> int:
        return next(index for index, port in enumerate(self.outputs) if port.name == name)


@dataclass(frozen=True)
class StreamId:
    """An output port of an operator, with everything that is sent there."""

    operator: str
    port: int = 0


@dataclass(frozen=True)
class Edge:
    """A stream from an output port to an input port; `is_feedback` marks the edge that closes a loop."""

    source: str
    source_port: int
    target: str
    target_port: int
    is_feedback: bool = False


@dataclass(frozen=True)
class Graph:
    """Operators in order of declaration, edges in order of connection: both orders carry meaning."""

    name: str
    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]
    program: Graph | None = field(default=None, compare=False, repr=False)  # where this is only a part of it

    @property
    def whole(self) -> Graph:
        return self.program or self

    def part(self, operators: tuple[Operator, ...], edges: tuple[Edge, ...]) -> Graph:
        """Some of its operators, perhaps with others that stand for what is around them."""
        return Graph(self.name, operators, edges, self.whole)

    def __reduce__(self) -> tuple[Any, ...]:
        """The rest of the program is not sent along."""
        return Graph, (self.name, self.operators, self.edges)

    def operator(self, operator_id: str) -> Operator:
        return self._by_id[operator_id]

    def schema(self, stream: StreamId) -> Schema:
        return self.operator(stream.operator).outputs[stream.port].schema

    @property
    def _by_id(self) -> dict[str, Operator]:
        found: dict[str, Operator] | None = self.__dict__.get("_index")
        if found is None:
            found = {operator.id: operator for operator in self.operators}
            object.__setattr__(self, "_index", found)
        return found

    @property
    def sources(self) -> tuple[Operator, ...]:
        return tuple(operator for operator in self.operators if operator.is_source)

    @property
    def sinks(self) -> tuple[Operator, ...]:
        return tuple(operator for operator in self.operators if operator.is_sink)


@dataclass(frozen=True)
class Program:
    """A built program: what `@ab.app` functions return and `ab.run` takes."""

    graph: Graph
    location: Location | None = None
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return self.graph.name

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.graph.operators)} operators>"

    def _repr_html_(self) -> str:
        """Notebooks show the operators and streams; how they run is what `ab.explain` shows."""
        from anabranch.graph.page import as_fragment  # which shows what is defined here
        from anabranch.graph.plan import Plan

        return as_fragment(Plan(self.graph), {})
