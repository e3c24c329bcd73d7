"""What the compiler knows of an operator (paper 000, section 3.2), each fact with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from anabranch.errors import Location


class State(Enum):
    STATELESS = "stateless"
    PARTITIONED = "partitioned"
    STATEFUL = "stateful"


class Selectivity(Enum):
    """How many tuples leave for each that arrives; ordered from most to least known."""

    EXACTLY_ONE = "1:1"
    AT_MOST_ONE = "1:[0,1]"
    UNBOUNDED = "1:[0,inf)"

    def then(self, other: Selectivity) -> Selectivity:
        """The selectivity of two operators in a row: the less known of the two."""
        order = list(Selectivity)
        return order[max(order.index(self), order.index(other))]


class PunctuationIn(Enum):
    OBLIVIOUS = "oblivious"
    EXPECTING = "expecting"


class PunctuationOut(Enum):
    GENERATES = "generates"
    REMOVES = "removes"
    PRESERVES = "preserves"


@dataclass(frozen=True)
class Reason:
    """Why a property has its value: a rule in words, and the line that made it apply."""

    about: str  # "state", "selectivity", "forwards", "punctuation", "region", …
    text: str
    location: Location | None = None
    hint: str | None = None  # the smallest edit that would change the conclusion

    def __str__(self) -> str:
        return f"{self.text} ({self.location})" if self.location else self.text


@dataclass(frozen=True)
class Properties:
    """The properties of one operator. What is unknown is the value that allows least."""

    state: State = State.STATEFUL
    key: tuple[str, ...] = ()  # of the input, for partitioned state
    selectivity: Selectivity = Selectivity.UNBOUNDED
    forwards: tuple[tuple[str, str], ...] = ()  # (output attribute, input attribute), sorted
    punctuation_in: PunctuationIn = PunctuationIn.OBLIVIOUS
    punctuation_out: PunctuationOut = PunctuationOut.PRESERVES
    emits_at_end: bool = False  # what it emits then is ordered by (end of window, first arrival of the group, index)
    emits_at_punctuation: bool = False
    is_silent_between: bool = False  # emits nothing for tuples, only at punctuations or the end
    reasons: tuple[Reason, ...] = field(default=(), compare=False)

    def about(self, what: str) -> tuple[Reason, ...]:
        return tuple(reason for reason in self.reasons if reason.about == what)
