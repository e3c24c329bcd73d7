"""The places of a level in a task: the channel of each, of the kind that its operators need, stretch by stretch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from anabranch.dataflow.channels.candidates_channel import CandidatesChannel
from anabranch.dataflow.channels.channel import Channel
from anabranch.dataflow.channels.handing_on import Inbox
from anabranch.dataflow.channels.instances_channel import InstancesChannel
from anabranch.dataflow.channels.join_channel import JoinChannel
from anabranch.dataflow.channels.parts_channel import PartsChannel, makes_parts
from anabranch.dataflow.channels.together import Together
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.channels.window_channel import WindowChannel
from anabranch.dataflow.layout.place_parts import has_windows
from anabranch.dataflow.tail.parts import PartChannel, PartWriter
from anabranch.dataflow.transport.printing import said_by, with_printing
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
            yield from _processed(job, PartWriter(job), place, of_place)
        else:
            yield from watch_rows(job, place, _channel_rows(job, place, first.channel, of_place))


def _channel_rows(job: Job, place: Place, number: int, rows: Iterator[Row]) -> Iterator[Row]:
    if job.keeps_state:
        yield from _continued(job, channel_at(job, place), place, rows)
    else:
        yield from _processed(job, channel_at(job, place, number=number), place, rows)


def _processed(job: Job, channel: Together | PartWriter, place: Place, rows: Iterable[Row]) -> Iterator[Row]:
    for stretch, of_stretch in groupby(rows, key=lambda row: row.stretch):
        fetched = [fetch(row, job.scratch) for row in of_stretch]
        whose = said_by(job, stretch, job.layout.places.index(place), fetched[0].channel)
        yield from with_printing(channel.process_stretch(stretch, fetched), whose, job.log_level)
    yield from channel.figures()


def _continued(job: Job, channel: Together, place: Place, rows: Iterator[Row]) -> Iterator[Row]:
    """A channel that goes on where it was in the last round. Its state, if there is one, is the first row."""
    first = next(rows)
    if first.stretch == FIGURES:
        channel.state.restore(bytes(fetch(first, job.scratch).payload))
        channel.begin_figures()
    else:
        rows = chain([first], rows)
    yield from _processed(job, channel, place, rows)
    if not channel.is_broken:
        yield channel.sender.state(first.channel, channel.place, channel.state.save())


def channel_at(job: Job, place: Place, *, number: int = 0) -> Together:
    """A channel of a place, with those of the places that follow it there. Files that it writes have its number."""
    inbox = inbox_of(job, place, number=number)
    return Together(job, _channel(job, place, inbox), inbox)


def inbox_of(job: Job, place: Place, *, number: int = 0) -> Inbox:
    """For the channels of those places that follow one, in the same task."""
    inbox = Inbox(job.layout)
    inbox.followers = [
        _channel(job, each, inbox) if each.id != PARTS else PartChannel(job, number)
        for each in job.layout.following(place)
    ]
    return inbox


def _channel(job: Job, place: Place, inbox: Inbox) -> Channel:
    made: type[Channel] = Channel
    if any(job.layout.made_for(each) is not None for each in place.operators):
        made = PartsChannel if makes_parts(job.layout, place) else CandidatesChannel
    elif len(job.layout.items(place.id)) < len(job.layout.arriving(place.id)):
        made = JoinChannel
    elif place.is_ranked:
        made = WindowChannel if has_windows(job.layout, place) else InstancesChannel
    return made(job, place, inbox)
