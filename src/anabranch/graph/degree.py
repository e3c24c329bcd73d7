"""How many channels parallel regions have: as asked for, of all or of each by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anabranch.errors import UsageError
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Channels

_MOST_CHANNELS = 10_000


def asked_channels(plan: Plan, channels: Channels) -> Mapping[str, int]:
    """The regions for which a number was asked for, in the order of the plan."""
    if channels is None or channels == "auto":
        return MappingProxyType({})
    regions = [region.id for region in plan.regions]
    if not isinstance(channels, Mapping):
        _must_be_number(channels)
        return MappingProxyType(dict.fromkeys(regions, channels))
    for region_id, number in channels.items():
        if region_id not in regions:
            known = f"its regions: {', '.join(regions)}" if regions else "it has no parallel region"
            raise UsageError(f"'{plan.graph.name}' has no region '{region_id}'", hint=known)
        _must_be_number(number)
    return MappingProxyType({region_id: channels[region_id] for region_id in regions if region_id in channels})


def degree_of(plan: Plan, channels: Channels, usual: int) -> dict[str, int]:
    """The number of channels of every region: the one asked for, or the usual one."""
    return {**{region.id: usual for region in plan.regions}, **asked_channels(plan, channels)}


def channels_of(plan: Plan) -> Mapping[str, int]:
    """The number that each region of a plan has once it is laid out, and before that where one was asked for."""
    if not plan.phases:
        return asked_channels(plan, plan.settings.channels)
    if not plan.settings.target.has_channels:
        return MappingProxyType({region.id: 1 for region in plan.regions})
    in_one_place, read = plan.in_one_place, plan.read_in_one_place
    alone = [region.id for region in plan.regions if all(each in read for each in region.operators)]
    return MappingProxyType(
        {each: 1 if each in in_one_place or each in alone else number for each, number in plan.channels.items()}
    )


def _must_be_number(channels: object) -> None:
    if isinstance(channels, bool) or not isinstance(channels, int) or not 1 <= channels <= _MOST_CHANNELS:
        raise UsageError(
            f"a region cannot have {channels!r} channels",
            hint=f'give a whole number from 1 to {_MOST_CHANNELS:,}, such numbers by region ({{"R1": 4}}), or "auto"',
        )
