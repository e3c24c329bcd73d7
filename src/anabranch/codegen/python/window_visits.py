"""Windows and their aggregates, written into the traversal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from anabranch.codegen.python.aggregates import SlotColumn, Slots
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
    """Say what slots hold, and generate the function that gives the result of one when no tuple arrives."""
    meaning = cast(SlotWindows, generator.node(operator.id).meaning)
    slots = Slots(
        schema=operator.inputs[0].schema,
        names=generator.names,
        key_names=definition.key_names or definition.group_by,
        read=lambda name: "None",
        item=lambda: "None",
        entry=lambda at: f"slot[{at}]",
        key="key",
    )
    meaning.columns = slots.columns([column for _, column in definition.columns], meaning.first_entry)
    meaning.is_tracked = generator.tracks_changes
    name = generator.names.new(f"result_of_{operator.id}")
    results = "".join(f"{column.result}, " for column in meaning.columns)
    generator.define(name, [Line(f"def {name}(slot, key, window_start, window_end):"), Line(f"    return ({results})")])
    meaning.result = generator.names.objects[name]
    if isinstance(meaning, TimeSlots) and meaning.asked and meaning.axis.kind == "datetime":
        meaning.like = sum(len(column.first) for column in meaning.columns)


class _WindowVisit:
    def __init__(self, unit: Unit, edge: Edge, item: Item) -> None:
        self.unit, self.item = unit, item
        self.lines, self.names = unit.lines, unit.names
        node = unit.generator.node(edge.target)
        self.operator = node.operator
        self.definition = cast(WindowAggregate, node.operator.definition)
        self.meaning = cast(SlotWindows, node.meaning)
        self.windows = self.names.constant(node.meaning, node.operator.id)
        self.key_names = self.definition.key_names or self.definition.group_by

    # Kinds of windows ---------------------------------------------------------------------------------------------

    def punctuated(self) -> None:
        key = self._key()
        self._add(f"{self.windows}.open", key)
        self._touch(key)

    def by_count(self) -> None:
        key, windows = self._key(), f"{self.windows}.open"
        self._add(windows, key)
        self._touch(key)
        with self.lines.block(f"if slot[0] == {int(self.definition.window.length)}:"):
            self.lines.add(f"del {windows}[{key}]")
            if self.meaning.is_tracked:
                self.lines.add(f"del {self.windows}.touched[{key}]")
                self.lines.add(f"{self.windows}.removed[{key}] = None")
            self._emit(key)

    def by_time(self) -> None:
        meaning = cast(TimeSlots, self.meaning)
        lines, windows = self.lines, self.windows
        value = self._read(meaning.axis.attribute)
        time, is_inside = value, ""
        has_locals = self.unit.keeps_locals
        low, high, zone, current = self._registers(has_locals)
        if meaning.axis.kind == "datetime":
            is_inside = f"{value}.tzinfo is {zone} and "
        elif meaning.axis.kind == "date":
            time = self.names.new("time")
            lines.add(f"{time} = {self.names.constant(microseconds, 'microseconds')}({value})")
        boundary, end = self.names.new("boundary"), self.names.new("end")
        outer = self.item
        with lines.block(f"if {is_inside}{low} <= {time} < {high}:"):
            self.item = outer.fork()
            self._add_to(current)
        with lines.block("else:"):
            self.item = outer.fork()
            lines.add(f"{boundary} = {windows}.boundary({value})")
            with lines.block(f"if {windows}.reached is None or {boundary} > {windows}.reached:"):
                with lines.block(f"for {end} in {windows}.due({boundary}):"):  # as it will look
                    self._close_all(end)
            with lines.block(f"if {windows}.enter({boundary}, {value}):"):
                self.item = outer.fork()
                self._add_to(f"{windows}.current")
            with lines.block("else:"):
                self.item = outer.fork()
                self._late()
            if has_locals:
                lines.add(self._load_registers(low, high, zone, current))
        self.item = outer

    def _registers(self, has_locals: bool) -> tuple[str, str, str, str]:
        """Where the window that time has reached is found: in locals, where nothing else can move it."""
        names = ("low", "high", "zone", "current")
        if not has_locals:
            return tuple(f"{self.windows}.{name}" for name in names)  # type: ignore[return-value]  # four
        known = self.unit.registers.get(self.operator.id)
        if known is None:
            known = self.unit.registers[self.operator.id] = tuple(self.names.new(name) for name in names)
            self.unit.prologue.append(self._load_registers(*known))
        return known  # type: ignore[return-value]  # four

    def _load_registers(self, *registers: str) -> str:
        names = ("low", "high", "zone", "current")
        return f"{', '.join(registers)} = {', '.join(f'{self.windows}.{name}' for name in names)}"

    def _close_all(self, end: str) -> None:
        """Close the windows with this end; each is gone before what it gives is processed."""
        closing, key = self.names.new("closing"), self.names.new("key")
        lines = self.lines
        meaning = cast(TimeSlots, self.meaning)
        edges = f"window_start, window_end = {self.windows}.edges({end}, slot)"
        lines.add(f"{closing} = {self.windows}.open[{end}]")
        if meaning.asked and meaning.like is None:
            lines.add(edges.replace("slot", "None"))
        with lines.block(f"for {key} in list({closing}):"):
            lines.add(f"slot = {closing}.pop({key})")
            if meaning.like is not None:
                lines.add(edges)
            self._emit(key)
        lines.add(f"del {self.windows}.open[{end}]")

    def _late(self) -> None:
        if self.definition.late is None:
            self.lines.add(f"{self.windows}.late += 1")
        else:
            self._emitter().again(self.item.fork(), self.operator.output(self.definition.late))

    # Slots --------------------------------------------------------------------------------------------------------

    def _read(self, name: str) -> str:
        return self.item.attribute(self.item.schema.names.index(name), self.lines, self.names)

    def _key(self) -> str:
        key = key_of(self.item.schema, self.key_names, [self._read(name) for name in self.key_names], self.names)
        if key.isidentifier() or key == "()":
            return key
        local = self.names.new("key")
        self.lines.add(f"{local} = {key}")
        return local

    def _touch(self, key: str) -> None:
        if self.meaning.is_tracked:
            self.lines.add(f"{self.windows}.touched[{key}] = None")

    def _add_to(self, current: str) -> None:
        """Add the tuple to the window that time has reached."""
        key = self._key()
        self._add(current, key)
        self._touch(f"{self.windows}.reached + 1, {key}")

    def _add(self, windows: str, key: str) -> None:
        """Add the tuple to the slot of its key."""
        lines = self.lines
        columns = self._columns(self._read, partial(self.item.tuple, lines, self.names), key)
        first = [entry for column in columns for entry in column.first]
        add = [statement for column in columns for statement in column.add]
        if self.meaning.first_entry:
            first, add = ["1", *first], ["slot[0] += 1", *add]
        like = getattr(self.meaning, "like", None)
        if like is not None:
            time = self._read(cast(TimeSlots, self.meaning).axis.attribute)
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

    def _columns(self, read: Callable[[str], str], item: Callable[[], str], key: str) -> list[SlotColumn]:
        slots = Slots(
            self.item.schema, self.names, self.key_names, read=read, item=item, entry=lambda at: f"slot[{at}]", key=key
        )
        return slots.columns([column for _, column in self.definition.columns], self.meaning.first_entry)

    def _emit(self, key: str) -> None:
        """What the local `slot` holds goes on as a tuple."""
        self._emitter().values(self._columns(lambda name: "None", lambda: "None", key))

    def _emitter(self) -> Emitter:
        return Emitter(self.operator, self.lines, self.names, partial(self.unit.deliver, self.operator.id))
