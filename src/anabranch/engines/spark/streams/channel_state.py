"""The channels of a level over the micro-batches of a stream, with their state in Spark's state store (design, 5.1).

A call to the store costs as much as processing a thousand tuples, so the state of a channel is written as one packed
piece: what changed in a batch, and now and then all of it. Workers keep it warm; a channel may come to another worker
with each batch, so whoever has it asks the store for the version, and takes over what has changed since its own.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from anabranch.dataflow.channels.levels import channel_at
from anabranch.dataflow.channels.together import Together
from anabranch.dataflow.channels.tripwires import begun, ended
from anabranch.dataflow.streams.next_save import SavedSizes, next_save
from anabranch.dataflow.streams.sealed_files import HEAD, is_sealed, sealed
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job, unship
from anabranch.engines.spark.job.tasks import freeze

_MOST_WARM = 64  # channels in one worker
_HEAD, _WHOLE = -1, 0  # among the parts of a state; changes are numbered by their versions, from 1 on
_BY_STRETCH = attrgetter("stretch")
_FIELDS = ("channel", "place", "epoch", "arrival", "kind", "payload")


class _Head(NamedTuple):
    """Which version a state is of, and how it is kept: a whole of version `base`, and the changes behind it."""

    version: int
    token: str  # two attempts at the same batch make different ones
    base: int
    size: int  # of the whole, in bytes
    changed: int  # of the changes together


@dataclass(eq=False)
class _Warm:
    """A channel as a worker knows it: its state is that of this version; None before there is any in the store."""

    channel: Together
    form: str
    head: _Head | None = None


_warm: OrderedDict[tuple[str, str, int, int], _Warm] = OrderedDict()  # by checkpoint, run, level and channel


class Channels(StatefulProcessor):
    """What Spark calls for each channel of a level that has something to do in a batch."""

    def __init__(self, shipment: bytes, run: str, level: int, checkpoint: str = "") -> None:
        self.shipment = shipment
        self.checkpoint = checkpoint
        self.run = run
        self.level = level

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.store = _Store(handle)

    def job(self) -> Job:
        return unship(self.shipment)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        job = self.job()
        arrived = sorted((Row(*(row[name] for name in _FIELDS)) for row in rows), key=_BY_STRETCH)
        mine = [row for row in arrived if job.layout.places[row.place].level == self.level]
        for row in arrived:
            if job.layout.places[row.place].level != self.level:
                yield _as_spark_row(row)
        if mine:
            yield from map(_as_spark_row, self._process(job, mine))

    def _process(self, job: Job, rows: list[Row]) -> Iterator[Row]:
        """The rows of one channel. What is kept warm is put back only when all went well."""
        with begun(job, job.layout.places[rows[0].place]) as change:
            if change is None:
                yield from self._processed(job, rows)
            else:
                yield Sender(job.layout).change(change)

    def _processed(self, job: Job, rows: list[Row]) -> Iterator[Row]:
        name = (self.checkpoint, self.run, self.level, rows[0].channel)
        warm = _warm.pop(name, None)
        if warm is None:
            _forget_other_runs(self.checkpoint, self.run)
        warm = self.store.current(warm if warm is not None else _cold(job, rows[0].place), job, rows[0].place)
        channel = warm.channel
        channel.begin_figures()
        for epoch, of_epoch in groupby(rows, key=_BY_STRETCH):
            yield from channel.process_stretch(epoch, list(of_epoch))
        yield from channel.figures()
        if channel.is_broken:
            return  # the batch fails, so there is nothing to keep
        change = ended(job, channel.place)
        if change is not None:
            yield channel.sender.change(change)
            return
        self.store.save(warm)
        _warm[name] = warm
        while len(_warm) > _MOST_WARM:
            _warm.popitem(last=False)

    def close(self) -> None:
        freeze()


def forget_warm() -> None:
    """As a worker is that has just been started."""
    _warm.clear()


def _forget_other_runs(checkpoint: str, run: str) -> None:
    """One run at a time works with a checkpoint: what others left here nobody needs any more."""
    for name in [name for name in _warm if name[0] == checkpoint and name[1] != run]:
        del _warm[name]


def _cold(job: Job, place_number: int) -> _Warm:
    """A channel that has seen nothing yet."""
    place = job.layout.places[place_number]
    channel = channel_at(job, place)
    return _Warm(channel, channel.state.form)


class _Store:
    """The state of one channel in Spark's store: a whole, the changes since, and which version that makes.

    All of it is in one map: for each variable Java prepares itself anew in every task, for longer than channels work.
    """

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._parts = handle.getMapState("parts", "part long", "token string, payload binary")

    def current(self, warm: _Warm, job: Job, place: int) -> _Warm:
        """The channel as the store has it: the warm one if it is of that version, or can be brought to it."""
        head = self._head()
        if head is None:
            return warm if warm.head is None else _cold(job, place)
        if warm.head == head:
            return warm
        if warm.head is not None and head.base < warm.head.version < head.version:
            seen = self._parts.getValue((warm.head.version,))
            if seen is not None and seen[0] == warm.head.token and warm.form == warm.channel.state.form:
                warm.channel.state.catch_up(self._since(warm.head.version, head.version))
                return _at(warm, head)
        whole = self._part(_WHOLE)
        warm = _cold(job, place)
        warm.channel.state.restore(_unsealed(whole[1]), self._since(head.base, head.version))
        return _at(warm, head)

    def _head(self) -> _Head | None:
        found = self._parts.getValue((_HEAD,))
        if found is None:
            return None
        version, base, size, changed = json.loads(found[1])
        return _Head(version, found[0], base, size, changed)

    def _since(self, base: int, version: int) -> list[bytes]:
        return [_unsealed(self._part(each)[1]) for each in range(base + 1, version + 1)]

    def _part(self, number: int) -> Any:
        found = self._parts.getValue((number,))
        if found is None:
            what = f"the changes of version {number}" if number != _WHOLE else "the whole"
            raise RuntimeError(f"the checkpoint is damaged: Spark's state store lacks {what} of a channel's state")
        return found

    def save(self, warm: _Warm) -> None:
        """The next version: what changed, or all of it where that has become less than the changes together."""
        head, token = warm.head, secrets.token_hex(8)
        version = 1 if head is None else head.version + 1
        sizes = None if head is None else SavedSizes(warm.form, head.size, head.changed)
        save = next_save(warm.channel.state, sizes)
        if save.is_whole:
            self._parts.clear()
        self._parts.updateValue((_WHOLE if save.is_whole else version,), (token, sealed("", save.content)))
        base = version if save.is_whole or head is None else head.base
        self._put_head(warm, _Head(version, token, base, save.sizes.whole, save.sizes.changes))

    def _put_head(self, warm: _Warm, head: _Head) -> None:
        numbers = json.dumps([head.version, head.base, head.size, head.changed]).encode()
        self._parts.updateValue((_HEAD,), (head.token, numbers))
        _at(warm, head)


def _unsealed(payload: Any) -> bytes:
    """State as it was saved: nothing is made of it before it is known to be that."""
    found = bytes(payload)
    if not is_sealed("", found):
        raise RuntimeError("the checkpoint is damaged: the state of a channel in Spark's store has another checksum")
    return found[HEAD:]


def _at(warm: _Warm, head: _Head) -> _Warm:
    warm.head, warm.form = head, warm.channel.state.form
    return warm


def _as_spark_row(row: Row) -> Any:
    *addressed, content = row.values
    return _spark_row()(*addressed, bytes(content))


@cache
def _spark_row() -> Any:
    return SparkRow(*_FIELDS)
