"""Loggers that do more than write, and operators that look at what was written."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

from .registry import entry
from .tuples import Count, LogLine, Numbered, Reading, Trade


class Numbering(logging.Filter):
    n = 0

    def filter(self, record: logging.LogRecord) -> bool:
        Numbering.n += 1
        return True


numbered_log = logging.Logger("numbered")
numbered_log.addFilter(Numbering())


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a filter of the user's own counts")  # fmt: skip
def filtered(line: LogLine) -> Numbered:
    numbered_log.error("a line")
    return Numbered(line.number, Numbering.n)


SEEN: list[str] = []


def remember(record: logging.LogRecord) -> bool:
    SEEN.append(record.getMessage())
    return True


remembering_log = logging.Logger("remembering")
remembering_log.addFilter(remember)


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a function as a filter")  # fmt: skip
def remembered(line: LogLine) -> Numbered:
    remembering_log.error("a line")
    return Numbered(line.number, len(SEEN))


class Shouting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        raise ValueError("no")


class Strict(logging.StreamHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        raise


strict_log = logging.Logger("strict")
_strict = Strict(io.StringIO())
_strict.setFormatter(Shouting())
strict_log.addHandler(_strict)


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       shows=False, why="a handler of the user's own may raise")  # fmt: skip
def strictly(line: LogLine) -> Numbered:
    try:
        strict_log.error("a line")
    except ValueError:
        return Numbered(line.number, 1)
    return Numbered(line.number, 0)


BUFFER = io.StringIO()
buffered_log = logging.Logger("buffered")
buffered_log.addHandler(logging.StreamHandler(BUFFER))


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="what was written is looked at")  # fmt: skip
def measured(line: LogLine) -> Numbered:
    buffered_log.error("a line")
    return Numbered(line.number, BUFFER.tell())


class Ticket:
    def __init__(self) -> None:
        self.shown = 0

    def __str__(self) -> str:
        self.shown += 1
        return "ticket"


quiet_log = logging.Logger("quiet")
quiet_log.setLevel(logging.ERROR)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="`__str__` is called only where the record is written")  # fmt: skip
def shown_or_not(t: Trade) -> Count:
    ticket = Ticket()
    quiet_log.info("%s", ticket)
    return Count(t.symbol, ticket.shown)


@entry(kind="process", input=Reading, output=Count, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"key": "sensor"}, trap=True, shows=False,
       why="the same, and the object is kept by the key")  # fmt: skip
class ShownOrNot:
    def __init__(self) -> None:
        self.ticket = Ticket()

    def process(self, r: Reading) -> Iterator[Count]:
        str(self.ticket)
        quiet_log.info("%s", self.ticket)
        yield Count(r.sensor, self.ticket.shown)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="whether a level is enabled differs between the program and its workers")  # fmt: skip
def enabled(t: Trade) -> Count:
    return Count(t.symbol, int(quiet_log.isEnabledFor(logging.INFO)))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="`extra` fails only where the record is written")  # fmt: skip
def with_extra(t: Trade) -> Count:
    try:
        quiet_log.info("a line", extra={"message": t.symbol})
    except KeyError:
        return Count(t.symbol, 1)
    return Count(t.symbol, 0)


patched_log = logging.Logger("patched")
LEVELS: list[int] = []
patched_log.handle = lambda record: LEVELS.append(record.levelno)


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a method of the logger was exchanged")  # fmt: skip
def patched(line: LogLine) -> Numbered:
    patched_log.error("a line")
    return Numbered(line.number, len(LEVELS))


late_log = logging.Logger("late")


class Refusing(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError("no")


def listen(t: Trade) -> Trade:
    late_log.addHandler(Refusing())
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("listen",), why="another function adds a handler of the user's own")  # fmt: skip
def listened(t: Trade) -> Count:
    try:
        late_log.error("a line")
    except ValueError:
        return Count(t.symbol, 1)
    return Count(t.symbol, 0)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="the number of handlers that a logger has")  # fmt: skip
def handled(t: Trade) -> Count:
    return Count(t.symbol, len(quiet_log.handlers))
