"""Threads that work on a flow: each asks what to do, does it without the lock, and asks again (paper 004, 6)."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from anabranch.workers.flow import Flow, Grant
from anabranch.workers.parcels import Parcel

# Native code lets go of the interpreter's lock, and has to have it again for every stretch: beside a thread that is
# busy in Python it would wait for this long each time.
_SWITCH_SECONDS = 0.0001


class Pool:
    """So many workers. What is set for this thread alone (as the context of `decimal`) holds in theirs, too."""

    def __init__(self, flow: Flow, workers: int) -> None:
        self.flow = flow
        self.workers = workers
        self._changed = threading.Condition()
        self._is_stopped = False
        self._failure: BaseException | None = None

    def run(self) -> Generator[tuple[int, list[Parcel]], None, None]:
        """What leaves the last level, a stretch after the other. Who closes it stops the workers."""
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._work,), name=f"worker-{number}")
            for number in range(self.workers)
        ]
        with _switching_quickly():
            for thread in threads:
                thread.start()
            try:
                yield from self._taken()
            finally:
                with self._changed:
                    self._is_stopped = True
                    self._changed.notify_all()
                for thread in threads:
                    thread.join()

    def _taken(self) -> Iterator[tuple[int, list[Parcel]]]:
        while True:
            with self._changed:
                found = self.flow.take()
                while found is None:
                    if self._failure is not None:
                        raise self._failure
                    if self.flow.is_over:
                        return
                    self._changed.wait()
                    found = self.flow.take()
                self._changed.notify_all()  # there is room for more
            yield found

    def _work(self) -> None:
        try:
            while (grant := self._grant()) is not None:
                self._do(grant)
        except BaseException as problem:  # it is raised where the run is waited for
            with self._changed:
                self._failure = self._failure or problem
                self._changed.notify_all()

    def _grant(self) -> Grant | None:
        with self._changed:
            while not self._is_stopped and self._failure is None:
                grant = self.flow.grant(time.perf_counter())
                if grant is not None:
                    return grant
                if self.flow.is_over:
                    return None
                self._changed.wait()
            return None

    def _do(self, grant: Grant) -> None:
        try:
            for _ in range(grant.amount):
                with self._changed:
                    task = None if self._is_stopped or self._failure is not None else self.flow.next(grant)
                if task is None:
                    return
                began = time.perf_counter()
                given = task.run()
                seconds = time.perf_counter() - began
                with self._changed:
                    self.flow.give(grant, task, given, seconds)
                    self._changed.notify_all()
        finally:
            with self._changed:
                self.flow.release(grant)
                self._changed.notify_all()


@contextmanager
def _switching_quickly() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
