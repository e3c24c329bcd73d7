"""Windows and their aggregates, written into the traversal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from anabranch.codegen.python.aggregates import SlotColumn, Slots
from anabranch.codegen.python.emitting import Emitter
from anabranch.codegen.python.items import Item
from anabranch.codegen.python.registers import Registers, registers
from anabranch.codegen.python.slots import CountSlots, PunctuatedSlots, SlotWindows, TimeSlots
from anabranch.codegen.python.values import key_of
from anabranch.codegen.types import Type
from anabranch.graph.model import Edge, Operator
from anabranch.graph.values import is_of_other_zone
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate
from anabranch.operators.windows import CLOCK, microseconds

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator
    from anabranch.codegen.python.unit import Unit


def visit_windows(unit: Unit, edge: Edge, item: Item) -> None:
    """A tuple reaches a window: others close, and it is added to its own."""
    visit = _WindowVisit(unit, unit.generator.node(edge.target).operator, item)
    if edge.target_port == CLOCK:
        visit.clock(edge)
        return
    match visit.meaning:
        case TimeSlots():
            visit.by_time(edge)
        case PunctuatedSlots():
            visit.punctuated()
        case CountSlots():
            visit.by_count()


def prepare(generator: Generator, operator: Operator, definition: WindowAggregate) -> None:
    """Say what slots hold."""
    meaning = cast(SlotWindows, generator.node(operator.id).meaning)
    slots = Slots(
        schema=operator.inputs[0].schema,
        names=generator.names,
        key_names=definition.key_names or definition.group_by,
        read=lambda name: "None",
        item=lambda: "None",
        entry=lambda at: f"slot[{at}]",
        key="None",
        edge=_edge_type(operator, definition),
    )
    columns = [column for _, column in definition.columns]
    meaning.columns = slots.columns(columns, meaning.first_entry)
    meaning.is_tracked = generator.tracks_changes
    if _has_one_entry(meaning, slots.key_names):
        meaning.is_scalar = True
        meaning.columns = replace(slots, entry=lambda at: "slot").columns(columns, 0)


def _edge_type(operator: Operator, definition: WindowAggregate) -> Type | None:
    on = definition.window.on
    return None if on is None else Type(operator.inputs[0].schema[on].kind)


def write_closing(unit: Unit, operator_id: str) -> None:
    """Emit what the windows of an operator hold, at the end or at a punctuation."""
    node = unit.generator.node(operator_id)
    visit = _WindowVisit(unit, node.operator, Item(node.operator.inputs[0].schema, "None"))
    match visit.meaning:
        case TimeSlots():
            with unit.lines.block(f"for end in sorted({visit.windows}.open):"):
                visit.close_all("end", f"{visit.windows}.open[end]", "key")
        case PunctuatedSlots():
            with unit.lines.block(f"for key, slot in {visit.windows}.taken():"):
                visit.emit("key")
        case CountSlots():
            with unit.lines.block(f"for key, slot in {visit.windows}.open.items():"):
                visit.emit("key")


def _has_one_entry(meaning: SlotWindows, key_names: tuple[str, ...]) -> bool:
    """Whether slots have one entry, which is never None: that would stand for no slot."""
    holding = [column for column in meaning.columns if column.first]
    if not key_names or meaning.first_entry or len(holding) != 1 or len(holding[0].first) != 1:
        return False
    return holding[0].type is not None and not holding[0].type.optional


class _WindowVisit:
    def __init__(self, unit: Unit, operator: Operator, item: Item) -> None:
        self.unit, self.item = unit, item
        self.lines, self.names = unit.lines, unit.names
        self.operator = operator
        self.definition = cast(WindowAggregate, operator.definition)
        self.meaning = cast(SlotWindows, unit.generator.node(operator.id).meaning)
        self.windows = self.names.constant(self.meaning, operator.id)
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
            self.emit(key)

    def by_time(self, edge: Edge) -> None:
        meaning = cast(TimeSlots, self.meaning)
        lines = self.lines
        value = self._read(meaning.axis.attribute)
        time, is_inside = value, ""
        registers = self._registers()
        low, high, zone, current = registers.window
        if meaning.axis.kind == "datetime":
            is_inside = f"{value}.tzinfo is {zone} and "
        elif meaning.axis.kind == "date":
            time = self.names.new("time")
            lines.add(f"{time} = {self.names.constant(microseconds, 'microseconds')}({value})")
        for name in self._attributes():  # of every tuple but late ones
            self._read(name)
        outer = self.item
        # Two comparisons that each decide a jump: Python is faster at these than at `low <= time < high`.
        with lines.block(f"if {is_inside}{time} >= {low} and {time} < {high}:"):
            self.item = outer.fork()
            if registers.entries:
                self._add_in_locals(registers.entries)
            else:
                self._add_to(current)
        with lines.block("else:"):
            self.item = outer.fork()
            if self.unit.has_loop:
                self._cross_elsewhere(edge)
            else:
                self._cross(value)
        self.item = outer

    def clock(self, edge: Edge) -> None:
        """A tuple that only has a time: windows that have ended close."""
        lines, windows = self.lines, self.windows
        if self.unit.has_loop:
            self._cross_elsewhere(edge)
            return
        boundary, value = self.names.new("boundary"), self._read(cast(TimeSlots, self.meaning).axis.attribute)
        other = f"{self.names.constant(is_of_other_zone, 'is_of_other_zone')}({value}, {windows}.has_zone)"
        with lines.block(f"if not {other}:"):  # where the tuple itself is, that is an error
            lines.add(f"{boundary} = {windows}.boundary({value})")
            self._close_due(boundary, self.names.new("end"))
            lines.add(f"{windows}.enter({boundary}, {value})")

    def _cross_elsewhere(self, edge: Edge) -> None:
        """What is rare is in a function of its own: Python is faster at short loops."""
        registers = self._registers()
        registers.put_back(self.lines.add)
        self.lines.add(f"{self.unit.generator.arrival_name(edge)}({self.item.made(self.names)})")
        registers.load(self.lines.add)

    def _cross(self, value: str) -> None:
        """The time is not in the window that was reached: a later one begins, or the tuple is late."""
        lines, windows, item = self.lines, self.windows, self.item
        boundary, end = self.names.new("boundary"), self.names.new("end")
        lines.add(f"{boundary} = {windows}.boundary({value})")
        self._close_due(boundary, end)
        with lines.block(f"if {windows}.enter({boundary}, {value}):"):
            self.item = item.fork()
            self._add_to(f"{windows}.current")
        with lines.block("else:"):
            self.item = item.fork()
            self._late()

    def _close_due(self, boundary: str, end: str) -> None:
        """Close windows that have ended. Should one of them fail, it and those before it are gone, as always."""
        crossed = f"{self.windows}.reached is None or {boundary} > {self.windows}.reached"
        with self.lines.block(f"if {crossed}:"), self.lines.block(f"for {end} in {self.windows}.due({boundary}):"):
            closing, key = self.names.new("closing"), self.names.new("key")
            self.lines.add(f"{closing} = {self.windows}.open[{end}]")
            self.lines.add(f"{key} = next(iter({closing}), None)")
            with self.lines.block("try:"):
                self.close_all(end, closing, key)
            with self.lines.block("except BaseException:"):
                self.lines.add(f"{self.windows}.closed_until({end}, {key})")
                self.lines.add("raise")
            self.lines.add(f"del {self.windows}.open[{end}]")

    def _registers(self) -> Registers:
        """Where the window that time has reached is found: in locals, where nothing else can move it."""
        known = self.unit.registers.get(self.operator.id)
        if known is None:
            meaning = cast(TimeSlots, self.meaning)
            has_one_slot = not self.key_names and not meaning.is_tracked
            count = sum(len(column.first) for column in meaning.columns)
            known = registers(self.windows, self.names, count if has_one_slot else 0, self.unit.keeps_locals)
            self.unit.registers[self.operator.id] = known
            known.load(self.unit.prologue.append)
            known.put_back(self.unit.epilogue.append)
        return known

    def close_all(self, end: str, closing: str, key: str) -> None:
        """Emit what the windows with this end hold."""
        lines, meaning = self.lines, cast(TimeSlots, self.meaning)
        edges = f"window_start, window_end = {self.windows}.edges({end})"
        is_once = not self.definition.ranks
        if meaning.asked and is_once:
            lines.add(edges)
        with lines.block(f"for {key}, slot in {closing}.items():"):
            if meaning.asked and not is_once:
                self._note_closing(key)
                lines.add(edges)
            self.emit(key)

    def _late(self) -> None:
        if self.definition.late is None:
            size = self.definition.size
            self.lines.add(f"{self.windows}.late += {'1' if size is None else self._read(size)}")
        else:
            self._emitter().again(self.item.fork(), self.operator.output(self.definition.late))

    # Slots --------------------------------------------------------------------------------------------------------

    def _read(self, name: str) -> str:
        return self.item.attribute(self.item.schema.names.index(name), self.lines, self.names)

    def _attributes(self) -> Iterator[str]:
        """What is read when a tuple is added."""
        yield from self.key_names
        for _, column in self.definition.columns:
            if isinstance(column, Aggregate):
                yield from (name for name in (column.attribute, column.by) if name is not None)

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
        lines, is_scalar = self.lines, self.meaning.is_scalar
        columns = self._columns(self._read, partial(self.item.tuple, lines, self.names), key)
        first = [entry for column in columns for entry in column.first]
        add = [statement for column in columns for statement in column.add]
        if self.meaning.first_entry:
            first, add = ["1", *first], ["slot[0] += 1", *add]
        lines.add(f"slot = {windows}.get({key})")
        with lines.block("if slot is None:"):
            lines.add(f"slot = {first[0]}" if is_scalar else f"slot = {windows}[{key}] = [{', '.join(first)}]")
        if add:
            with lines.block("else:"):
                for statement in add:
                    lines.add(statement)
        for column in columns:
            for statement in column.add_always:
                lines.add(statement)
        if is_scalar:
            lines.add(f"{windows}[{key}] = slot")

    def _add_in_locals(self, entries: Sequence[str]) -> None:
        """The same for the only slot there is, whose entries are locals."""
        columns = self._columns(self._read, partial(self.item.tuple, self.lines, self.names), "()", entries)
        for column in columns:
            for statement in (*column.add, *column.add_always):
                self.lines.add(statement)

    def _columns(
        self, read: Callable[[str], str], item: Callable[[], str], key: str, entries: Sequence[str] = ()
    ) -> list[SlotColumn]:
        def entry(at: int) -> str:
            if entries:
                return entries[at] if at < len(entries) else "None"  # beyond: asked for before it is known to be shared
            return "slot" if self.meaning.is_scalar else f"slot[{at}]"

        edge = _edge_type(self.operator, self.definition)
        schema = self.operator.inputs[0].schema
        slots = Slots(schema, self.names, self.key_names, read, item, entry, key, edge)
        return slots.columns([column for _, column in self.definition.columns], self.meaning.first_entry)

    def emit(self, key: str) -> None:
        """What the local `slot` holds goes on as a tuple."""
        self._note_closing(key)
        self._emitter().values(self._columns(lambda name: "None", lambda: "None", key))

    def _note_closing(self, key: str) -> None:
        """Say where the output of a window will be among those of the moment, before anything can fail."""
        if self.definition.ranks:
            columns = self._columns(lambda name: "None", lambda: "None", key)
            names = [name for name, _ in self.definition.columns]
            ranks = [columns[names.index(rank)].result for rank in self.definition.ranks]
            self.lines.add(f"{self.windows}.closing = ({', '.join(ranks)},)")

    def _emitter(self) -> Emitter:
        return Emitter(self.operator, self.lines, self.names, partial(self.unit.deliver, self.operator.id))
