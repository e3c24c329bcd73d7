"""Where the tripwire is: around the channels of a task, and around what tasks do that read a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from anabranch.codegen.build import Code
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.model import Graph, Operator
from anabranch.graph.places import SOURCES, Layout, Place
from anabranch.operators.failures import ALWAYS_STOP
from anabranch.tripwire.arrays import is_write
from anabranch.tripwire.reached import Change, Entry, When
from anabranch.tripwire.telling import error_of
from anabranch.tripwire.watch import Tripwire

if is_write not in ALWAYS_STOP:
    ALWAYS_STOP.append(is_write)


def tripwire_of(layout: Layout, code: Mapping[str, Code]) -> Tripwire:
    """In the driver: what is shared at places that run several times at once."""
    return Tripwire.of(
        {
            place.id: _operators(code[place.id])
            for place in layout.places
            if place.id in code and (place.region is not None or place.id == SOURCES or place.follows is not None)
        }
    )


def _operators(code: Code) -> tuple[Operator, ...]:
    """Those that run: the objects in what is generated are not copied from anywhere."""
    return tuple(code.part.operator(each) for each in code.part.operators)


def check_here(job: Job, graph: Graph) -> None:
    """In the driver, before what a run gave is taken for good."""
    change = job.tripwire.look_again(lambda place: _operators(job.code[place]))
    watched = next(iter(job.tripwire.places), None)
    if change is None and watched is not None:
        change = _changed_setting(job, watched, "here")
    if change is not None:
        raise error_of(change, graph)


@contextmanager
def begun(job: Job, place: Place) -> Iterator[Change | None]:
    """Around a channel, with those that follow it in the same task: what is not as it is in the driver.

    Inside, this process has the settings of the driver.
    """
    with job.settings.taken_over() as refused:
        runs = next((each.id for each in _together(job.layout, place) if each.id in job.code), None)
        if refused is not None and runs is not None:
            yield _of_a_setting(job, runs, refused, "setting")
        else:
            yield _looked(job, place, job.tripwire.begin)


def ended(job: Job, place: Place) -> Change | None:
    change = _looked(job, place, job.tripwire.end)
    watched = next((each.id for each in _together(job.layout, place) if each.id in job.tripwire.places), None)
    if change is None and watched is not None:
        change = _changed_setting(job, watched, "end")
    return change


def _changed_setting(job: Job, place: str, when: When) -> Change | None:
    found = job.settings.changed()
    return None if found is None else _of_a_setting(job, place, f"the setting `{found}`", when)


def _of_a_setting(job: Job, place: str, what: str, when: When) -> Change:
    operator = _operators(job.code[place])[0]
    return Change(Entry(operator.id, what, "", "", 0, b""), when)


def _looked(
    job: Job, place: Place, look: Callable[[str, Callable[[], Sequence[Operator]]], Change | None]
) -> Change | None:
    for each in _together(job.layout, place):
        if each.id in job.code:
            change = look(each.id, partial(_operators, job.code[each.id]))
            if change is not None:
                return change
    return None


def _together(layout: Layout, place: Place) -> list[Place]:
    return [place, *layout.following(place)]


def watch_rows(job: Job, place: Place, rows: Iterator[Row]) -> Iterator[Row]:
    """What a channel gives; instead of it, or behind it, what has changed. The driver sees that before all else."""
    with begun(job, place) as change:
        if change is None:
            yield from rows
            change = ended(job, place)
        if change is not None:
            yield Sender(job.layout).change(change)
