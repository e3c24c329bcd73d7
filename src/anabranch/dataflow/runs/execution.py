"""The scaffold of a run: what is opened and closed around the work, and looked at before it is taken for good."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from anabranch.dataflow.channels.tripwires import check_here
from anabranch.dataflow.result import Result, collected
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.parts import WrittenParts
from anabranch.dataflow.tail.sinks import opened
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.task_progress import watched


class Execution(ABC):
    """A run of a plan, in one job or several. The last of its tails has the sinks of the program."""

    def __init__(self, config: RunConfig, *tails: Tail) -> None:
        self.config = config
        self.metrics = config.metrics
        self.tails = tails
        self.tail = tails[-1]
        layout = config.plan.phases[-1].layout
        self.parts = WrittenParts(layout) if layout.has_parts else None

    def run(self) -> None:
        written = [self.parts] if self.parts is not None else []
        with (
            shielded() as shield,
            scratch_folder() as folder,
            watched(self.metrics, folder),
            opened(written, shield),
        ):
            jobs = self.begin(folder)
            with opened(self.tail.sinks, shield):
                try:
                    self.process_all(shield)
                    self._check(jobs)
                finally:
                    self.metrics.stop()
                    self.metrics.notes += [note for tail in self.tails for note in tail.notes]

    @abstractmethod
    def begin(self, folder: str) -> Sequence[Job]:
        """Send the jobs out. A program that cannot be sent is refused here: it opens its sinks in this process."""

    @abstractmethod
    def process_all(self, shield: Shield) -> None:
        """Process what comes, up to the first error in the order."""

    def _check(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            check_here(job, self.config.graph)
        for tail in self.tails:
            tail.check()
        if self.parts is not None:
            self.parts.check(self.tail.written)

    def result(self) -> Result:
        return Result(self.config.plan, self.metrics, collected(self.tail.sinks))
