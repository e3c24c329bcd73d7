"""`feedback`: the entry of a loop, where fed-back tuples join the stream.

When fed-back tuples are processed is the engine's business (design, section 2: after the current traversal, first in
first out, before the next source tuple). This file says what enters the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.operators.base import PUNCTUATION, Emission, Meaning, OperatorDefinition

FORWARD, BACK = 0, 1


@dataclass(frozen=True)
class Feedback(OperatorDefinition):
    """With `rounds`, window punctuations travel around the loop too, and an empty round ends it."""

    record: ClassVar = Record(kind="feedback", state="stateful", selectivity="1:1", forwards="all")
    rounds: bool = False

    @property
    def punctuation_out(self) -> PunctuationOut:
        return PunctuationOut.GENERATES if self.rounds else PunctuationOut.PRESERVES

    def meaning(self, operator: Operator) -> Meaning:
        return FeedbackMeaning(operator, self.rounds)


class FeedbackMeaning(Meaning):
    state = ("entered",)

    def __init__(self, operator: Operator, rounds: bool) -> None:
        super().__init__(operator)
        self.rounds = rounds
        self.entered = 0  # tuples since the last punctuation: the current round

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        self.entered += 1
        yield 0, item

    def punctuation(self, port: int) -> Iterator[Emission]:
        if port == BACK and not self.has_open_round:
            return
        self.entered = 0
        yield 0, PUNCTUATION

    @property
    def has_open_round(self) -> bool:
        return self.rounds and self.entered > 0

    def close_round(self) -> Iterator[Emission]:
        """The end of everything that enters the loop closes the round that is open."""
        self.entered = 0
        yield 0, PUNCTUATION
