"""`window(...).aggregate(...)`: one output per window, or per group of a window, when it closes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationIn, PunctuationOut
from anabranch.graph.values import check_zone, is_of_other_zone, is_same_key, key_reader
from anabranch.graph.windows import Window
from anabranch.operators.aggregates import Accumulator, Aggregate, UserAggregate, WindowEdge, index_edges
from anabranch.operators.base import PUNCTUATION, Emission, Emissions, Meaning, OperatorDefinition, Step
from anabranch.operators.windows import CLOCK, Axis

Column = Aggregate | UserAggregate | WindowEdge


@dataclass(frozen=True)
class WindowAggregate(OperatorDefinition):
    """`columns` gives every attribute of the output, in order.

    An engine that runs several of it, each for some of the keys, gives it a second input: tuples that move the clock,
    where windows close by the stream's, and are in no window. `ranks` are then columns by which the outputs of one
    moment are put in order. One that takes tuples that stand for others (`parts.py`) has the attribute that says for
    how many, its `size`: so many are late with one that is.
    """

    record: ClassVar = Record(kind="aggregate", state="key", selectivity="1:[0,inf)", forwards="any")
    window: Window
    columns: tuple[tuple[str, Column], ...]
    key_names: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    late: str | None = None  # the output for tuples whose windows have all closed
    ranks: tuple[str, ...] = ()
    size: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return self.key_names

    @property
    def punctuation_in(self) -> PunctuationIn:
        is_punctuated = self.window.shape == "punctuated"
        return PunctuationIn.EXPECTING if is_punctuated else PunctuationIn.OBLIVIOUS

    @property
    def punctuation_out(self) -> PunctuationOut:
        """Windows cut the stream anew, so other punctuations mean nothing behind them."""
        is_punctuated = self.window.shape == "punctuated"
        return PunctuationOut.PRESERVES if is_punctuated else PunctuationOut.REMOVES

    def meaning(self, operator: Operator) -> Meaning:
        if self.window.shape == "punctuated":
            return _PunctuatedWindows(operator, self)
        if self.window.is_by_time:
            return _TimeWindows(operator, self)
        if self.window.shape == "tumbling":
            return _TumblingCountWindows(operator, self)
        return _SlidingCountWindows(operator, self)


class _Contents:
    """What one window holds: accumulators by group, groups in order of first arrival."""

    def __init__(self, definition: WindowAggregate, operator: Operator) -> None:
        self.definition = definition
        self.schema = operator.inputs[0].schema
        self.groups: dict[Any, list[Accumulator | None]] = {}

    def add(self, item: Any, group: Any) -> None:
        if group not in self.groups:
            self.groups[group] = [self._accumulator(column) for _, column in self.definition.columns]
        for accumulator in self.groups[group]:
            if accumulator is not None:
                accumulator.add(item)

    def _accumulator(self, column: Column) -> Accumulator | None:
        match column:
            case Aggregate():
                return column.accumulator(self.schema)
            case UserAggregate():
                return column.factory()
            case WindowEdge():
                return None

    def result(
        self, accumulators: list[Accumulator | None], edges: dict[str, Any], names: tuple[str, ...] | None = None
    ) -> list[Any]:
        """The values of the output for one group, or only those with these names."""
        values = []
        for (name, column), accumulator in zip(self.definition.columns, accumulators, strict=True):
            if names is not None and name not in names:
                continue
            if isinstance(column, WindowEdge):
                values.append(edges[column.edge])
            else:
                assert accumulator is not None
                values.append(accumulator.result())
        return values


class _Windows(Meaning):
    """What all kinds of windows share."""

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator)
        self.definition = definition
        schema = operator.inputs[0].schema
        self.key_of = key_reader(schema, definition.key_names)
        self.group_of = key_reader(schema, definition.group_by)
        self.make = operator.outputs[0].schema.type._make  # type: ignore[attr-defined]  # a NamedTuple
        # For engines: the ranks of the output that is being made, if one is, and of what went out as dead letters.
        self.closing: tuple[Any, ...] = ()
        self.letters: list[tuple[Any, ...]] = []

    def new_window(self) -> _Contents:
        return _Contents(self.definition, self.operator)

    def close(self, window: _Contents, edges: dict[str, Any] | None = None) -> Iterator[Step]:
        """A step per group: one that fails does not take the others along."""
        for accumulators in window.groups.values():
            yield partial(self._emit_group, window, accumulators, edges or {})

    def _emit_group(
        self, window: _Contents, accumulators: list[Accumulator | None], edges: dict[str, Any]
    ) -> Iterator[Emission]:
        self._note(window, accumulators, edges)
        yield 0, self.make(window.result(accumulators, edges))
        self.closing = ()

    def _note(self, window: _Contents, accumulators: list[Accumulator | None], edges: dict[str, Any]) -> None:
        """Say where the output of a group will be among those of the moment, before anything can fail."""
        if self.definition.ranks:
            self.closing = tuple(window.result(accumulators, edges, self.definition.ranks))

    def sends_letter(self, during: str) -> None:
        if self.definition.ranks:
            self.letters.append(self.closing)
        self.closing = ()

    def punctuation(self, port: int) -> Emissions:
        return ()


class _TumblingCountWindows(_Windows):
    """Closes a key's window with its n-th tuple."""

    state = ("open",)

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator, definition)
        # A key is removed when its window closes, so the order of keys is that of the open windows' first tuples.
        self.open: dict[Any, tuple[_Contents, int]] = {}

    def process(self, port: int, item: Any) -> Emissions:
        key = self.key_of(item)
        window, count = self.open.get(key) or (self.new_window(), 0)
        window.add(item, self.group_of(item))
        self.open[key] = window, count + 1
        if count + 1 == self.definition.window.length:
            del self.open[key]
            yield from self.close(window)

    def finish(self) -> Emissions:
        for window, _ in self.open.values():
            yield partial(self.close, window)


