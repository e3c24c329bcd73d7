"""A program whose operator is busy and fails now and then: what it gives is one stream, its dead letters another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.channels.work import Task, mixed, tasks
from benchmarks.spark import ours

SELDOM = 997  # about one of so many tuples fails, and one of so many is kept


class Worker:
    def __init__(self) -> None:
        self.value = 0

    def process(self, task: Task) -> Iterator[Task]:
        self.value = mixed(self.value + task.value, task.steps)
        if self.value % SELDOM == 0:
            raise ValueError("not today")
        yield Task(task.a, task.b, task.steps, self.value)


def run(session: Any, count: int, steps: int, channels: int) -> dict[str, Any]:
    worked = tasks(count, steps).process(Worker, key="a", on_error="dead_letter")
    kept = worked.filter(lambda task: task.value % SELDOM == 1).collect("kept")
    letters = worked.outputs.dead_letter.collect("letters")
    # Native code would be done in a moment.
    result = ours.run(session, kept, letters, channels=channels, form="python")
    assert result.plan.channels == {"R1": channels}, "its region is not the one that is measured"
    assert not result.plan.in_one_place, "not all of it ran in channels"
    return {"kept": result.items("kept"), "letters": result.items("letters")}
