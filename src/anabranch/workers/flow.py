"""What is where: stretches on their way through levels of stages, and what a worker may do next (paper 004, 2.2).

It has no threads and no locks, so that any schedule can be played through: who calls it sees to it that one does so at
a time. Order is kept by stretches. A level is given a stretch when all before it are done with this one and with those
that come before it; each of its units takes its stretches in order; and what leaves the last level leaves it likewise.
So a stretch plays the pulse's part (paper 000, section 4), also where a unit gave nothing for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anabranch.workers.heuristics import Heuristic
from anabranch.workers.parcels import Feed, Parcel, Unit
from anabranch.workers.stages import Queued, Stage

_READING = 0  # the level of the feed


@dataclass(frozen=True, eq=False)
class Grant:
    """What a worker may do: so many stretches of a unit; of the feed, where there is none."""

    stage: Stage
    queued: Queued | None
    amount: int


@dataclass(frozen=True)
class Task:
    """One stretch of it."""

    stretch: int
    run: Callable[[], list[Parcel]]
    size: int  # tuples that come in; 0 of the feed


class Flow:
    """`most_begun` stretches are on their way at a time: then nothing more is read until the last level has given some.

    Downstream of the feed nothing is held up, however much one stretch becomes: so nothing waits in a circle.
    """

    def __init__(
        self,
        feed: Feed,
        levels: Sequence[Mapping[str, Mapping[int, Unit]]],
        heuristic: Heuristic,
        *,
        most_begun: int,
        slice_seconds: float = 0.01,
        window_seconds: float = 0.1,
    ) -> None:
        """`levels` has the units of each stage by its name, numbered within the level."""
        self.feed = feed
        self.heuristic = heuristic
        self.most_begun = most_begun
        self.slice = slice_seconds
        self.window = window_seconds
        self.reading = Stage("reading", _READING, {}, feed.most)
        self.stages = [self.reading]
        self.units: list[dict[int, tuple[Stage, Queued]]] = [{}]
        for level, stages in enumerate(levels, 1):
            here: dict[int, tuple[Stage, Queued]] = {}
            for name, units in stages.items():
                stage = Stage(name, level, {number: Queued(unit) for number, unit in units.items()}, len(units))
                self.stages.append(stage)
                here |= {number: (stage, queued) for number, queued in stage.units.items()}
            self.units.append(here)
        last = len(self.units)  # where what leaves is taken
        # By level: what has come for a stretch; how far it was given; how far it is done; who is still at a stretch.
        self._come: list[dict[int, list[Parcel]]] = [defaultdict(list) for _ in range(last + 1)]
        self._given = [feed.first] * (last + 1)
        self._done = [feed.first] * (last + 1)
        self._open: list[dict[int, int]] = [defaultdict(int) for _ in range(last + 1)]
        self._next = feed.first  # to be read
        self._window_ends = 0.0

    # What may be done -------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all has left, or will be taken at once."""
        return self._end is not None and self._done[-2] >= self._end

    @property
    def _end(self) -> int | None:
        return None if self.feed.count is None else self.feed.first + self.feed.count

    @property
    def _may_read(self) -> bool:
        is_more = self._end is None or self._next < self._end
        return is_more and self.reading.workers < self.reading.most and self._next - self._done[-1] < self.most_begun

    def grant(self, now: float) -> Grant | None:
        """The next work for a worker, if there is some: which stage, and how much of it until it asks again."""
        if now >= self._window_ends:
            self._window_ends = now + self.window
            for stage in self.stages:
                stage.recent = 0.0
        schedulable = [self.reading] if self._may_read else []
        schedulable += [stage for stage in self.stages[1:] if stage.is_schedulable]
        if not schedulable:
            return None
        stage = self.heuristic.choose(schedulable, self.stages)
        stage.workers += 1
        if stage is self.reading:
            return Grant(stage, None, 1)
        queued = stage.next_unit()
        queued.is_busy = True
        size = sum(parcel.size for _, each in queued.worklist for parcel in each) / len(queued.worklist)
        seconds = stage.cost * max(size, 1.0)
        return Grant(stage, queued, max(1, int(self.slice / seconds)))

    def next(self, grant: Grant) -> Task | None:
        """The next stretch of what was granted; None where there is none for now."""
        if grant.queued is None:
            if not self._may_read_on:
                return None
            stretch, self._next = self._next, self._next + 1
            self._open[_READING][stretch] = 1
            return Task(stretch, lambda: self.feed.read(stretch), 0)
        if not grant.queued.worklist:
            return None
        stretch, parcels = grant.queued.worklist.popleft()
        size = sum(each.size for each in parcels)
        grant.stage.waiting -= size
        unit = grant.queued.unit
        return Task(stretch, lambda: list(unit.process(stretch, parcels)), size)

    @property
    def _may_read_on(self) -> bool:
        """For who reads already."""
        is_more = self._end is None or self._next < self._end
        return is_more and self._next - self._done[-1] < self.most_begun

    # What has been done -----------------------------------------------------------------------------------------

    def give(self, grant: Grant, task: Task, given: Sequence[Parcel], seconds: float) -> None:
        """A stretch is done, and this has come of it."""
        stage = grant.stage
        emitted = sum(parcel.size for parcel in given)
        stage.received += task.size if stage is not self.reading else emitted
        stage.emitted += emitted
        stage.seconds += seconds
        stage.recent += seconds
        for parcel in given:
            assert parcel.level > stage.level, "what is given goes on"
            self._come[parcel.level][task.stretch].append(parcel)
        self._open[stage.level][task.stretch] -= 1
        self._move_on()

    def release(self, grant: Grant) -> None:
        """The worker is free again."""
        grant.stage.workers -= 1
        if grant.queued is not None:
            grant.queued.is_busy = False

    def _move_on(self) -> None:
        """Give every level what it may have now."""
        for level in range(len(self.units)):
            while self._done[level] < self._given_to(level) and not self._open[level].get(self._done[level]):
                self._open[level].pop(self._done[level], None)
                self._done[level] += 1
            if level + 1 < len(self.units):
                while self._given[level + 1] < self._done[level]:
                    self._hand_out(level + 1, self._given[level + 1])
                    self._given[level + 1] += 1

    def _given_to(self, level: int) -> int:
        return self._next if level == _READING else self._given[level]

    def _hand_out(self, level: int, stretch: int) -> None:
        by_unit: dict[int, list[Parcel]] = defaultdict(list)
        for parcel in self._come[level].pop(stretch, ()):
            by_unit[parcel.unit].append(parcel)
        for number, parcels in by_unit.items():
            stage, queued = self.units[level][number]
            queued.worklist.append((stretch, parcels))
            stage.waiting += sum(each.size for each in parcels)
        if by_unit:
            self._open[level][stretch] = len(by_unit)

    def take(self) -> tuple[int, list[Parcel]] | None:
        """The next stretch that has left the last level, in order; None where there is none for now."""
        if self._done[-1] >= self._done[-2]:
            return None
        stretch = self._done[-1]
        self._done[-1] += 1
        return stretch, self._come[-1].pop(stretch, [])
