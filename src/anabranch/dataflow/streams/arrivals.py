"""What looks for new data of a stream's sources, and writes it down in the order in which it is processed."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from anabranch.dataflow.sources.reading import Slice, not_by_slices, slices_of_file
from anabranch.dataflow.sources.source_slices import STRETCH, Numbers
from anabranch.dataflow.streams.entries import Entry, EntryLog
from anabranch.dataflow.streams.tcp_spool import TcpSpool
from anabranch.errors import AnabranchError, SourceError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.formats import file_format
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.stored_files import from_full_name, open_bytes, size_of, status_at, version_at
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.located import located
from anabranch.operators.sources.patterns import has_pattern, matching_files, matching_names
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.operators.sources.read_tcp import ReadTcp

_EVERY = 0.05  # seconds: how often it is looked
_EVERY_AT_ADDRESSES = 1.0  # where each look costs money
_SLICE = 4 * 2**20  # bytes
_A_ROW = 64  # bytes, of which some are no blanks, as a rule
_MOST_AHEAD = 4_096  # entries that nobody has processed yet
_MOST_MADE = 128  # of them where a source has no end, and would go before all that arrives elsewhere
_BYTES_PER_NUMBER = 64  # of a tuple that is made from its number, about


class Arriving(Protocol):
    """One source: what of it is new."""

    source: Operator
    has_ended: bool

    def knows(self, entry: Entry) -> None:
        """Of an entry of an earlier run: it is not new."""

    def open(self) -> None: ...

    def look(self, is_ending: bool) -> Iterator[Entry]:
        """Entries that have not been given before; with `is_ending` what is there is all there is."""

    def forget(self, entry: Entry) -> None:
        """An entry has been processed for good."""

    def close(self) -> None: ...


class FilesArriving:
    """Files in the order in which they appear; those that are found at one look, by name.

    A path that names one file is that file, and then the source ends.
    """

    def __init__(self, source: Operator) -> None:
        assert isinstance(source.definition, ReadFiles)
        self.source = source
        self.definition: ReadFiles = source.definition
        self.has_ended = False
        # Decided once: a folder that is gone for a moment does not become the name of a file.
        self._has_pattern = has_pattern(self.definition.pattern)
        self._known: set[str] = set()  # where they are
        self._names: set[str] = set()  # of known ones, as this run finds them
        self._without_rows: dict[str, tuple[int, int] | str] = {}  # and how long they were, and changed when
        self._next_look = 0.0
        self._begun: Entry | None = None  # the last of a file that more should follow of

    def knows(self, entry: Entry) -> None:
        if isinstance(entry.piece, Slice):
            self._known.add(_whole(entry.piece.path))
            self._begun = entry if entry.left else None
        else:
            self.has_ended = True

    def open(self) -> None:
        pass

    def look(self, is_ending: bool) -> Iterator[Entry]:
        if self.has_ended:
            return
        with located(self.source):
            if self._begun is not None:
                yield from self._rest(self._begun)
                self._begun = None
            is_last = is_ending or not self._has_pattern
            if not is_last and not self._is_due():
                return
            for name in self._new_names():
                path = from_full_name(name)
                slices = self._slices(path) if is_last else self._slices_by_now(name)
                yield from self._entries(path, slices)
                if slices:
                    self._known.add(_whole(name))
                    self._names.add(name)
        if is_last:
            self.has_ended = True
            yield Entry(self.source.id, None, time.time())

    def _is_due(self) -> bool:
        """A server is not asked all the time."""
        if isinstance(self.definition.pattern, Address):
            if time.monotonic() < self._next_look:
                return False
            self._next_look = time.monotonic() + _EVERY_AT_ADDRESSES
        return True

    def _new_names(self) -> list[str]:
        """Of files that are not known. Known ones may be many: they are not asked for anything."""
        if not self._has_pattern:
            names = [_text(path) for path in matching_files(self.definition.pattern)]
        else:
            names = matching_names(self.definition.pattern)
        new = [name for name in names if name not in self._names]
        known = [name for name in new if _whole(name) in self._known]
        self._names.update(known)
        new = [name for name in new if name not in self._names]
        if isinstance(self.definition.pattern, Address):
            return new
        return [name for name in new if not os.path.isdir(name)]

    def _slices_by_now(self, name: str) -> list[Slice]:
        """None where the file has no rows yet, or is gone again: then it is looked at again another time."""
        path = from_full_name(name)
        if isinstance(path, Address):
            return self._slices_at(path)
        try:
            status = os.stat(name)
        except OSError:
            return self._slices(path) if os.path.lexists(name) else []
        as_it_is = status.st_size, status.st_mtime_ns
        is_empty = stat.S_ISREG(status.st_mode) and status.st_size == 0
        if is_empty or self._without_rows.get(name) == as_it_is:
            return []
        slices = self._slices(path)
        if not slices or self._is_blank(path, slices[0]):
            self._without_rows[name] = as_it_is
            return []
        return slices if os.path.lexists(name) else []

    def _slices_at(self, address: Address) -> list[Slice]:
        """The same of an object, which is whole when it is there."""
        status = status_at(address)
        if status is None or status.version is None or status.size == 0:
            return []
        as_it_is = status.version
        if self._without_rows.get(address.uri) == as_it_is:
            return []
        slices = self._slices(address)
        if slices and not self._is_blank(address, slices[0]):
            return slices if version_at(address) == as_it_is else []
        self._without_rows[address.uri] = as_it_is
        return []

    def _is_blank(self, path: FilePath, first: Slice) -> bool:
        """Whether there are lines, but no row in them, as the format has it. Few files begin as those do."""
        if self.definition.format == "parquet" or first.is_uncut:
            return False
        with suppress(OSError, SourceError), open_bytes(path) as file:
            file.seek(first.start)
            if not file.read(_A_ROW).strip():
                rows = file_format(self.definition.format).read(path, self.definition.schema, **self.definition.options)
                return next(iter(rows), None) is None
        return False

    def _slices(self, path: FilePath) -> list[Slice]:
        """A file that cannot be cut is left whole: what is wrong with it is said when its turn has come, of the file as
        it is then. Were it written down, it could not be mended."""
        slices = slices_of_file(self.definition, path, size=_SLICE)
        if slices is None:
            raise not_by_slices(str(path))
        if slices and slices[0].problem is not None:
            return [replace(slices[0], problem=None, is_uncut=True)]
        if self.definition.format == "parquet":
            return slices
        return [replace(each, found=slices[-1].stop) for each in slices]

    def _rest(self, begun: Entry) -> Iterator[Entry]:
        """Of a file in the middle of which an earlier run was stopped or killed."""
        assert isinstance(begun.piece, Slice)
        path = from_full_name(begun.piece.path)
        slices = self._slices(path)
        done = len(slices) - begun.left
        if done < 1 or not _is_same(slices[done - 1], begun.piece):
            raise SourceError(
                f"{begun.piece.name}: a part of it was processed, and it has changed since or is gone",
                hint="put it back as it was",
            )
        yield from self._entries(path, [replace(each, name=begun.piece.name) for each in slices[done:]])

    def _entries(self, path: FilePath, slices: Sequence[Slice]) -> Iterator[Entry]:
        for at, each in enumerate(slices):
            is_text = self.definition.format != "parquet" and not each.is_uncut and not each.is_compressed
            size = each.stop - each.start if is_text else (size_of(path) or 0) // len(slices)
            yield Entry(self.source.id, each, time.time(), size, len(slices) - at - 1)

    def forget(self, entry: Entry) -> None:
        pass

    def close(self) -> None:
        pass


def _is_same(one: Slice, other: Slice) -> bool:
    """Whether a file that is cut again has given the same slice."""
    return replace(one, path=other.path, name=other.name) == other


def _whole(name: str) -> str:
    """A file under the same name in every folder that a stream is started in."""
    return name if isinstance(from_full_name(name), Address) else os.path.abspath(name)


def _text(path: FilePath) -> str:
    return path.uri if isinstance(path, Address) else str(path)


class NumbersArriving:
    """The tuples of a `beacon`, as many as are due, or those of `from_items` or a frame."""

    def __init__(self, source: Operator, at_once: int, is_ending: threading.Event) -> None:
        self.source = source
        self.has_ended = False
        self._at_once = at_once
        self._is_ending = is_ending  # there may be very many, and nobody should wait for the last
        self._next = 0
        self._count: int | None
        self._rate: float | None = None
        match source.definition:
            case Beacon(count=count, rate=rate):
                self._count, self._rate = count, rate
            case FromItems(items=tuple() | range() as items):
                self._count = len(items)
            case FromFrame(frame=frame):
                self._count = len(frame)
            case _:
                raise AssertionError(f"'{source.id}' is no source of a stream")  # source_checks.py

    @property
    def is_endless(self) -> bool:
        return self._count is None and self._rate is None

    def knows(self, entry: Entry) -> None:
        if isinstance(entry.piece, Numbers):
            self._next = entry.piece.stop
        else:
            self.has_ended = True

    def open(self) -> None:
        self._began = time.monotonic()
        self._first = self._next

    def look(self, is_ending: bool) -> Iterator[Entry]:
        if self.has_ended:
            return
        due = self._due()
        while self._next < due and not self._is_ending.is_set():
            stop = min(self._next + self._at_once, due)
            yield Entry(self.source.id, Numbers(self._next, stop), time.time(), (stop - self._next) * _BYTES_PER_NUMBER)
            self._next = stop
        if is_ending or (self._count is not None and self._next >= self._count):  # there may be fewer than before
            self.has_ended = True
            yield Entry(self.source.id, None, time.time())

    def _due(self) -> int:
        """The number up to which tuples are there. Of those without an end some are, as many as are taken at once."""
        due = self._next + self._at_once if self._count is None else self._count
        if self._rate is not None:
            due = min(due, self._first + 1 + int((time.monotonic() - self._began) * self._rate))
        return due

    def forget(self, entry: Entry) -> None:
        pass

    def close(self) -> None:
        pass


def arriving(source: Operator, folder: Path, at_once: int, is_ending: threading.Event) -> Arriving:
    match source.definition:
        case ReadFiles():
            return FilesArriving(source)
        case ReadTcp():
            return TcpSpool(source, folder / "spool" / source.id)
    return NumbersArriving(source, at_once, is_ending)


def _is_endless(source: Arriving) -> bool:
    return isinstance(source, NumbersArriving) and source.is_endless


class Arrivals:
    """A thread that looks at all sources again and again, and appends to the log.

    Sources take turns, an entry each. Those that run ahead of what is processed are not looked at for a while.
    """

    def __init__(
        self,
        graph: Graph,
        log: EntryLog,
        folder: Path,
        failed: Callable[[AnabranchError], None],
        at_once: int = STRETCH,
    ) -> None:
        self._log = log
        self._failed = failed
        self._is_ending = threading.Event()
        self._sources = [arriving(source, folder, at_once, self._is_ending) for source in graph.sources]
        self._by_id = {each.source.id: each for each in self._sources}
        self._processed = 0
        self._forgotten = 0
        self._have_ended = False
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="anabranch arrivals", daemon=True)

    def open(self, processed: int) -> None:
        """Go on behind what the log has; a source that cannot be opened is an error here."""
        self._processed = processed
        for entry in self._log.each(0, len(self._log)):
            self._by_id[entry.source].knows(entry)
        for each in self._sources:
            each.open()
        self._have_ended = self._all_have_ended()

    def start(self) -> None:
        self._thread.start()

    def look_once(self) -> None:
        """All that is there now."""
        self._look(ahead=None)

    def end(self) -> None:
        """What is there by now is all there is."""
        self._is_ending.set()

    def close(self) -> None:
        self._is_stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        for each in self._sources:
            each.close()

    @property
    def have_ended(self) -> bool:
        """Whether nothing will be added to the log any more: also the ends are in it."""
        return self._have_ended

    def _all_have_ended(self) -> bool:
        return all(each.has_ended for each in self._sources)

    def processed(self, entries: int) -> None:
        """So many entries have been processed for good.

        What the last batch took is kept: Spark may not have noted yet that it is done, and would ask for it again.
        """
        if any(isinstance(each, TcpSpool) for each in self._sources):
            for entry in self._log.each(self._forgotten, self._processed):
                self._by_id[entry.source].forget(entry)
        self._forgotten, self._processed = self._processed, entries

    def _work(self) -> None:
        try:
            while not self._is_stopped.is_set() and not self.have_ended:
                began = time.monotonic()
                if not self._look(ahead=_MOST_AHEAD):
                    self._is_stopped.wait(max(_EVERY, time.monotonic() - began))  # a large folder takes its time
        except AnabranchError as problem:
            self._failed(problem)
        except Exception as problem:  # of a user's file system, or ours: the stream must not wait for ever
            self._failed(SourceError(f"the sources cannot be looked at: {problem!r}"))

    def _look(self, ahead: int | None) -> bool:
        """Take from every source what it has, in turns; whether there was anything."""
        is_ending = self._is_ending.is_set()
        found = False
        is_far_ahead = len(self._log) - self._processed >= _MOST_MADE and not is_ending
        waiting = [each for each in self._sources if is_far_ahead and _is_endless(each)]
        open_sources = [each.look(is_ending) for each in self._sources if each not in waiting]
        while open_sources and not self._is_stopped.is_set():
            if ahead is not None and len(self._log) - self._processed >= ahead:
                self._is_stopped.wait(_EVERY)
                continue
            entries = [(each, next(each, None)) for each in open_sources]
            self._log.append([entry for _, entry in entries if entry is not None])
            found = found or any(entry is not None for _, entry in entries)
            open_sources = [each for each, entry in entries if entry is not None]
            self._have_ended = self._all_have_ended()
        return found
