"""Loans of windows of which each key, or each end, has a list of records (`listed_visits.py`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch.codegen.stores.loans import Write
from anabranch.codegen.stores.tables import Table, apart
from anabranch.codegen.stores.timed_loans import ClocksTable, KeyClockLoan, StreamClockLoan, TimedLoan
from anabranch.codegen.stores.untimed_loans import CountLoan
from anabranch.codegen.stores.window_loans import Accumulators, Place, Written
from anabranch.codegen.stores.words import Unfit
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState


class Lists:
    """The groups of windows in the order in which they close, as `Lists` in `listed_visits.py` keeps them."""

    def __init__(self, state: NativeState, table: Table, operator: Operator, *, is_by_time: bool) -> None:
        self.table, self.is_by_time = table, is_by_time
        owner, of_keys = f"{operator.id}: its lists", f"{operator.id}: its keys of lists"
        self.owner = Table(state, owner)
        self.of_keys = Table(state, of_keys) if of_keys in state.operators else None

    def members(self, owner: int) -> Iterator[int]:
        """The slots of a list."""
        at = self.owner.get(owner, "head") if owner >= 0 else -1
        while at >= 0:
            yield at
            at = self.table.get(at, "next")

    def empty(self, owner: int) -> None:
        for slot in list(self.members(owner)):
            self.table.put(slot, size=0)
        if owner >= 0:
            self.owner.put(owner, head=-1, last=-1)

    def owner_of(self, words: tuple[int, ...]) -> int:
        """The slot of the list that a record with these words of its key belongs to."""
        slot = self.owner.find(self._of_owner(words))
        return slot if slot >= 0 else self._begun(self._of_owner(words))

    def _of_owner(self, words: tuple[int, ...]) -> tuple[int, ...]:
        of_key = 0 if self.of_keys is not None else self.table.record.of_key
        return words[: int(self.is_by_time) + of_key]

    def _begun(self, words: tuple[int, ...]) -> int:
        slot = self.owner.add(words)
        self.owner.put(slot, head=-1, last=-1)
        return slot

    def link(self, slot: int, words: tuple[int, ...], end: int | None) -> None:
        """A record that begins stands behind the last one, or behind the last of its key."""
        owner = self.owner_of(words)
        last = after = self.owner.get(owner, "last")
        if self.of_keys is not None:
            assert end is not None
            of_key = words[: int(self.is_by_time) + self.table.record.of_key]
            key = self.of_keys.find(of_key)
            if key >= 0 and self.of_keys.get(key, "end") == end:
                after = self.of_keys.get(key, "tail")
            self.of_keys.put(key if key >= 0 else self.of_keys.add(of_key), tail=slot, end=end)
        follower = -1
        if after < 0:
            self.owner.put(owner, head=slot)
        else:
            follower = self.table.get(after, "next")
            self.table.put(after, next=slot)
        self.table.put(slot, next=follower)
        if after == last:
            self.owner.put(owner, last=slot)

    def forget_all(self) -> None:
        self.owner.forget_all()
        if self.of_keys is not None:
            self.of_keys.forget_all()


class ListedCountLoan(CountLoan):
    """By count, with a key and groups."""

    def __init__(self, meaning: Any, state: NativeState, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, state, operator, definition)
        self.lists = Lists(state, self.table, operator, is_by_time=False)

    def _owner(self, key: Any) -> int:
        owner = self.lists.owner
        return owner.find(owner.key_words(apart(key, self.keys)))

    def lend(self, port: int, item: Any) -> None:
        key = self.meaning.key_of(item)
        owner = self.touched[key] = self._owner(key)
        for slot in self.lists.members(owner):
            self.lend_slot(self.place_of([], self.table.key(self.table.row(slot))), slot)

    def lend_all(self) -> None:
        counts = {key: count for key, (_, count) in self.meaning.open.items()}
        super().lend_all()
        for key, (window, _) in list(self.meaning.open.items()):
            self.meaning.open[key] = window, counts.get(key) or self.lists.owner.get(self._owner(key), "tuples")

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        _, key, group = place
        known = self.meaning.open.get(key)
        if known is None:
            owner = self._owner(key)
            tuples = self.lists.owner.get(owner, "tuples") if owner >= 0 else 0
            known = self.meaning.open[key] = self.meaning.new_window(), tuples
        known[0].groups[group] = made

    def writes(self) -> Iterable[Write]:
        now: dict[Any, list[tuple[Place, Accumulators, int]]] = {key: [] for key in self.touched}
        for each in self.open_groups():
            if each[0][1] in now:
                now[each[0][1]].append(each)
        for key, owner in self.touched.items():
            if not now[key]:
                yield partial(self._empty, owner)
                continue
            for place, made, _ in now[key]:
                yield self.store(place, made, 0)
            yield partial(self._set_tuples, key, self.meaning.open[key][1])

    def _empty(self, owner: int) -> None:
        if owner >= 0:
            self.lists.empty(owner)
            self.lists.owner.put(owner, tuples=0)

    def _set_tuples(self, key: Any, count: int) -> None:
        self.lists.owner.put(self._owner(key), tuples=count)

    def write(self, place: Place, written: Written, is_same: bool) -> int:
        slot = super().write(place, written, is_same)
        if not is_same:
            self.lists.link(slot, self.words_of_place(place), None)
        return slot


class _ByEnd(TimedLoan):
    """Records whose key begins with a number that stands for the end: how windows by time in lists are found."""

    lists: Lists | None = None

    @property
    def many(self) -> int:
        window = self.definition.window
        return math.ceil(window.length / (window.slide or window.length))

    def place_of(self, row: list[int], values: list[Any]) -> Place:
        _, key, group = super().place_of(row, values[1:])
        return row[self.table.places["", "end"]], key, group

    def words_of_place(self, place: Place) -> tuple[int, ...]:
        end, key, group = place
        assert end is not None
        return self.table.key_words([end % self.many, *apart(key, self.keys), *apart(group, self.groups)])

    def is_open(self, slot: int, end: int) -> bool:
        return slot >= 0 and self.table.get(slot, "size") != 0 and self.table.get(slot, "end") == end

    def write(self, place: Place, written: Written, is_same: bool) -> int:
        end = place[0]
        assert end is not None
        words = self.words_of_place(place)
        is_listed = is_same and self.is_open(self.table.find(words), end)
        slot = super().write(place, written, is_same)
        self.table.put(slot, end=end)
        if self.lists is not None and not is_listed:
            self.lists.link(slot, words, end)
        return slot


class ListedStreamLoan(_ByEnd, StreamClockLoan):
    """Sliding by the stream's clock, with a key and groups."""

    def __init__(self, meaning: Any, state: NativeState, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, state, operator, definition)
        self.lists = Lists(state, self.table, operator, is_by_time=True)

    def lend_place(self, place: Place) -> None:
        slot = self.table.find(self.words_of_place(place))
        if place not in self.loaded and place[0] is not None and self.is_open(slot, place[0]):
            self.lend_slot(place, slot)

    def forget_all(self) -> None:
        super().forget_all()
        assert self.lists is not None
        self.lists.forget_all()