class _SlidingCountWindows(_Windows):
    """Every `slide` tuples of a key, over the last `count` of them."""

    state = ("arrivals", "recent", "since_last")

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator, definition)
        self.arrivals = 0
        self.recent: dict[Any, deque[tuple[int, Any]]] = {}  # (number of arrival, tuple)
        self.since_last: dict[Any, int] = {}

    def process(self, port: int, item: Any) -> Emissions:
        key = self.key_of(item)
        window = self.definition.window
        recent = self.recent.setdefault(key, deque(maxlen=int(window.length)))
        recent.append((self.arrivals, item))
        self.arrivals += 1
        self.since_last[key] = self.since_last.get(key, 0) + 1
        if self.since_last[key] == window.slide:
            self.since_last[key] = 0
            yield from self._emit(recent)

    def _emit(self, recent: deque[tuple[int, Any]]) -> Iterator[Step]:
        self._note_first(recent[0][1])  # tuples may fail when they are added, which is only now
        contents = self.new_window()
        for _, item in recent:
            contents.add(item, self.group_of(item))
        yield from self.close(contents)

    def _note_first(self, item: Any) -> None:
        """The same as `_note` by the first tuple of a window, before there are accumulators."""
        columns = dict(self.definition.columns)
        first = [columns[rank] for rank in self.definition.ranks]
        names = self.operator.inputs[0].schema.names
        self.closing = tuple(item[names.index(column.attribute)] for column in first if isinstance(column, Aggregate))

    def finish(self) -> Emissions:
        """A window is still open where tuples came after the last emission."""
        unfinished = [self.recent[key] for key, count in self.since_last.items() if count]
        for recent in sorted(unfinished, key=lambda recent: recent[0][0]):
            yield partial(self._emit, recent)


