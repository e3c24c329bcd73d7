"""What a plan is made for: what the engine can do, and what was asked for. It stands at the head of every plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from anabranch.graph.forms import Form

FUSIONS = ("all", "none", "manual")

Channels = int | Mapping[str, int] | Literal["auto"] | None
"""A number for all regions, numbers by region, or "auto" (None is the same): as many as the target has by itself."""


@dataclass(frozen=True)
class Target:
    """What an engine can do, as far as a plan depends on it: the stages ask this, never which engine it is.

    Without channels everything runs in one process, as one place. Sources that are `endless` are read as they grow.
    """

    name: str
    cores: int = 1
    channels_per_core: int = 1
    has_channels: bool = True
    reads_slices: bool = True  # many tasks read the only source, a slice each
    reads_apart: bool = True  # sources that are drawn in turn have a task each
    writes_parts: bool = True  # many tasks write a folder
    makes_lines: bool = True  # channels make the lines of a text file, which are only put in order behind them
    is_endless: bool = False

    @property
    def for_stream(self) -> Target:
        """The same for a program that goes on with what arrives: its channels stay, and the cores may become more."""
        return replace(self, channels_per_core=4, is_endless=True)

    @property
    def usual_channels(self) -> int:
        return self.cores * self.channels_per_core


IN_PROCESS = Target("fused", has_channels=False)


def multicore(workers: int) -> Target:
    """Workers of this process. Sources that are drawn in turn are drawn by one of them."""
    return Target("multicore", cores=workers, reads_apart=False)


@dataclass(frozen=True)
class Settings:
    """What was asked for. `expected` is the number of tuples to plan for; None: as many as the sources look like."""

    target: Target
    channels: Channels = "auto"
    form: Form = "auto"
    expected: int | None = None
    fuse: str = "all"
