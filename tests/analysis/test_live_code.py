"""Looking at all code there is, in a process where other threads go on."""

from __future__ import annotations

import sys
import threading

from anabranch.analysis.live_code import live_codes


def test_other_threads_can_make_tuples_meanwhile() -> None:
    """A tuple that grows while somebody else holds it is an error of the interpreter, in the thread that makes it."""
    errors: list[SystemError] = []
    stop = threading.Event()

    def make_tuples() -> None:
        while not stop.is_set():
            try:
                tuple(map(lambda n: n + 1, iter(range(2_000))))
            except SystemError as problem:
                errors.append(problem)

    threads = [threading.Thread(target=make_tuples) for _ in range(2)]
    interval = sys.getswitchinterval()
    for thread in threads:
        thread.start()
    for _ in range(4):
        live_codes()
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sys.getswitchinterval() == interval