class ListedKeyLoan(_ByEnd, KeyClockLoan):
    """By the clock of each key: sliding, or with groups."""

    def __init__(self, meaning: Any, state: NativeState, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, state, operator, definition)
        self.clocks_table = ClocksTable(state, operator, definition.key_names)
        if definition.group_by:
            self.lists = Lists(state, self.table, operator, is_by_time=True)

    def reached_by(self, key: Any) -> int | None:
        return self.clocks_table.reached_by(key)

    def all_reached(self) -> Iterator[tuple[Any, int]]:
        return self.clocks_table.all_reached()

    def open_of(self, key: Any, reached: int) -> Iterable[tuple[Place, int]]:
        for end in range(reached + 1, reached + self.many + 1):
            for slot in list(self._slots(end, key)):
                if self.is_open(slot, end):
                    row = self.table.row(slot)
                    yield self.place_of(row, self.table.key(row)), slot

    def _slots(self, end: int, key: Any) -> Iterable[int]:
        if self.lists is None:
            return [self.table.find(self.words_of_place((end, key, ())))]
        return self.lists.members(self._owner(end, key))

    def _owner(self, end: int, key: Any) -> int:
        assert self.lists is not None
        owner = self.lists.owner
        return owner.find(owner.key_words([end % self.many, *apart(key, self.keys)]))

    def writes(self) -> Iterable[Write]:
        for key, now in self.now_by_key().items():
            reached = self.meaning.reached.get(self.clock_of(key))
            if reached is None:
                continue
            if any(place[0] is None or place[0] <= reached for place, _, _ in now):
                raise Unfit("of windows that have not all closed")
            clock = self.clock_words(reached)
            before = self.clocks[key]
            for end in range(reached + 1 if before is None else before + 1, reached + 1)[: self.many]:
                yield partial(self._close, end, key)
            for each in now:
                yield self.store(*each)
            yield partial(self.clocks_table.set, key, clock)

    def all_writes(self) -> Iterable[Write]:
        reached = {key: reached for (_, key), reached in self.meaning.reached.items()}
        for place, made, size in self.open_groups():
            end, key, _ = place
            if end is None or key not in reached or end <= reached[key]:
                raise Unfit("of windows that have not all closed")
            yield self.store(place, made, size)
        for key, each in reached.items():
            yield partial(self.clocks_table.set, key, self.clock_words(each))

    def _close(self, end: int, key: Any) -> None:
        for slot in list(self._slots(end, key)):
            if self.is_open(slot, end):
                self.table.put(slot, size=0)
        if self.lists is not None:
            self.lists.empty(self._owner(end, key))
