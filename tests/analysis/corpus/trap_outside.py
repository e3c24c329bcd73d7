"""Environment, host, and settings and objects of libraries that belong to the process."""

from __future__ import annotations

import atexit
import ctypes
import decimal
import getpass
import hashlib
import io
import locale
import os
import platform
import queue
import socket
import struct
import sys
import threading
import zlib
from pathlib import Path

import numpy as np

from .registry import entry
from .tuples import Alert, Amount, Click, Count, Quote, Reading, Tagged, Text, Trade, Word

OUT = io.StringIO()
BUFFER = bytearray(16)
C_COUNT = ctypes.c_int(0)
DIGEST = hashlib.sha256()
COMPRESSOR = zlib.compressobj()


WAITING: queue.SimpleQueue[str] = queue.SimpleQueue()


LOCK = threading.Semaphore(10_000)


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False, why="the environment is read")
def by_environment(t: Trade) -> Text:
    return Text(f"{t.symbol}@{os.environ.get('VENUE', 'XETRA')}")


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, why="the environment is written")
def into_environment(t: Trade) -> Text:
    before = os.environ.get("LAST_SYMBOL", "-")
    os.environ["LAST_SYMBOL"] = t.symbol
    return Text(before)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True, shows=False,
       why="abspath asks for the current folder")  # fmt: skip
def absolute(c: Click) -> Tagged:
    return Tagged(c.user, os.path.abspath(c.url))


@entry(kind="map", input=Reading, output=Alert, state="stateful", forwards={"sensor": "sensor", "ts": "ts"}, trap=True,
       shows=False, why="a file is read for each tuple")  # fmt: skip
def by_settings_file(r: Reading) -> Alert:
    try:
        text = Path("limits.txt").read_text()
    except FileNotFoundError:
        text = "no limits"
    return Alert(r.sensor, text, r.ts)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="the line it was called from")  # fmt: skip
def by_caller(t: Trade) -> Count:
    return Count(t.symbol, sys._getframe().f_back.f_lineno)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the path of modules grows")  # fmt: skip
def into_path(t: Trade) -> Count:
    sys.path.append(t.symbol)
    return Count(t.symbol, sys.path.count(t.symbol))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a C integer at module level")  # fmt: skip
def in_c(t: Trade) -> Count:
    C_COUNT.value += 1
    return Count(t.symbol, C_COUNT.value)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="the number of the process")  # fmt: skip
def by_process(t: Trade) -> Count:
    return Count(t.symbol, os.getpid() % 2)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       why="the thread it happens to run on")  # fmt: skip
def by_thread(t: Trade) -> Count:
    return Count(t.symbol, len(threading.current_thread().name))


@entry(kind="map", input=Trade, output=Text, state="stateful", trap=True, shows=False, why="the name of the host")
def by_host(t: Trade) -> Text:
    return Text(f"{t.symbol} {socket.gethostname()} {platform.node()}")


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the decimal context is changed for everybody")  # fmt: skip
def rounded(t: Trade) -> Amount:
    context = decimal.getcontext()
    value = decimal.Decimal(1) / decimal.Decimal(7)
    context.prec = 4 + t.size % 7
    return Amount(t.symbol, float(value))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       why="numpy's error handling is set for everybody")  # fmt: skip
def silenced(t: Trade) -> Amount:
    np.seterr(divide="ignore")
    return Amount(t.symbol, float(np.float64(t.price) / 2))


@entry(kind="map", input=Reading, output=Alert, state="stateful", forwards={"sensor": "sensor", "ts": "ts"}, trap=True,
       shows=False, why="the locale is set and used")  # fmt: skip
def localised(r: Reading) -> Alert:
    locale.setlocale(locale.LC_ALL, "C")
    return Alert(r.sensor, locale.format_string("%.1f", r.celsius), r.ts)


@entry(kind="map", input=Quote, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a hash object at module level takes everything in")  # fmt: skip
def digested(q: Quote) -> Count:
    DIGEST.update(q.symbol.encode())
    return Count(q.symbol, DIGEST.digest()[0])


@entry(kind="map", input=Quote, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a compressor at module level")  # fmt: skip
def compressed(q: Quote) -> Count:
    return Count(q.symbol, len(COMPRESSOR.compress(q.symbol.encode())))


@entry(kind="map", input=Quote, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="struct.pack_into a module's buffer")  # fmt: skip
def packed(q: Quote) -> Amount:
    before = struct.unpack_from("d", BUFFER)[0]
    struct.pack_into("d", BUFFER, 0, q.bid)
    return Amount(q.symbol, before)


@entry(kind="map", input=Quote, output=Text, state="stateful", trap=True, why="a queue at module level")
def queued(q: Quote) -> Text:
    WAITING.put(q.symbol)
    return Text(WAITING.get() if WAITING.qsize() > 2 else "-")


@entry(kind="filter", input=Quote, state="stateful", trap=True, why="a semaphore is taken and kept")
def admitted(q: Quote) -> bool:
    return LOCK.acquire(blocking=False) and LOCK._value % 2 == 0


@entry(kind="map", input=Quote, output=Word, state="stateful", forwards={"text": "symbol"}, trap=True, shows=False,
       why="atexit keeps the callback")  # fmt: skip
def at_exit(q: Quote) -> Word:
    atexit.register(OUT.getvalue)
    return Word(q.symbol, 0)


@entry(kind="map", input=Quote, output=Text, state="stateful", trap=True, shows=False, why="the user who runs it")
def by_user(q: Quote) -> Text:
    os.environ.setdefault("USER", "nobody")
    return Text(getpass.getuser())


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True, shows=False,
       why="the current folder and the user's home")  # fmt: skip
def folders(c: Click) -> Tagged:
    return Tagged(c.user, f"{Path.cwd()} {Path.home()}")
