"""How many channels each parallel region has."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.errors import UsageError
from anabranch.graph.plan import Plan

_MOST_CHANNELS = 10_000


def degree_of(plan: Plan, channels: int | Mapping[str, int] | None, usual: int) -> dict[str, int]:
    """The number of channels by region: as given, for all or by name, or the usual one."""
    given = channels if isinstance(channels, Mapping) else {}
    common = channels if isinstance(channels, int) else usual
    regions = [region.id for region in plan.regions]
    for name, number in (given or {"channels": common}).items():
        if given and name not in regions:
            known = f"its regions are {', '.join(regions)}" if regions else "it has none"
            raise UsageError(f"the program has no region '{name}'", hint=known)
        if not 1 <= number <= _MOST_CHANNELS:
            raise UsageError(f"{number} is not a number of channels", hint=f"use 1 to {_MOST_CHANNELS:,}")
    return {region: given.get(region, common) for region in regions}
