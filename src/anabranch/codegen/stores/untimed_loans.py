"""Loans of windows without time: tumbling by count, punctuated, and sliding by count."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from anabranch.codegen.native.recent_visits import Ring
from anabranch.codegen.stores.loans import Loan, Write
from anabranch.codegen.stores.tables import Table, apart, together
from anabranch.codegen.stores.window_loans import Accumulators, Place, WindowsLoan
from anabranch.codegen.stores.words import NOT_KEPT, no_word, value_of, word_of
from anabranch.codegen.types import type_of_schema
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate


class CountLoan(WindowsLoan):
    """By count: of each key one window, which is gone when it has closed."""

    def begin(self) -> None:
        super().begin()
        self.touched: dict[Any, int] = {}

    def lend(self, port: int, item: Any) -> None:
        key, group = self.key_of(item)
        place = None, key, group
        self.touched[key] = self.table.find(self.words_of_place(place))
        self.lend_place(place)

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        _, key, group = place
        window, count = self.meaning.open.get(key) or (self.meaning.new_window(), 0)
        window.groups[group] = made
        self.meaning.open[key] = window, count + size

    def open_groups(self) -> Iterator[tuple[Place, Accumulators, int]]:
        for key, (window, count) in self.meaning.open.items():
            for group, made in window.groups.items():
                yield (None, key, group), made, count
                count = 0  # of all groups together

    def writes(self) -> Iterable[Write]:
        places = {place[1]: (place, made, count) for place, made, count in self.open_groups()}
        for key, slot in self.touched.items():
            if key in places:
                yield self.store(*places[key])
            elif slot >= 0:
                yield partial(self._close, slot)

    def all_writes(self) -> Iterable[Write]:
        self.touched = dict.fromkeys(self.meaning.open, -1)
        return self.writes()

    def _close(self, slot: int) -> None:
        self.table.put(slot, size=0)
        for seen in self.seen.values():
            if seen.record.window == "":
                seen.forget_all()


class CountOfGroupsLoan(CountLoan):
    """By count, with groups and no key: one window, which has all records."""

    def begin(self) -> None:
        super().begin()
        self.window: Any = None
        count = self.table.cell("tuples")
        if count:
            self.window = self.meaning.new_window()
            self.meaning.open[()] = self.window, count

    def lend(self, port: int, item: Any) -> None:
        if self.table.cell("tuples") + 1 == self.definition.window.length:
            self.lend_all()
        else:
            self.lend_place((None, *self.key_of(item)))

    def lend_all(self) -> None:
        known = self.meaning.open.get(())
        super().lend_all()
        if self.meaning.open:
            self.window, count = self.meaning.open[()]
            self.meaning.open[()] = self.window, count if known is None else known[1]

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        _, _, group = place
        window, count = self.meaning.open.get(()) or (self.meaning.new_window(), self.table.cell("tuples"))
        window.groups[group] = made
        self.meaning.open[()] = window, count

    def writes(self) -> Iterable[Write]:
        window, count = self.meaning.open.get((), (None, 0))
        if window is not self.window:
            yield self.forget_all
        for place, made, _ in list(self.open_groups()):
            yield self.store(place, made, 0)
        yield partial(self.table.set_cell, "tuples", count)


class PunctuatedLoan(WindowsLoan):
    """All windows close together, at a punctuation."""

    def begin(self) -> None:
        super().begin()
        self.before = self.meaning.open

    def lend(self, port: int, item: Any) -> None:
        self.lend_place((None, *self.key_of(item)))

    def lend_all(self) -> None:
        super().lend_all()
        self.before = self.meaning.open

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        _, key, group = place
        self.meaning.open.setdefault(key, self.meaning.new_window()).groups[group] = made

    def open_groups(self) -> Iterator[tuple[Place, Accumulators, int]]:
        for key, window in self.meaning.open.items():
            for group, made in window.groups.items():
                yield (None, key, group), made, 0

    def writes(self) -> Iterable[Write]:
        if self.meaning.open is not self.before:
            yield self.forget_all
        for place, made, _ in list(self.open_groups()):
            yield self.store(place, made, 0)


class RecentLoan(Loan):
    """Sliding by count: the last tuples of each key, as far as anybody reads them."""

    def __init__(self, meaning: Any, table: Table, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, table)
        self.definition = definition
        self.schema = operator.inputs[0].schema
        self.ring = Ring(definition, self.schema)
        members = type_of_schema(self.schema).members
        self.unread = [None if kind.optional else NOT_KEPT.get(kind.kind) for _, kind in members]

    def begin(self) -> None:
        self.meaning.recent, self.meaning.since_last = {}, {}
        self.meaning.arrivals = self.table.cell("arrivals")
        self.slots: dict[Any, int] = {}

    def _words_of_key(self, key: Any) -> tuple[int, ...]:
        names = self.definition.key_names
        return self.table.key_words(apart(key, names)) if names else (0,)

    def lend(self, port: int, item: Any) -> None:
        key = self.meaning.key_of(item)
        if key not in self.slots:
            self._lend(key, self.table.find(self._words_of_key(key)))

    def _lend(self, key: Any, slot: int) -> None:
        self.slots[key] = slot
        if slot < 0:
            return
        table, ring = self.table, self.ring
        filled, position = table.get(slot, "filled"), table.get(slot, "position")
        recent: deque[tuple[int, Any]] = deque(maxlen=ring.length)
        row = table.row(slot)
        for at in range(position - filled, position):
            start = table.record.width - table.record.tail + at % ring.length * ring.entry
            words = row[start : start + ring.entry]
            values = list(self.unread)
            for name, (kind, place) in ring.places.items():
                is_there = not kind.optional or words[place + 1] != 0
                value = value_of(kind.kind, words[place], table.pool) if is_there else None
                values[self.schema.names.index(name)] = value
            recent.append((words[0], self.schema.type._make(values)))  # type: ignore[attr-defined]  # a NamedTuple
        self.meaning.recent[key] = recent
        self.meaning.since_last[key] = table.get(slot, "since")

    def lend_all(self) -> None:
        for slot in range(self.table.count):
            key = together(self.table.key(self.table.row(slot))) if self.definition.key_names else ()
            if key not in self.slots:
                self._lend(key, slot)

    def everything(self) -> None:
        self.lend_all()

    def writes(self) -> Iterable[Write]:
        yield partial(self.table.set_cell, "arrivals", self.meaning.arrivals)
        for key, slot in self.slots.items():
            if key in self.meaning.recent:
                words = [self._words_of(*each) for each in self.meaning.recent[key]]
                yield partial(self._store, key, slot, words, self.meaning.since_last[key])

    def all_writes(self) -> Iterable[Write]:
        self.slots = dict.fromkeys(self.meaning.recent, -1)
        return self.writes()

    def _words_of(self, arrival: int, item: Any) -> list[int]:
        words = [arrival]
        for name, (kind, _) in self.ring.places.items():
            value = item[self.schema.names.index(name)]
            is_there = value is not None
            words.append(word_of(kind.kind, value, self.table.pool) if is_there else no_word(kind.kind))
            if kind.optional:
                words.append(int(is_there))
        return words

    def _store(self, key: Any, slot: int, entries: list[list[int]], since: int) -> None:
        if slot < 0:
            slot = self.table.found(self._words_of_key(key))
        self.table.put(slot, filled=len(entries), position=len(entries) % self.ring.length, since=since)
        self.table.set_tail(slot, 0, 1, [word for entry in entries for word in entry])

    @property
    def lent(self) -> int:
        return len(self.slots)
