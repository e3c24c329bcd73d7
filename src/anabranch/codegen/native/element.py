"""A processing element in the native form; where native code cannot go on, it continues in the Python form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.codegen.cut_at_marks import Mark, Tuples, cut_at_marks
from anabranch.codegen.native import saving
from anabranch.codegen.native.arrays import Array, ColumnArrays, place_of
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.compiled import Compiled
from anabranch.codegen.native.export import closing_order, meanings_of
from anabranch.codegen.native.initial import begin
from anabranch.codegen.native.kernel import SHIFT, START, STATUS, STOP, TEXTS
from anabranch.codegen.native.outputs import Outputs
from anabranch.codegen.native.rest import joined, rest_of
from anabranch.codegen.native.state import NativeState, OperatorState
from anabranch.codegen.part import Part
from anabranch.codegen.pe import Stopped
from anabranch.codegen.python import BegunOperator, PythonElement, python_form
from anabranch.graph.model import Edge, StreamId
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import FINAL
from anabranch.operators.metrics import OperatorMetrics


class _Leave(Exception):
    """The item with this number, and all after it, is for the Python form."""

    def __init__(self, item: int) -> None:
        super().__init__()
        self.item = item


class NativeElement:
    """Calls kernels for tuples that follow one another, and closes windows between them."""

    def __init__(self, part: Part, assembled: Assembled, compiled: Compiled, **options: bool) -> None:
        self.part = part
        self.assembled = assembled
        self.source = assembled.source
        self.options = options
        self.metrics = {operator_id: OperatorMetrics() for operator_id in part.operators}
        self.state = NativeState(assembled)
        self.ended: dict[str, int] = {}
        self._closed: list[tuple[OperatorState, tuple[Array, Array]]] = []  # at this mark, the last first
        self.python: PythonElement | None = None  # the element that goes on, once native code had to be left
        self._is_placed = False
        self._notes: list[str] = []
        self._compiled = compiled
        # The address and the length of each array of the kernels, and of one that differs from call to call.
        self._places = np.zeros(2 * len(assembled.arguments) + 2, np.int64)
        self._place_words = memoryview(self._places.data)
        self._outputs = Outputs(part, assembled, self.state, self._places)
        self._rows = [assembled.cells[f"row{number}"].place for number in range(len(part.inputs))]
        self._late = [
            (assembled.cells[f"late_{at}"].place, operator_id)
            for at, operator_id in enumerate(part.operators)
            if f"late_{at}" in assembled.cells
        ]
        self._columns = [(at, each.of) for at, each in enumerate(assembled.arguments) if each.role == "column"]
        self._counted = _counted(part, assembled)
        for operator_id, record in assembled.records.items():
            if not record.is_keyed:
                begin(self.state.operators[operator_id], part.operator(operator_id), self.state)

    @property
    def notes(self) -> list[str]:
        return self._notes

    @property
    def form(self) -> str:
        return "native" if self.python is None else "python"

    def process(self, batch: Batch) -> list[Chunk]:
        if self.python is not None:
            try:
                return self.python.process(batch)
            finally:
                self._add_up()
        if self.state.forget_texts() or not self._is_placed:
            self._place_state()
            self._is_placed = True
        outputs, words = self._outputs, self.state.words
        outputs.begin(sum([len(chunk) for chunk in batch.chunks if chunk is not None]))
        inputs = [None if chunk is None else ColumnArrays(chunk) for chunk in batch.chunks]
        for place in self._rows:
            words[place] = 0
        try:
            self._place_columns(inputs)
            outputs.find_columns(inputs)
            for each in cut_at_marks(batch):
                if isinstance(each, Mark):
                    self._mark(each, outputs)
                else:
                    self._tuples(each, outputs)
        except NoColumns:
            self._notes.append(f"{self._name()} went on in the Python form: a column holds datetimes of both kinds")
            return self._go_on(batch, 0, [])
        except _Leave as leave:
            self._count()
            self._notes.append(f"{self._name()} went on in the Python form: a tuple fails, or needs more than 64 bits")
            return self._go_on(batch, leave.item, outputs.chunks(inputs))
        self._count()
        return outputs.chunks(inputs)

    def _place_columns(self, inputs: list[ColumnArrays | None]) -> None:
        for at, (number, attribute, what) in self._columns:
            source = inputs[number]
            if source is not None:
                self._place_words[2 * at], self._place_words[2 * at + 1] = source.place(attribute, what)

    def _place_state(self) -> None:
        """Tell the kernels where the state is; again whenever an array was replaced by a larger one."""
        for at, argument in enumerate(self.assembled.arguments):
            if argument.role in ("state", "pool"):
                self._places[2 * at : 2 * at + 2] = place_of(self.state.argument(argument.role, argument.of))
        self.state.set_rooms()

    # Kernels ----------------------------------------------------------------------------------------------------

    def _tuples(self, tuples: Tuples, outputs: Outputs) -> None:
        words = self.state.words
        many = len(self.part.inputs) > 1
        # A kernel of one input counts rows, one of several counts turns.
        first = 0 if many else words[self._rows[0]]
        words[START], words[STOP] = first, first + tuples.count
        words[SHIFT] = tuples.start - first  # rows, or turns, are numbered from here, items from the batch's beginning
        last = None
        if many:
            turns = tuples.turns if tuples.turns is not None else np.full(tuples.count, tuples.input)
            last = np.ascontiguousarray(turns, np.uint16)
        while not self._call("process", outputs, last):
            pass
        done = words[START] - first
        if not many:
            words[self._rows[0]] = words[START]
        if done < tuples.count:
            raise _Leave(tuples.start + done)

    def _call(self, kernel: str, outputs: Outputs, last: Array | None) -> bool:
        """Call a kernel; False where an array was full, and now is larger."""
        if last is not None:
            self._places[-2:] = place_of(last)
        self._compiled.kernels[kernel](self.state.meta, self._places)
        self.state.pool.count = self.state.words[TEXTS]
        status = self.state.words[STATUS]
        if status < 2:
            return True
        self._make_room(status - 1, outputs)
        return False

    def _make_room(self, full: int, outputs: Outputs) -> None:
        if full == 1:
            self.state.pool.make_room(strings=self.state.pool.count + 1, size=len(self.state.pool.bytes))
        elif full < 1000:
            outputs.grow(full - 2)
        else:
            self.state.grow(list(self.assembled.records)[full - 1000])
        self._place_state()

    # Punctuations and ends --------------------------------------------------------------------------------------

    def _mark(self, mark: Mark, outputs: Outputs) -> None:
        stream = self.part.inputs[mark.input]
        self.state.words[SHIFT] = mark.start
        before = self.state.meta.copy()
        ended, marks = dict(self.ended), outputs.marks()
        self._closed = []
        try:
            if mark.item is FINAL:
                self._final(stream, outputs)
            elif self._is_punctuated(stream):
                self._punctuation(stream, outputs)
        except _Leave:
            # Other windows may have closed before the one that cannot: the Python form closes them all again.
            self.state.meta[:] = before
            for state, arrays in self._closed:
                state.put_back(arrays)
            self.ended = ended
            outputs.set_marks(marks)
            raise _Leave(mark.start) from None

    def _is_punctuated(self, stream: StreamId) -> bool:
        return self.part.operator(stream.operator).outputs[stream.port].is_punctuated

    def _punctuation(self, stream: StreamId, outputs: Outputs) -> None:
        edges = self.part.consumers(stream)
        before = self.part.consumers_before_leaving(stream)
        self._punctuated(edges[:before], outputs)
        if stream in self.part.outputs:
            outputs.punctuate(self.part.outputs.index(stream))
        self._punctuated(edges[before:], outputs)

    def _punctuated(self, edges: Sequence[Edge], outputs: Outputs) -> None:
        for edge in edges:
            operator = self.part.operator(edge.target)
            if isinstance(operator.definition, WindowAggregate):
                if operator.definition.window.shape != "punctuated":
                    continue
                self._close(operator.id, outputs)
            for port in range(len(operator.outputs)):
                onward = StreamId(operator.id, port)
                if self._is_punctuated(onward):
                    self._punctuation(onward, outputs)

    def _final(self, stream: StreamId, outputs: Outputs) -> None:
        edges = self.part.consumers(stream)
        before = self.part.consumers_before_leaving(stream)
        self._ended(edges[:before], outputs)
        if stream in self.part.outputs:
            outputs.end(self.part.outputs.index(stream))
        self._ended(edges[before:], outputs)

    def _ended(self, edges: Sequence[Edge], outputs: Outputs) -> None:
        for edge in edges:
            operator = self.part.operator(edge.target)
            self.ended[operator.id] = self.ended.get(operator.id, 0) + 1
            if self.ended[operator.id] < len(operator.inputs):
                continue
            if operator.id in self.assembled.closing:
                self._close(operator.id, outputs)
            for port in range(len(operator.outputs)):
                self._final(StreamId(operator.id, port), outputs)

    def _close(self, operator_id: str, outputs: Outputs) -> None:
        """Emit what the windows of an operator hold, and empty them."""
        order = closing_order(self.state, self.assembled.records[operator_id])
        outputs.make_room(len(order))
        kernel = f"close_{self.part.operators.index(operator_id)}"
        while not self._call(kernel, outputs, order):
            pass
        if self.state.meta[STATUS] == 1:
            raise _Leave(0)
        for state in self.state.operators.values():
            if operator_id in (state.record.operator, state.record.windows_of):
                self._closed.insert(0, (state, state.clear()))
                self.state.set_cell(f"{state.record.prefix}_count", 0)

    # The Python form --------------------------------------------------------------------------------------------

    def _go_on(self, batch: Batch, item: int, before: list[Chunk]) -> list[Chunk]:
        """From this item on, in the Python form."""
        self._leave_native()
        assert self.python is not None
        try:
            after = self.python.process(rest_of(batch, item))
        except Stopped as stopped:
            raise Stopped(stopped.error, joined(before, stopped.outputs, item), item + stopped.begun) from None
        finally:
            self._add_up()
        return joined(before, after, item)

    def _add_up(self) -> None:
        """The figures are those of native code until it was left, and those of the Python form since."""
        assert self.python is not None
        for name, since in self.python.metrics.items():
            for each in fields(since):
                total = getattr(self._before[name], each.name) + getattr(since, each.name)
                setattr(self.metrics[name], each.name, total)

    def _name(self) -> str:
        return f"native code ({', '.join(self.part.operators)})"

    def _leave_native(self) -> None:
        meanings = meanings_of(self.part, self.state, self.assembled)
        begun = {name: BegunOperator(meanings.get(name), self.ended.get(name, 0)) for name in self.part.operators}
        self.python = python_form(self.part, **self.options, begun=begun)
        self._before = {name: replace(metrics) for name, metrics in self.metrics.items()}

    def _count(self) -> None:
        """The figures of the operators, from what was counted on their streams."""
        words = self.state.words
        for place, emitter, receivers, is_output in self._counted:
            count = words[place]
            if emitter is not None:
                self.metrics[emitter].emitted += count
            for receiver in receivers:
                self.metrics[receiver].received += count
            if not is_output:  # those are still needed, and begin anew with the next batch
                words[place] = 0
        for place, operator_id in self._late:
            self.metrics[operator_id].late += words[place]
            words[place] = 0

    # State ------------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        return saving.save(self, whole=True) if self.python is None else self.python.save()

    def save_changes(self) -> bytes:
        return saving.save(self, whole=False) if self.python is None else self.python.save_changes()

    def restore(self, whole: bytes, changes: Iterable[bytes] = ()) -> None:
        following = list(changes)
        if self.python is None and saving.is_native(whole):
            native = [each for each in following if saving.is_native(each)]
            saving.restore(self, [whole, *native])
            self._is_placed = False
            following = following[len(native) :]
            if not following:
                return
            raise saving.WrongState("a save of the Python form follows one of the native form")
        if self.python is None:
            self._leave_native()
        assert self.python is not None
        self.python.restore(whole, following)

    def catch_up(self, changes: Iterable[bytes]) -> None:
        if self.python is not None:
            self.python.catch_up(changes)
            return
        saving.restore(self, changes, is_whole=False)
        self._is_placed = False


def _counted(part: Part, assembled: Assembled) -> list[tuple[int, str | None, tuple[str, ...], bool]]:
    """The cells that count the tuples of a stream: who emits and who receives them, whether it counts an output."""
    found: list[tuple[int, str | None, tuple[str, ...], bool]] = []
    for number, stream in enumerate(part.inputs):
        receivers = tuple(edge.target for edge in part.consumers(stream))
        found.append((assembled.cells[f"row{number}"].place, None, receivers, False))
    for at, operator_id in enumerate(part.operators):
        for port in range(len(part.operator(operator_id).outputs)):
            stream = StreamId(operator_id, port)
            receivers = tuple(edge.target for edge in part.consumers(stream))
            is_output = not receivers and stream in part.outputs
            name = f"out{part.outputs.index(stream)}_count" if is_output else f"emitted_{at}_{port}"
            if name in assembled.cells:
                found.append((assembled.cells[name].place, operator_id, receivers, is_output))
    return found
