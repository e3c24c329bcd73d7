"""The named figures, each with a file of its own that says what is asked of it, and measures it."""

from __future__ import annotations

from benchmarks.channels import dead_letter, light, partial_aggregate, same_key, serialise
from benchmarks.channels.part import Part

PARTS: dict[str, Part] = {
    "dead_letter": dead_letter.PART,
    "same_key": same_key.PART,
    "serialise": serialise.PART,
    "partial_aggregate": partial_aggregate.PART,
    "light": light.PART,
}
