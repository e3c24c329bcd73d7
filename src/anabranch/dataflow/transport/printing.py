"""What is printed and logged in tasks, on its way to whoever runs the program: stretch by stretch, as it was there.

Within a stretch, what one task said is behind what another one did, place by place and channel by channel.
"""

from __future__ import annotations

import io
import logging
import pickle
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.shipping import Job

_MOST = 1 << 20  # characters, of a task in a stretch

# The name of a stream and a text, or "log" and what a record is made of.
_Said = tuple[str, Any]


@dataclass(eq=False)
class Printing:
    """In a task: what is said while it works on a stretch."""

    said: list[_Said] = field(default_factory=list)
    size: int = 0
    dropped: int = 0

    def add(self, kind: str, what: Any, size: int) -> None:
        if self.size + size > _MOST:
            self.dropped += size
        else:
            self.said.append((kind, what))
            self.size += size


class _Stream(io.TextIOBase):
    def __init__(self, name: str, printing: Printing) -> None:
        self._name = name
        self._printing = printing

    def write(self, text: str, /) -> int:
        self._printing.add(self._name, text, len(text))
        return len(text)

    def writable(self) -> bool:
        return True


class _Handler(logging.Handler):
    def __init__(self, printing: Printing) -> None:
        super().__init__()
        self._printing = printing

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
        made = dict(vars(record), msg=text, args=None, exc_info=None, exc_text=trace)
        plain = {name: value for name, value in made.items() if isinstance(value, str | int | float | None)}
        self._printing.add("log", plain, len(text) + len(trace or ""))


@contextmanager
def kept(printing: Printing, level: int) -> Iterator[None]:
    """Keep what this process says meanwhile; `level` is that of the root logger where the program was started."""
    root = logging.getLogger()
    before = sys.stdout, sys.stderr, root.handlers[:], root.level
    sys.stdout, sys.stderr = _Stream("stdout", printing), _Stream("stderr", printing)
    root.handlers[:] = [_Handler(printing)]
    root.setLevel(level)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before[:2]
        root.handlers[:] = before[2]
        root.setLevel(before[3])


def said_by(job: Job, stretch: int, place: int, channel: int) -> Row:
    """The row with what a channel of a place says in a stretch, without it: it goes to the driver."""
    return Row(channel, len(job.layout.places) - 1, stretch, 0, Kind.PRINTED, (place, channel))


def with_printing(rows: Iterable[Row], whose: Row, level: int) -> Iterator[Row]:
    """The rows of a stretch, and behind them what was said while they were made."""
    printing = Printing()
    with kept(printing, level):
        made = list(rows)
    yield from made
    if printing.said or printing.dropped:
        yield replace(whose, payload=pickle.dumps((whose.payload, printing)))


def say(rows: Iterable[Row]) -> None:
    """In the driver: what tasks said in a stretch, to the same streams and loggers here."""
    found = sorted((pickle.loads(bytes(row.payload)) for row in rows), key=lambda each: each[0])
    for _, printing in found:
        for kind, what in printing.said:
            if kind == "log":
                logger = logging.getLogger(what["name"])
                if logger.isEnabledFor(what["levelno"]):
                    logger.handle(logging.makeLogRecord(what))
            else:
                _write(kind, what)
        if printing.dropped:
            _write("stderr", f"… and {printing.dropped:,} more characters that operators printed were not kept\n")


def _write(stream: str, text: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads it any more
        getattr(sys, stream).write(text)
