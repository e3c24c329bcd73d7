"""The register of the corpus: an operator, and the truth about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Kind = Literal["map", "filter", "flat_map", "process", "for_each"]
State = Literal["stateless", "partitioned", "stateful"]
Selectivity = Literal["1:1", "1:[0,1]", "1:[0,inf)"]
Operator = TypeVar("Operator")

# From the least to the most that may be done with an operator.
STATES: tuple[State, ...] = ("stateful", "partitioned", "stateless")
SELECTIVITIES: tuple[Selectivity, ...] = ("1:[0,inf)", "1:[0,1]", "1:1")


@dataclass(frozen=True)
class Entry:
    """One operator of the corpus.

    `selectivity` counts what one call of `process` emits; `at_punctuation` and `at_end` say whether more is emitted
    then. `forwards` takes the key into account. `breaks` are pairs that look forwarded and are not: the samples
    must show it. `shows` is false where the hidden state of a trap does not reach the output of a run in one
    process (a log that is only written, a salted hash, a table that another operator would have to change).
    `beside` names functions of the topic that belong to the program, and change what the operator reads.
    """

    name: str
    topic: str
    operator: Any
    kind: Kind
    input: type
    output: type | None
    keyed: tuple[str, ...]
    state: State
    selectivity: Selectivity
    forwards: Mapping[str, str]
    at_punctuation: bool
    at_end: bool
    trap: bool
    breaks: Mapping[str, str]
    shows: bool
    beside: tuple[str, ...]
    why: str

    @property
    def id(self) -> str:
        return f"{self.topic}.{self.name}"

    @property
    def is_class(self) -> bool:
        return self.kind == "process" and isinstance(self.operator, type)


_collected: list[Entry] = []


@contextmanager
def collecting() -> Iterator[list[Entry]]:
    """Whatever registers meanwhile goes to the list this gives."""
    global _collected
    before, _collected = _collected, []
    try:
        yield _collected
    finally:
        _collected = before


def entry(
    name: str | None = None,
    *,
    kind: Kind,
    input: type,
    output: type | None = None,
    keyed: tuple[str, ...] = (),
    state: State = "stateless",
    selectivity: Selectivity | None = None,
    forwards: Mapping[str, str] | Literal["all"] | None = None,
    at_punctuation: bool = False,
    at_end: bool = False,
    trap: bool = False,
    breaks: Mapping[str, str] | None = None,
    shows: bool = True,
    beside: tuple[str, ...] = (),
    why: str,
) -> Callable[[Operator], Operator]:
    """Register an operator with its true properties; the operator itself is returned unchanged.

    Left out: `output` is the input's type, `selectivity` is what the kind implies, `forwards` is everything for a
    filter and nothing for the rest.
    """
    if selectivity is None:
        selectivity = {"map": "1:1", "filter": "1:[0,1]", "for_each": "1:1"}[kind]
    out = None if kind == "for_each" else output or input
    if forwards is None:
        forwards = "all" if kind == "filter" else {}
    if forwards == "all":
        forwards = {attribute: attribute for attribute in out._fields if attribute in input._fields}
    topic = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]

    def register(operator: Operator) -> Operator:
        label = name or getattr(operator, "__name__", None)
        assert label, f"{topic}: an operator without a name of its own needs one: {why}"
        assert state != "partitioned" or (keyed and isinstance(operator, type)), f"{label}: partitioned needs a key"
        _collected.append(
            Entry(
                label, topic, operator, kind, input, out, keyed, state, selectivity, dict(forwards),
                at_punctuation, at_end, trap, dict(breaks or {}), shows, beside, why,
            )
        )  # fmt: skip
        return operator

    return register
