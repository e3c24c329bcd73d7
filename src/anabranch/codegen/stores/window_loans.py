"""Loans of windows: what all shapes of them share.

A window's accumulators are known by their place: the end of the window (None where it has no end in time), its key and
its group. What is lent are places; each has a slot in the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch.codegen.native.closing import closing_order
from anabranch.codegen.native.distinct_values import held_values, seen_by
from anabranch.codegen.stores.loans import Loan, Write
from anabranch.codegen.stores.tables import Table, apart, together
from anabranch.codegen.stores.words import Path, Unfit, key_word, no_word, value_of, word_of
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState

Place = tuple[int | None, Any, Any]  # end, key, group
Accumulators = list[Any]

_ATTRIBUTES = {"rank": "best"}  # what accumulators call a word otherwise
_LARGEST_MEAN, _LARGEST_SQUARES = 2.0**480, 2.0**1000  # of what goes on without being scaled


@dataclass
class Written:
    """The words of a window's group."""

    words: dict[Path, int]
    held: dict[int, list[int]] = field(default_factory=dict)  # values in the record itself, by their place there
    seen: list[tuple[Table, list[int]]] = field(default_factory=list)  # values in tables


class WindowsLoan(Loan):
    """`open` is what the meaning keeps its windows in; shapes say how, and where their records are."""

    def __init__(self, meaning: Any, state: NativeState, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, Table(state, operator.id))
        self.state, self.operator, self.definition = state, operator, definition
        self.keys, self.groups = definition.key_names, definition.group_by
        self.held = held_values(definition)
        self.seen = {
            name: Table(state, seen_by(operator.id, name))
            for name, _ in definition.columns
            if seen_by(operator.id, name) in state.operators
        }
        self.has_opened = ("", "opened") in self.table.places

    def begin(self) -> None:
        self.meaning.open = {}
        self.loaded: dict[Place, tuple[int, Accumulators]] = {}

    @property
    def lent(self) -> int:
        return len(self.loaded) + 1

    # What the shapes say --------------------------------------------------------------------------------------------

    def places(self) -> Iterator[tuple[Place, int]]:
        """All open windows, in the order in which they close, and their slots."""
        for slot in closing_order(self.state, self.table.record).tolist():
            row = self.table.row(slot)
            values = self.table.key(row)
            yield self.place_of(row, values), slot

    def place_of(self, row: list[int], values: list[Any]) -> Place:
        """From a record and the values of its key."""
        of_key = len(self.keys)
        return None, together(values[:of_key]), together(values[of_key:])

    def words_of_place(self, place: Place) -> tuple[int, ...]:
        """The key of its record."""
        _, key, group = place
        return self.table.key_words([*apart(key, self.keys), *apart(group, self.groups)])

    def open_groups(self) -> Iterator[tuple[Place, Accumulators, int]]:
        """What the meaning has: places, accumulators, and of windows by count how many tuples."""
        raise NotImplementedError

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        """Put a window's group into what the meaning has; `size` is what its record says."""
        raise NotImplementedError

    # Lending --------------------------------------------------------------------------------------------------------

    def key_of(self, item: Any) -> tuple[Any, Any]:
        return self.meaning.key_of(item), self.meaning.group_of(item)

    def lend_slot(self, place: Place, slot: int) -> None:
        made = self.accumulators(slot)
        self.loaded[place] = slot, made
        self.keep_open(place, made, self.table.get(slot, "size"))

    def lend_place(self, place: Place) -> None:
        """A group, if there is an open window of it."""
        if place in self.loaded:
            return
        slot = self.table.find(self.words_of_place(place))
        if slot >= 0 and self.table.get(slot, "size"):
            self.lend_slot(place, slot)

    def all_writes(self) -> Iterable[Write]:
        return self.writes()  # which look at all that is open, and at clocks that have moved

    def lend_all(self) -> None:
        now = {place: (made, count) for place, made, count in self.open_groups()}
        self.meaning.open = {}
        for place, slot in self.places():
            known = self.loaded.get(place)
            if known is None:
                self.lend_slot(place, slot)
            elif place in now and now[place][0] is known[1]:
                self.keep_open(place, *now.pop(place))
        for place, (made, count) in now.items():
            self.keep_open(place, made, count)

    def everything(self) -> None:
        self.lend_all()

    def accumulators(self, slot: int) -> Accumulators:
        row = self.table.row(slot)
        made = []
        for name, column in self.definition.columns:
            each: Any = None
            if isinstance(column, Aggregate):
                each = column.accumulator(self.operator.inputs[0].schema)
                self._fill(each, name, row, slot)
            made.append(each)
        return made

    def _fill(self, made: Any, name: str, row: list[int], slot: int) -> None:
        table = self.table
        values: dict[str, Any] = {"count": row[table.places["", "size"]], "has_value": True}
        values |= {
            path[1]: value_of(kind, row[table.places[path]], table.pool)
            for path, kind in table.kinds.items()
            if path[0] == name
        }
        if values.get("value_has") is False or values.get("set") is False:
            values["value"] = None
        if values.get("rank_has") is False:
            values["rank"] = None
        for what, value in values.items():
            attribute = _ATTRIBUTES.get(what, what)
            if hasattr(made, attribute):
                setattr(made, attribute, value)
        if name in self.seen:
            made.seen = self._seen(self.seen[name], row, slot)
        elif name in self.held:
            start = table.record.width - table.record.tail + self.held.index(name)
            words = row[start :: table.record.entry][: values["distinct"]]
            made.seen = {_normal(value_of(made.kind.kind, word, table.pool)) for word in words}

    def _seen(self, seen: Table, row: list[int], slot: int) -> set[Any]:
        rows = seen.rows()
        number = self._number(seen, slot, row[self.table.places["", "opened"]] if self.has_opened else 0)
        if number is not None:
            rows = rows[rows[:, 0] == number]
        kind = seen.record.key_kinds[-1]
        return {_normal(value_of(kind, word, seen.pool)) for word in rows[:, -1].tolist()}

    @staticmethod
    def _number(seen: Table, slot: int, opened: int) -> int | None:
        """What a window is known by in a table of values; None where there is but one."""
        return {"slot": slot, "opened": opened}.get(seen.record.window)

    # And back -------------------------------------------------------------------------------------------------------

    def store(self, place: Place, made: Accumulators, size: int) -> Write:
        """What puts a group into its record; `size` is 0 where it is not known."""
        known = self.loaded.get(place)
        is_same = known is not None and known[1] is made
        least = self.table.get(known[0], "size") if known is not None and is_same else 1
        words = self.words_of(made, size or self._counted(made) or least)
        if self.has_opened and known is not None and is_same:
            words.words["", "opened"] = self.table.get(known[0], "opened")
        return partial(self.write, place, words, is_same)

    def _counted(self, made: Accumulators) -> int:
        """How many tuples a group has, where an aggregate counts them all; elsewhere nobody asks how many they are."""
        schema = self.operator.inputs[0].schema
        for (_, column), each in zip(self.definition.columns, made, strict=True):
            if not isinstance(column, Aggregate) or column.function not in ("count", "sum_", "mean", "std"):
                continue
            if column.attribute is None or not schema[column.attribute].optional:
                return int(each.count)
        return 0

    def words_of(self, made: Accumulators, size: int) -> Written:
        table = self.table
        words: dict[Path, int] = {("", "size"): size}
        written = Written(words)
        by_name = {name: each for (name, _), each in zip(self.definition.columns, made, strict=True)}
        for path, kind in table.kinds.items():
            if path[0]:
                words[path] = self._word(by_name[path[0]], path, kind)
        for name, seen in self.seen.items():
            kind = seen.record.key_kinds[-1]
            written.seen.append((seen, [key_word(kind, value, seen.pool) for value in by_name[name].seen]))
        for at, name in enumerate(self.held):
            each = by_name[name]
            written.held[at] = [key_word(each.kind.kind, value, table.pool) for value in each.seen]
        return written

    def _word(self, made: Any, path: Path, kind: str) -> int:
        name, what = path
        if what == "distinct":
            return len(made.seen)
        if what in ("set", "value_has"):
            return int(made.value is not None)
        if what == "rank_has":
            return int(made.best is not None)
        value = getattr(made, _ATTRIBUTES.get(what, what))
        if value is None and any((name, flag) in self.table.places for flag in _FLAGS.get(what, ())):
            return no_word(kind)
        if what == "squares" and not _goes_on_unscaled(made):
            raise Unfit(f"of aggregate '{name}' is scaled")
        try:
            return word_of(kind, value, self.table.pool)
        except Unfit as problem:
            raise Unfit(f"of aggregate '{name}' {problem}") from None

    def write(self, place: Place, written: Written, is_same: bool) -> int:
        """Into the record of a place, which may be new; gives its slot."""
        table = self.table
        slot = self.slot_for(place)
        if self.has_opened and not is_same:
            opened = table.cell("arrivals")
            table.set_cell("arrivals", opened + 1)
            written.words["", "opened"] = opened
        table.set(slot, written.words)
        for at, words in written.held.items():
            table.set_tail(slot, at, table.record.entry, words)
        for seen, words in written.seen:
            number = self._number(seen, slot, table.get(slot, "opened") if self.has_opened else 0)
            if number is None and not is_same:
                seen.forget_all()
            for word in words:
                seen.found((word,) if number is None else (number, word))
        return slot

    def slot_for(self, place: Place) -> int:
        return self.table.found(self.words_of_place(place))

    def forget_all(self) -> None:
        """No window is open any more."""
        if not self.table.record.is_keyed:
            self.table.put(0, size=0)
        self.table.forget_all()
        for seen in self.seen.values():
            if seen.record.window != "opened":
                seen.forget_all()


_FLAGS = {"value": ("set", "value_has"), "rank": ("rank_has",)}


def _normal(value: Any) -> Any:
    return math.nan if value != value else value


def _goes_on_unscaled(made: Any) -> bool:
    """Whether native code, which never scales, gives the same from here on."""
    has_mean = not math.isfinite(made.mean) or abs(made.mean) <= _LARGEST_MEAN
    has_squares = made.squares <= _LARGEST_SQUARES or not math.isfinite(made.mean)
    return bool(made.scale == 1.0 and has_mean and has_squares)
