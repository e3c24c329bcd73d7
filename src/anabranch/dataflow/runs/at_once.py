"""A run as one job."""

from __future__ import annotations

from contextlib import closing

from anabranch.dataflow.runs.execution import Execution
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.sources.partition_keys import guard_partitions
from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.shipping import Job
from anabranch.operators.formats.stored_files import full_name


class AtOnce(Execution):
    """The tasks of the job read the sources; its last rows come to the tail, or tasks write them."""

    def __init__(self, config: RunConfig) -> None:
        [self.phase] = config.plan.phases
        super().__init__(config, Tail(config.plan, self.phase, config.metrics))

    def begin(self, folder: str) -> list[Job]:
        self.tail.spool = folder
        parts = full_name(self.parts.folder.place) if self.parts is not None else ""
        job = self.config.job(self.phase, folder, is_ordered=self.tail.is_ordered, parts=parts)
        self.arriving = guard_partitions(self.config.transport.rows(job), job)
        return [job]

    def process_all(self, shield: Shield) -> None:
        with closing(self.arriving):
            failed = self.tail.process_all(self.arriving, shield)
        if failed is not None:
            stretch, error = failed
            if self.parts is not None and self.tail.is_ordered:
                self.parts.folder.cut(stretch)
            raise error from error.__cause__
