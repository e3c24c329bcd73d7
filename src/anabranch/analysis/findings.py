"""What an analysis of user code finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anabranch.graph.properties import Reason, Selectivity


@dataclass(frozen=True)
class Findings:
    """What is not known is stated as what allows least."""

    # Effects or dependences outside the call and outside the own instance: stateful, even with a key.
    shared: tuple[Reason, ...]
    # State kept in the own instance: partitioned with a key, stateful without.
    own: tuple[Reason, ...]
    selectivity: Selectivity
    # (output attribute, input attribute), sorted, true of every emission to the default output.
    forwards: tuple[tuple[str, str], ...]
    # The same, true wherever the input attribute belongs to the operator's key: what is emitted may come from an
    # earlier tuple of the same instance. With several inputs it must be named the same in the key of each.
    forwards_if_key: tuple[tuple[str, str], ...]
    emits_at_end: bool
    emits_at_punctuation: bool
    is_silent: bool  # emits nothing for a tuple, only at punctuations or the end
    reasons: tuple[Reason, ...]
    declared: Any = None  # the override of `@ab.declare`, if there is one
