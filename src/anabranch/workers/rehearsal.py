"""One thread in the place of many: a seed decides who does what next, so that a schedule can be played again."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from anabranch.workers.flow import Flow, Grant, Task
from anabranch.workers.parcels import Parcel
from anabranch.workers.stages import Stage


class AnyStage:
    """A heuristic without a rule: whatever it chooses, the result has to be the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        return self._random.choice(schedulable)


@dataclass(eq=False)
class _Worker:
    """Between two choices: it has nothing, or a grant, a task of it, or what has come of that task."""

    grant: Grant | None = None
    task: Task | None = None
    given: list[Parcel] | None = None
    left: int = 0


class Rehearsal:
    """Every hand-over is a choice point: to ask for work, to take a stretch, to run it, to give what came of it."""

    def __init__(self, flow: Flow, workers: int, seed: int) -> None:
        self.flow = flow
        self.workers = [_Worker() for _ in range(workers)]
        self._random = random.Random(seed)

    def run(self) -> Generator[tuple[int, list[Parcel]], None, None]:
        """What leaves the last level, as `Pool.run` gives it."""
        while True:
            choices = [worker for worker in self.workers if worker.grant is not None or not self.flow.is_over]
            self._random.shuffle(choices)
            takes_first = self._random.random() < 0.3
            if takes_first and (found := self.flow.take()) is not None:
                yield found
                continue
            if any(self._step(worker) for worker in choices):
                continue
            found = self.flow.take()
            if found is not None:
                yield found
            elif self.flow.is_over:
                return
            else:
                raise AssertionError("nobody can go on: the workers wait for one another")

    def _step(self, worker: _Worker) -> bool:
        """One hand-over; whether there was one to do."""
        if worker.grant is None:
            worker.grant = self.flow.grant(self._random.random())
            if worker.grant is None:
                return False
            worker.left = worker.grant.amount
        elif worker.given is not None:
            assert worker.task is not None
            self.flow.give(worker.grant, worker.task, worker.given, self._random.random())
            worker.task = worker.given = None
        elif worker.task is not None:
            worker.given = worker.task.run()
        elif worker.left and (task := self.flow.next(worker.grant)) is not None:
            worker.task = task
            worker.left -= 1
        else:
            self.flow.release(worker.grant)
            worker.grant = None
        return True
