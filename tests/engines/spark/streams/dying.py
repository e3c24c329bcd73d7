"""A stream that kills itself at a chosen call of a method: `python -m … --die WHEN POINT CALLS …`.

For that it changes the library, so no other test may load it.
"""

from __future__ import annotations

import argparse
import functools
import os
import signal
from typing import Any

from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.dataflow.streams.entries import EntryLog
from anabranch.dataflow.streams.stream_tail import StreamTail
from anabranch.dataflow.tail.tail import Tail
from tests.engines.spark.streams import killed_stream


def die(when: str, point: str, calls: int) -> None:
    """Let this process kill itself `before` or `after` so many calls of a method."""

    def dying(method: Any) -> Any:
        left = calls

        @functools.wraps(method)
        def counted(*given: Any) -> Any:
            nonlocal left
            left -= 1
            if when == "before" and left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            found = method(*given)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return counted

    # One by one, as `setattr` could be meant for any class, and then no operator here would be parallel.
    match point:
        case "arrival":
            EntryLog.append = dying(EntryLog.append)
        case "stretch":
            Tail.process_stretch = dying(Tail.process_stretch)
        case "sync":
            StreamTail._commit = dying(StreamTail._commit)
        case "state":
            Checkpoint.write_state = dying(Checkpoint.write_state)
        case "commit":
            Checkpoint.write_commit = dying(Checkpoint.write_commit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--die", nargs=3, required=True, metavar=("WHEN", "POINT", "CALLS"))
    own, others = parser.parse_known_args()
    die(own.die[0], own.die[1], int(own.die[2]))
    killed_stream.main(others)
