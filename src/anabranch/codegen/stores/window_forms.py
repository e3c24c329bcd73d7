"""Stores of windows: of each group of each open window what was aggregated, and clocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from anabranch.codegen.stores.accumulators import accumulators_of, values_of
from anabranch.codegen.stores.store import Record, Store
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate

Content = tuple[dict[str, list[Record]], dict[str, Any]]
_STREAM = ("stream",)


class WindowsForm:
    """What all kinds of windows share: a record for each group, with `before` of its window."""

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        self.definition, self.schema = definition, operator.inputs[0].schema

    def records(self, key: Any, window: Any, *before: Any) -> Iterator[Record]:
        for group, made in window.groups.items():
            of_group = (group,) if self.definition.group_by else ()
            yield Record(key, (*before, *of_group, *values_of(self.definition.columns, made)))

    def add(self, window: Any, values: tuple[Any, ...]) -> None:
        """Put a group back; `values` are those behind the window's own."""
        has_group = bool(self.definition.group_by)
        group = values[0] if has_group else ()
        window.groups[group] = accumulators_of(self.definition, self.schema, values[has_group:])


class CountForm(WindowsForm):
    """Tumbling by count. Of a window with several groups, each says how many tuples they all have."""

    def read(self, meaning: Any) -> Content:
        found = [each for key, (window, tuples) in meaning.open.items() for each in self.records(key, window, tuples)]
        return {"windows": found}, {}

    def write(self, meaning: Any, store: Store) -> None:
        for record in store.table("windows"):
            window, _ = meaning.open.get(record.key) or (meaning.new_window(), 0)
            self.add(window, record.values[1:])
            meaning.open[record.key] = window, record.values[0]


class PunctuatedForm(WindowsForm):
    def read(self, meaning: Any) -> Content:
        return {"windows": [each for key, window in meaning.open.items() for each in self.records(key, window)]}, {}

    def write(self, meaning: Any, store: Store) -> None:
        for record in store.table("windows"):
            self.add(meaning.open.setdefault(record.key, meaning.new_window()), record.values)


class TimeForm(WindowsForm):
    def read(self, meaning: Any) -> Content:
        windows = [
            each
            for end in sorted(meaning.open)
            for key, window in meaning.open[end].items()
            for each in self.records(key, window, end)
        ]
        clocks = [
            Record(None if clock == _STREAM else clock[1], (meaning.reached.get(clock), meaning.zones.get(clock)))
            for clock in dict.fromkeys((*meaning.reached, *meaning.zones))
        ]
        return {"windows": windows, "clocks": clocks}, {}

    def write(self, meaning: Any, store: Store) -> None:
        for record in store.table("windows"):
            windows = meaning.open.setdefault(record.values[0], {})
            self.add(windows.setdefault(record.key, meaning.new_window()), record.values[1:])
        for record in store.table("clocks"):
            clock = ("key", record.key) if meaning.has_key_clock else _STREAM
            reached, has_zone = record.values
            if reached is not None:
                meaning.reached[clock] = reached
            if has_zone is not None:
                meaning.zones[clock] = has_zone


class RecentForm:
    """Sliding by count: the last tuples of each key."""

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        self.length = int(definition.window.length)

    def read(self, meaning: Any) -> Content:
        recent = [Record(key, each) for key, last in meaning.recent.items() for each in last]
        recent.sort(key=lambda record: int(record.values[0]))
        counts = [Record(key, (count,)) for key, count in meaning.since_last.items()]
        return {"recent": recent, "counts": counts}, {"arrivals": meaning.arrivals}

    def write(self, meaning: Any, store: Store) -> None:
        meaning.arrivals = store.values["arrivals"]
        for record in store.table("recent"):
            arrival, item = record.values
            meaning.recent.setdefault(record.key, deque(maxlen=self.length)).append((arrival, item))
        meaning.since_last = {record.key: record.values[0] for record in store.table("counts")}


def form_of_windows(
    operator: Operator, definition: WindowAggregate
) -> CountForm | PunctuatedForm | TimeForm | RecentForm:
    window = definition.window
    if window.shape == "punctuated":
        return PunctuatedForm(operator, definition)
    if window.is_by_time:
        return TimeForm(operator, definition)
    return CountForm(operator, definition) if window.shape == "tumbling" else RecentForm(operator, definition)
