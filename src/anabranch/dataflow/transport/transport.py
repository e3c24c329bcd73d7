"""The one protocol that an engine implements: how what places send each other moves."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job


class Transport(Protocol):
    """Where jobs run. How much is on its way at a time is its own business."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""

    @property
    def shares_files(self) -> bool:
        """Whether driver and workers certainly see the same files."""

    @staticmethod
    def task_name() -> str | None:
        """In a task: what it is called, the same in all attempts at it; None where there is only one."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        """What comes to the tail, by stretch; of a job that reads no sources, but goes on with given rows.

        A program that cannot be sent is refused by the call, before a row is asked for.
        """
