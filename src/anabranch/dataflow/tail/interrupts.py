"""Ctrl-C stops a run between two source tuples, so that what was written is what the program means."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Shield:
    """Work inside `with shield:` is finished before an interrupt takes effect; a second one takes effect at once."""

    def __init__(self) -> None:
        self._is_busy = False
        self._was_interrupted = False

    def __enter__(self) -> None:
        self._is_busy = True

    def __exit__(self, *problem: object) -> None:
        self._is_busy = False
        if self._was_interrupted and problem[0] is None:
            raise KeyboardInterrupt

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._is_busy or self._was_interrupted:
            raise KeyboardInterrupt
        self._was_interrupted = True


@contextmanager
def shielded() -> Iterator[Shield]:
    """A shield that catches Ctrl-C and SIGTERM, where they are ours to catch: in the main thread, not handled yet.

    A shield inside another one takes its place: what it guards is what must not be cut in two.
    """
    shield = Shield()
    replaced = []
    if threading.current_thread() is threading.main_thread():
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            now = signal.getsignal(number)
            if now is usual or isinstance(getattr(now, "__self__", None), Shield):
                replaced.append((number, signal.signal(number, shield.interrupt)))
    try:
        yield shield
    finally:
        for number, before in replaced:
            signal.signal(number, before)