class _TimeWindows(_Windows):
    """Windows by event time or delta, closed by the stream's clock or by the key's own."""

    state = ("reached", "zones", "open")

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator, definition)
        self.axis = Axis(definition.window, operator.inputs[0].schema)
        self.has_key_clock = definition.window.clock == "key"
        self.zones: dict[Any, bool] = {}  # clock -> whether its times, where they are datetimes, have a zone
        self.reached: dict[Any, int] = {}  # clock -> last boundary its time has reached
        self.open: dict[int, dict[Any, _Contents]] = {}  # end -> key -> window; keys by first arrival
        self.late_port = operator.output(definition.late) if definition.late is not None else None
        self.size_of = attrgetter(definition.size) if definition.size is not None else lambda item: 1

    def process(self, port: int, item: Any) -> Emissions:
        time = self.axis.time(item)
        key = self.key_of(item)
        clock = self._clock_of(key)
        if self.axis.has_zones:
            if port == CLOCK and is_of_other_zone(item[self.axis.position], self.zones.get(clock)):
                return  # an error where the tuple itself is
            self._check_zone(clock, item)
        boundary = self.axis.boundary(time)
        if boundary > self.reached.get(clock, boundary - 1):
            self.reached[clock] = boundary
            yield from self._close_due(boundary, key)
        if port == CLOCK:
            return
        reached = self.reached[clock]
        windows = self.axis.windows(time)
        if windows and windows[-1] <= reached:
            yield from self._late(item)
        for end in windows:
            if end > reached:
                window = self.open.setdefault(end, {}).setdefault(key, self.new_window())
                window.add(item, self.group_of(item))

    def _clock_of(self, key: Any) -> Any:
        return ("key", key) if self.has_key_clock else ("stream",)

    def _check_zone(self, clock: Any, item: Any) -> None:
        """The first time of a clock decides whether its times have a zone."""
        has_zone = check_zone(item[self.axis.position], self.zones.get(clock), self.axis.attribute)
        if has_zone is not None:
            self.zones[clock] = has_zone

    def _close_due(self, boundary: int, current_key: Any) -> Emissions:
        """Close windows in order of their end, within it in order of their first arrival."""
        for end in sorted(self.open):
            if end > boundary:
                return
            for key in list(self.open[end]):
                if not self.has_key_clock or is_same_key(key, current_key):
                    yield partial(self._close_window, end, key, self.open[end].pop(key))
            if not self.open[end]:
                del self.open[end]

    def _close_window(self, end: int, key: Any, window: _Contents) -> Iterator[Step]:
        has_zone = self.zones.get(self._clock_of(key))
        # Only the edges that are asked for: the last day of the calendar has an end that cannot be written.
        asked = [column.edge for _, column in self.definition.columns if isinstance(column, WindowEdge)]
        edge_of = {"start": self.axis.start_of, "end": self.axis.end_of}
        index = index_edges(end)
        self._note(window, next(iter(window.groups.values())), index)
        edges = {edge: edge_of[edge](end, has_zone) for edge in asked if edge in edge_of}
        yield from self.close(window, {**edges, **index})

    def _late(self, item: Any) -> Iterator[Emission]:
        if self.late_port is None:
            self.late += self.size_of(item)
        else:
            yield self.late_port, item

    def finish(self) -> Emissions:
        for end in sorted(self.open):
            for key, window in self.open[end].items():
                yield partial(self._close_window, end, key, window)


class _PunctuatedWindows(_Windows):
    """A punctuation closes the windows of all keys."""

    state = ("open",)

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator, definition)
        self.open: dict[Any, _Contents] = {}

    def process(self, port: int, item: Any) -> Emissions:
        self.open.setdefault(self.key_of(item), self.new_window()).add(item, self.group_of(item))
        return ()

    def punctuation(self, port: int) -> Emissions:
        yield from self.finish()
        yield 0, PUNCTUATION

    def finish(self) -> Emissions:
        windows, self.open = self.open, {}
        for window in windows.values():
            yield partial(self.close, window)
