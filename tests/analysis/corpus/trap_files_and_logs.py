"""Files, databases, logs and prints."""

from __future__ import annotations

import csv
import glob
import io
import json
import logging
import os
import pickle
import shelve
import sqlite3
import sys
import tempfile
import warnings
from pathlib import Path

from .registry import entry
from .tuples import Count, LogLine, Numbered, Quote, Trade

OUT = io.StringIO()


DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("create table seen (symbol text)")


WRITER = csv.writer(OUT)


class CountingHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.n = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.n += 1


HANDLER = CountingHandler()
LOUD = logging.Logger("corpus.loud")
LOUD.addHandler(HANDLER)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a file is appended to and measured")  # fmt: skip
def spooled(t: Trade) -> Count:
    with open("spool.txt", "a") as spool:
        spool.write(t.symbol)
        return Count(t.symbol, spool.tell())


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="pathlib reads and writes")  # fmt: skip
def counted_in_file(t: Trade) -> Count:
    path = Path("count.txt")
    n = int(path.read_text()) + 1 if path.exists() else 1
    path.write_text(str(n))
    return Count(t.symbol, n)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the folder is looked at")  # fmt: skip
def counted_in_folder(t: Trade) -> Count:
    handle, _ = tempfile.mkstemp(dir=".", suffix=".seen")
    os.close(handle)
    return Count(t.symbol, len(glob.glob("*.seen")))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a shelf on disk")  # fmt: skip
def shelved(t: Trade) -> Count:
    with shelve.open("counts") as counts:
        counts[t.symbol] = counts.get(t.symbol, 0) + 1
        return Count(t.symbol, counts[t.symbol])


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a database connection at module level")  # fmt: skip
def inserted(t: Trade) -> Count:
    DATABASE.execute("insert into seen values (?)", (t.symbol,))
    return Count(t.symbol, DATABASE.execute("select count(*) from seen").fetchone()[0])


@entry(kind="map", input=LogLine, state="stateful", forwards="all", trap=True, shows=False, why="print")
def printed(line: LogLine) -> LogLine:
    print(line.text)
    return line


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="print into a module's buffer")  # fmt: skip
def printed_to_buffer(line: LogLine) -> Numbered:
    print(line.text, file=OUT)
    return Numbered(line.number, OUT.tell())


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a csv.writer at module level")  # fmt: skip
def written_as_csv(line: LogLine) -> Numbered:
    WRITER.writerow(line)
    return Numbered(line.number, len(OUT.getvalue()))


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="json.dump into a module's buffer")  # fmt: skip
def dumped(line: LogLine) -> Numbered:
    json.dump(line.text, OUT)
    return Numbered(line.number, OUT.tell())


@entry(kind="map", input=LogLine, state="stateful", forwards="all", trap=True, shows=False, why="sys.stdout.write")
def shown(line: LogLine) -> LogLine:
    sys.stdout.write(f"{line.text}\n")
    return line


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a logging handler that counts")  # fmt: skip
def counted_by_handler(line: LogLine) -> Numbered:
    LOUD.error(line.text)
    return Numbered(line.number, HANDLER.n)


@entry(kind="map", input=LogLine, state="stateful", forwards="all", trap=True, shows=False,
       why="a warning is shown once for each line of code")  # fmt: skip
def warned(line: LogLine) -> LogLine:
    warnings.warn("odd line", stacklevel=1)
    return line


print_it = entry("print_it", kind="for_each", input=LogLine, state="stateful", trap=True, shows=False,
                 why="a builtin that writes, without source")(print)  # fmt: skip


@entry(kind="map", input=Quote, output=Numbered, state="stateful", trap=True,
       why="a pickle into a module's buffer, through an alias")  # fmt: skip
def pickled(q: Quote) -> Numbered:
    target = PICKLES
    pickle.dump(q.symbol, target)
    return Numbered(target.tell(), 0)


PICKLES = io.BytesIO()
