"""What an engine gives a run: where its jobs run, and how their rows come to the tail."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job


class Cluster(Protocol):
    """Where jobs run."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""

    @property
    def shares_files(self) -> bool:
        """Whether driver and workers certainly see the same files."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        """The rows for the tail, by epoch; of a job that reads no sources, but goes on with given rows.

        A program that cannot be sent is refused by the call, before a row is asked for.
        """
