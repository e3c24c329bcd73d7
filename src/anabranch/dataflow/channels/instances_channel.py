"""A channel of keyed instances that give something at punctuations or at the end.

All channels do so at the same moment. The order is that of the keys' first tuples (design, section 2), so a channel
keeps for each key where that was.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.codegen.pe import Saved, Stopped
from anabranch.dataflow.channels.channel import Channel, known, numbers_of
from anabranch.dataflow.channels.handing_on import Inbox
from anabranch.dataflow.order.meeting import Items
from anabranch.dataflow.order.order_columns import LAST, Columns, Moment, indices_of
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.places import Place


class InstancesChannel(Channel):
    """Of a ranked place: one operator of the user's own."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        element: Any = self.element  # in the Python form: instances with such methods are not native
        self.meaning = element.meaning(place.operators[0])
        self.meaning.given = []
        self.ranks = place.ranks
        self.firsts = Firsts(self.meaning)

    def kept(self) -> list[Saved]:
        return [self.element, self.firsts]

    def items(self, stretch: int, arrived: list[Piece]) -> Items:
        self.stretch_now = stretch
        return super().items(stretch, arrived)

    def _note_new_keys(self, items: Items) -> None:
        """Where keys came first that came in this stretch."""
        if len(self.firsts.by_key) == len(self.meaning.instances):
            return  # all are known
        marks = [*items.ends, *items.punctuations]
        found: dict[Any, int] = {}  # new keys, and the items that they came with
        for number, chunk in enumerate(items.chunks):
            turns = items.turns
            places = np.arange(len(items)) if turns is None else np.flatnonzero(turns == number)
            key_of = self.meaning.readers[number]
            rows = chunk.rows if chunk is not None else []
            for row, at in zip(rows, places[~np.isin(places, marks)].tolist(), strict=True):
                key = key_of(row)
                is_new = key not in self.firsts.by_key and key in self.meaning.instances
                if is_new and at < found.get(key, LAST):
                    found[key] = at
        for key, at in sorted(found.items(), key=lambda each: each[1]):
            self.firsts.by_key[key] = (self.stretch_now, *numbers_of(items, at))

    def pieces(self, items: Items, outputs: list[Chunk]) -> list[Piece]:
        self._note_new_keys(items)
        given, self.meaning.given = self.meaning.given, []
        found = []
        for stream, chunk in zip(self.place.outputs, outputs, strict=True):
            keys = [key for port, key in given if port == stream.port]
            found.append(self.ranked_piece(items, chunk, as_columns(chunk), self._ranks(items, chunk, keys)))
        return found

    def _ranks(self, items: Items, chunk: Chunk, given: list[Any]) -> Columns:
        """Where the key of what was given at a mark first came, and which it is of what was given for that key."""
        origins = known(chunk.origins)
        is_given = np.isin(origins, [*items.ends, *items.punctuations])
        firsts = np.zeros((len(origins), len(self.ranks) - 1), np.int64)
        if given:
            firsts[is_given] = [self.firsts.by_key[key] for key in given]
        if len(self.place.outputs) > 1:
            return (*firsts.T, known(chunk.turns))  # all of one key are from one channel
        moments = np.column_stack([origins, firsts])
        is_new = np.any(moments[1:] != moments[:-1], axis=1)
        return (*firsts.T, indices_of(np.concatenate([[0], np.cumsum(is_new)])[: len(origins)]))

    def moment(self, items: Items, stopped: Stopped) -> Moment:
        """Where instances of several channels have their turn at once, the one that failed has a place among them."""
        at = stopped.begun - 1
        if at not in items.ends and at not in items.punctuations:
            return super().moment(items, stopped)
        self._note_new_keys(items)
        first = self.firsts.by_key[self.meaning.current]
        return Moment((*self.lineage, *self.ranks), (*numbers_of(items, at), *first, int(LAST)))


class Firsts:
    """Where each key first came, kept beside the instances and in their order."""

    form = "firsts"

    def __init__(self, meaning: Any) -> None:
        self.by_key: dict[Any, tuple[int, ...]] = {}
        self._meaning = meaning
        self._saved = 0  # how many were when it was last saved

    def save(self) -> bytes:
        self._saved = 0
        return self.save_changes()

    def save_changes(self) -> bytes:
        known = [self.by_key[key] for key in self._meaning.instances]
        first, self._saved = self._saved, len(known)
        return pickle.dumps(known[first:])

    def restore(self, whole: bytes, changes: Iterable[bytes] = ()) -> None:
        self.by_key = {}
        self.catch_up((whole, *changes))

    def catch_up(self, changes: Iterable[bytes]) -> None:
        """The instances are those behind the changes already."""
        known = [self.by_key[key] for key in self._meaning.instances if key in self.by_key]
        known += [first for each in changes for first in pickle.loads(each)]
        self.by_key = dict(zip(self._meaning.instances, known, strict=True))
        self._saved = len(known)
