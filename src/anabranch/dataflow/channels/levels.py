"""The places of a level in a task: the channel of each, of the kind that its operators need, stretch by stretch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from anabranch.dataflow.channels.channel import Channel, Follower
from anabranch.dataflow.channels.instances_channel import InstancesChannel
from anabranch.dataflow.channels.join_channel import JoinChannel
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.channels.window_channel import WindowChannel
from anabranch.dataflow.layout.place_parts import has_windows
from anabranch.dataflow.tail.parts import PartChannel, PartWriter
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import fetch
from anabranch.graph.places import PARTS, Place


def level_rows(job: Job, level: int, rows: Iterator[Row]) -> Iterator[Row]:
    """Rows come sorted by place and stretch; those for later levels pass."""
    for number, of_place in groupby(rows, key=lambda row: row.place):
        place = job.layout.places[number]
        if place.level != level:
            yield from of_place
            continue
        first = next(of_place)
        of_place = chain([first], of_place)
        if place.id == PARTS:
            yield from _processed(job, PartWriter(job), of_place)
        else:
            yield from watch_rows(job, place, _channel_rows(job, place, first.channel, of_place))


def _channel_rows(job: Job, place: Place, number: int, rows: Iterator[Row]) -> Iterator[Row]:
    if job.keeps_state:
        yield from _continued(job, channel_at(job, place), rows)
    else:
        yield from _processed(job, channel_at(job, place, number=number), rows)


def _processed(job: Job, channel: Channel | PartWriter, rows: Iterable[Row]) -> Iterator[Row]:
    for stretch, of_stretch in groupby(rows, key=lambda row: row.stretch):
        yield from channel.process_stretch(stretch, [fetch(row, job.scratch) for row in of_stretch])
    yield from channel.figures()


def _continued(job: Job, channel: Channel, rows: Iterator[Row]) -> Iterator[Row]:
    """A channel that goes on where it was in the last round. Its state, if there is one, is the first row."""
    first = next(rows)
    if first.stretch == FIGURES:
        channel.state.restore(bytes(fetch(first, job.scratch).payload))
        channel.begin_figures()
    else:
        rows = chain([first], rows)
    yield from _processed(job, channel, rows)
    if not channel.is_broken:
        yield channel.sender.state(first.channel, channel.place, channel.state.save())


def channel_at(job: Job, place: Place, *, number: int = 0) -> Channel:
    """A channel of a place, with those of the places that follow it there. Files that it writes have its number."""
    followers: list[Follower] = [
        channel_at(job, each, number=number) if each.id != PARTS else PartChannel(job, number)
        for each in job.layout.following(place)
    ]
    made = Channel
    if len(job.layout.items(place.id)) < len(job.layout.arriving(place.id)):
        made = JoinChannel
    elif place.is_ranked:
        made = WindowChannel if has_windows(job.layout, place) else InstancesChannel
    return made(job, place, followers)
