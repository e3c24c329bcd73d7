"""Windows and their aggregates, written into the traversal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from anabranch.codegen.python.aggregates import SlotColumn, slot_column
from anabranch.codegen.python.emitting import Emitter
from anabranch.codegen.python.items import Item
from anabranch.codegen.python.lines import Line
from anabranch.codegen.python.slots import CountSlots, PunctuatedSlots, SlotWindows, TimeSlots
from anabranch.codegen.python.values import key_of
from anabranch.graph.model import Edge, Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.windows import microseconds

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator
    from anabranch.codegen.python.unit import Unit


def visit_windows(unit: Unit, edge: Edge, item: Item) -> None:
    """A tuple reaches a window: others close, and it is added to its own."""
    visit = _WindowVisit(unit, edge, item)
    match visit.meaning:
        case TimeSlots():
            visit.by_time()
        case PunctuatedSlots():
            visit.punctuated()
        case CountSlots():
            visit.by_count()


def prepare(generator: Generator, operator: Operator, definition: WindowAggregate) -> None:
    """Generate the function that gives the result of a slot when no tuple arrives."""
    meaning = cast(SlotWindows, generator.node(operator.id).meaning)
    columns = _columns(generator, operator, Item(operator.inputs[0].schema, "item"), read=lambda name: "None")
    name = generator.names.new(f"result_of_{operator.id}")
    results = "".join(f"{column.result}, " for column in columns)
    lines = [Line(f"def {name}(slot, window_start, window_end):"), Line(f"    return ({results})")]
    generator.define(name, lines)
    meaning.result = generator.names.objects[name]
    if isinstance(meaning, TimeSlots) and meaning.asked and meaning.axis.kind == "datetime":
        meaning.like = _first_entry(meaning) + sum(len(column.first) for column in columns)


def _first_entry(meaning: SlotWindows) -> int:
    """Entry 0 of a slot of a window by count is how many tuples it has."""
    return 0 if isinstance(meaning, TimeSlots | PunctuatedSlots) else 1


def _columns(generator: Generator, operator: Operator, item: Item, read, whole=lambda: "item") -> list[SlotColumn]:
    definition = cast(WindowAggregate, operator.definition)
    at = _first_entry(cast(SlotWindows, generator.node(operator.id).meaning))
    columns = []
    for _, column in definition.columns:
        columns.append(slot_column(column, item.schema, read, whole, at, generator.names))
        at += len(columns[-1].first)
    return columns


class _WindowVisit:
    def __init__(self, unit: Unit, edge: Edge, item: Item) -> None:
        self.unit, self.item = unit, item
        self.lines, self.names = unit.lines, unit.names
        node = unit.generator.node(edge.target)
        self.operator = node.operator
        self.definition = cast(WindowAggregate, node.operator.definition)
        self.meaning = cast(SlotWindows, node.meaning)
        self.windows = self.names.constant(node.meaning, node.operator.id)
        self.slot = "slot"

    def read(self, name: str) -> str:
        return self.item.attribute(self.item.schema.names.index(name), self.lines, self.names)

    def key(self) -> str:
        names = self.definition.key_names or self.definition.group_by
        key = key_of(self.item.schema, names, [self.read(name) for name in names], self.names)
        if key.isidentifier() or key == "()":
            return key
        local = self.names.new("key")
        self.lines.add(f"{local} = {key}")
        return local

    # Kinds of windows ---------------------------------------------------------------------------------------------

    def punctuated(self) -> None:
        self._add(f"{self.windows}.open", self.key())

    def by_count(self) -> None:
        key, windows = self.key(), f"{self.windows}.open"
        self._add(windows, key)
        with self.lines.block(f"if slot[0] == {int(self.definition.window.length)}:"):
            self.lines.add(f"del {windows}[{key}]")
            self._emit()

    def by_time(self) -> None:
        meaning = cast(TimeSlots, self.meaning)
        lines, windows = self.lines, self.windows
        value = self.read(meaning.axis.attribute)
        time, inside = value, ""
        if meaning.axis.kind == "datetime":
            inside = f"{value}.tzinfo is {windows}.zone and "
        elif meaning.axis.kind == "date":
            time = self.names.new("time")
            lines.add(f"{time} = {self.names.constant(microseconds, 'microseconds')}({value})")
        current, boundary, end = self.names.new("current"), self.names.new("boundary"), self.names.new("end")
        outer, self.item = self.item, self.item.fork()
        with lines.block(f"if {inside}{windows}.low <= {time} < {windows}.high:"):
            lines.add(f"{current} = {windows}.current")
        with lines.block("else:"):
            lines.add(f"{boundary} = {windows}.boundary({value})")
            with lines.block(f"if {windows}.reached is None or {boundary} > {windows}.reached:"):
                with lines.block(f"for {end} in {windows}.due({boundary}):"):
                    self._close_all(end)
            lines.add(f"{current} = {windows}.enter({boundary}, {value})")
            with lines.block(f"if {current} is None:"):
                self._late()
        self.item = outer
        with lines.block(f"if {current} is not None:"):
            self.item = self.item.fork()
            self._add(current, self.key())

    def _close_all(self, end: str) -> None:
        """Close the windows with this end; each is gone before what it gives is processed."""
        closing, key = self.names.new("closing"), self.names.new("key")
        lines = self.lines
        lines.add(f"{closing} = {self.windows}.open[{end}]")
        with lines.block(f"for {key} in list({closing}):"):
            lines.add(f"slot = {closing}.pop({key})")
            if cast(TimeSlots, self.meaning).asked:
                lines.add(f"window_start, window_end = {self.windows}.edges({end}, slot)")
            self._emit()
        lines.add(f"del {self.windows}.open[{end}]")

    def _late(self) -> None:
        if self.definition.late is None:
            self.lines.add(f"{self.windows}.late += 1")
        else:
            self._emitter().again(self.item.fork(), self.operator.output(self.definition.late))

    # Slots --------------------------------------------------------------------------------------------------------

    def _add(self, windows: str, key: str) -> None:
        """Add the tuple to the slot of its key."""
        lines = self.lines
        whole = partial(self.item.tuple, lines, self.names)
        columns = _columns(self.unit.generator, self.operator, self.item, self.read, whole)
        first = [entry for column in columns for entry in column.first]
        add = [statement for column in columns for statement in column.add]
        if _first_entry(self.meaning):
            first, add = ["1", *first], ["slot[0] += 1", *add]
        like = getattr(self.meaning, "like", None)
        if like is not None:
            time = self.read(cast(TimeSlots, self.meaning).axis.attribute)
            first.append(time)
            add.append(f"slot[{like}] = {time}")
        lines.add(f"slot = {windows}.get({key})")
        with lines.block("if slot is None:"):
            lines.add(f"slot = {windows}[{key}] = [{', '.join(first)}]")
        if add:
            with lines.block("else:"):
                for statement in add:
                    lines.add(statement)
        for column in columns:
            for statement in column.add_always:
                lines.add(statement)
        if self.unit.generator.tracks_changes:
            ...

    def _emit(self) -> None:
        """What the local `slot` holds goes on as a tuple."""
        columns = _columns(self.unit.generator, self.operator, self.item, lambda name: "None", lambda: "None")
        self._emitter().values(columns)

    def _emitter(self) -> Emitter:
        return Emitter(self.operator, self.lines, self.names, partial(self.unit.deliver, self.operator.id))
