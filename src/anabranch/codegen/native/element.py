"""A processing element in the native form; an item that native code cannot take is the oracle's, on the same stores.

Where there are too many of those, or what one leaves behind has no words, the Python form goes on for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.codegen.cut_at_marks import Mark, Tuples, cut_at_marks
from anabranch.codegen.cut_batches import rest_of
from anabranch.codegen.native import saving, storing
from anabranch.codegen.native.arrays import Array, ColumnArrays, place_of
from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.native.closing import closing_order
from anabranch.codegen.native.compiled import Compiled
from anabranch.codegen.native.counting import Counting
from anabranch.codegen.native.handing_over import HandedOver, one_behind_another, row_of
from anabranch.codegen.native.initial import begin
from anabranch.codegen.native.kernel import SHIFT, START, STATUS, STOP, TEXTS
from anabranch.codegen.native.outputs import Outputs
from anabranch.codegen.native.rest import joined
from anabranch.codegen.native.state import NativeState, OperatorState
from anabranch.codegen.part import Part
from anabranch.codegen.pe import Stopped
from anabranch.codegen.python import BegunOperator, PythonElement, python_form
from anabranch.codegen.stores.store import Store
from anabranch.codegen.stores.words import Unfit
from anabranch.graph.model import Edge, StreamId
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import FINAL
from anabranch.operators.metrics import OperatorMetrics

# What it costs to hand an item over, in tuples that the Python form could have processed in that time: the item itself,
# and each record that it touches. Tuples are saved up, so that items for the oracle may be close together for once.
_ITEM, _RECORD, _MOST_SAVED = 16, 4, 65_536


class _Bad(Exception):
    """A kernel that closes windows cannot."""


class _Leave(Exception):
    """The item with this number, and all after it, is for the Python form, and why."""

    def __init__(self, item: int, why: str) -> None:
        super().__init__(why)
        self.item = item
        self.why = why


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
        self._beside = python_form(part, **options)  # made now, as nothing is generated while tuples come
        self._is_placed = False
        self._placed: list[Array] = []  # what the kernels know the places of
        self._notes: list[str] = []
        self._oracle: HandedOver | None = None  # for single items
        self._has_handed_over = False
        self._saved_up = _MOST_SAVED
        self._pieces: list[list[Chunk]] = []  # outputs of this batch, so far
        self._compiled = compiled
        # The address and the length of each array of the kernels, and of one that differs from call to call.
        self._places = np.zeros(2 * len(assembled.arguments) + 2, np.int64)
        self._place_words = memoryview(self._places.data)
        self._outputs = Outputs(part, assembled, self.state, self._places)
        self._rows = [assembled.cells[f"row{number}"].place for number in range(len(part.inputs))]
        self._columns = [(at, each.of) for at, each in enumerate(assembled.arguments) if each.role == "column"]
        self._counting = Counting(part, assembled, self.state, self.metrics)
        for operator_id, record in assembled.records.items():
            if not record.is_keyed:
                begin(self.state.operators[operator_id], part.operator(operator_id), self.state)

    @property
    def notes(self) -> list[str]:
        if not self._has_handed_over:
            return self._notes
        return [f"{self._name()} left to Python what fails, or needs more than 64 bits, and went on", *self._notes]

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
            self._pieces = []
            for each in cut_at_marks(batch):
                if isinstance(each, Mark):
                    self._mark(each, batch, inputs)
                else:
                    self._tuples(each, batch, inputs)
        except NoColumns:
            self._notes.append(f"{self._name()} went on in the Python form: a column holds datetimes of both kinds")
            return self._go_on(batch, 0, [])
        except _Leave as leave:
            self._notes.append(f"{self._name()} went on in the Python form: {leave.why}")
            return self._go_on(batch, leave.item, self._taken(inputs))
        return self._taken(inputs)

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
        self._placed = self.state.arrays()

    # Kernels ----------------------------------------------------------------------------------------------------

    def _tuples(self, tuples: Tuples, batch: Batch, inputs: list[ColumnArrays | None]) -> None:
        words = self.state.words
        many = len(self.part.inputs) > 1
        # A kernel of one input counts rows, one of several counts turns.
        first = 0 if many else words[self._rows[0]]
        stop = first + tuples.count
        last = None
        if many:
            turns = tuples.turns if tuples.turns is not None else np.full(tuples.count, tuples.input)
            last = np.ascontiguousarray(turns, np.uint16)
        words[START] = first
        while True:
            words[STOP] = stop
            words[SHIFT] = tuples.start - first  # rows, or turns, are numbered from here, items from the beginning
            before = words[START]
            while not self._call("process", last):
                pass
            done = words[START]
            self._saved_up = min(self._saved_up + done - before, _MOST_SAVED)
            if not many:
                words[self._rows[0]] = done
            if done == stop:
                return
            number = 0 if last is None else int(last[done])
            row = words[self._rows[number]]
            at = tuples.start + done - first
            chunk = batch.chunks[number]
            assert chunk is not None
            item = row_of(chunk, row)
            words[self._rows[number]] = row + 1
            self._counting.not_received(self.part.inputs[number])
            self._hand_over(number, item, at, inputs)
            words[START] = done + 1
            if done + 1 == stop:
                return

    def _call(self, kernel: str, last: Array | None) -> bool:
        """Call a kernel; False where an array was full, and now is larger."""
        if last is not None:
            self._places[-2:] = place_of(last)
        self._compiled.kernels[kernel](self.state.meta, self._places)
        self.state.pool.count = self.state.words[TEXTS]
        status = self.state.words[STATUS]
        if status < 2:
            return True
        self._make_room(status - 1)
        return False

    def _make_room(self, full: int) -> None:
        if full == 1:
            self.state.pool.make_room(strings=self.state.pool.count + 1, size=len(self.state.pool.bytes))
        elif full < 1000:
            self._outputs.grow(full - 2)
        else:
            self.state.grow(list(self.assembled.records)[full - 1000])
        self._place_state()

    # Punctuations and ends --------------------------------------------------------------------------------------

    def _mark(self, mark: Mark, batch: Batch, inputs: list[ColumnArrays | None]) -> None:
        stream, outputs = self.part.inputs[mark.input], self._outputs
        self.state.words[SHIFT] = mark.start
        before = self.state.meta.copy()
        ended, marks = dict(self.ended), outputs.begin_mark()
        self._closed = []
        try:
            if mark.item is FINAL:
                self._final(stream, outputs)
            elif self._is_punctuated(stream):
                self._punctuation(stream, outputs)
        except _Bad:
            # Other windows may have closed before the one that cannot: the oracle closes them all again.
            self.state.meta[:] = before
            for state, arrays in self._closed:
                state.put_back(arrays)
            self.ended = ended
            outputs.set_marks(marks)
            self._hand_over(mark.input, mark.item, mark.start, inputs)

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
                if operator.id in self.assembled.closing:
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
        while not self._call(kernel, order):
            pass
        if self.state.meta[STATUS] == 1:
            raise _Bad
        for state in self.state.operators.values():
            if operator_id in (state.record.operator, state.record.windows_of):
                self._closed.insert(0, (state, state.clear()))
                self.state.set_cell(f"{state.record.prefix}_count", 0)

    # The oracle -------------------------------------------------------------------------------------------------

    def _hand_over(self, number: int, item: Any, at: int, inputs: list[ColumnArrays | None]) -> None:
        """An item of an input, which is number `at` of the batch, is for the oracle."""
        if not self._outputs.is_empty:
            self._finish_piece(inputs)
        oracle = self.oracle()
        self._has_handed_over = True
        error = oracle.take(self.part.inputs[number], item, at, self.ended)
        if oracle.has_left:
            self._pieces.append(oracle.chunks())
        self._saved_up -= _ITEM + _RECORD * oracle.lent
        why = "too many tuples fail, or need more than 64 bits" if self._saved_up < 0 else None
        try:
            oracle.take_back()
        except Unfit as problem:
            self._leave_native(oracle.begun(self.ended))
            why = str(problem)
        if self.state.is_moved(self._placed):
            self._place_state()
        self.state.words[TEXTS] = self.state.pool.count
        if error is not None:
            raise Stopped(error, self._taken(inputs), at + 1) from None
        if why is not None:
            raise _Leave(at + 1, why)

    def _finish_piece(self, inputs: list[ColumnArrays | None]) -> None:
        """What native code has put out since the last item that was not for it; the first piece may be of nothing."""
        self._counting.count()
        if not self._pieces or not self._outputs.is_empty:
            self._pieces.append(self._outputs.chunks(inputs))
            self._outputs.begin_piece()

    def _taken(self, inputs: list[ColumnArrays | None]) -> list[Chunk]:
        """The outputs of the batch, which is at its end, or is left."""
        self._finish_piece(inputs)
        self._counting.count_inputs()
        pieces, self._pieces = self._pieces, []
        return one_behind_another(pieces)

    # The Python form --------------------------------------------------------------------------------------------

    def _go_on(self, batch: Batch, item: int, before: list[Chunk]) -> list[Chunk]:
        """From this item on, in the Python form."""
        if self.python is None:
            self._leave_native(self._everything())
        assert self.python is not None
        self._before = {name: replace(metrics) for name, metrics in self.metrics.items()}
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

    def _everything(self) -> dict[str, BegunOperator]:
        oracle = self.oracle()
        oracle.begin()
        return oracle.begun(self.ended)

    def _leave_native(self, begun: dict[str, BegunOperator]) -> None:
        self._beside.go_on(begun)
        self._go_on_in_python()

    def _go_on_in_python(self) -> None:
        self.python, self._oracle = self._beside, None
        self._before = {name: replace(metrics) for name, metrics in self.metrics.items()}

    def oracle(self) -> HandedOver:
        """The oracle on the stores of this element."""
        if self._oracle is None:
            self._oracle = HandedOver(self.part, self.state, self.metrics, origins=self.options["origins"])
        return self._oracle

    def begin_with(self, stores: Mapping[str, Store]) -> None:
        """Go on with what is in these stores, natively; `Unfit` where that cannot be."""
        self.oracle().take_over(stores)
        self.ended = {name: store.ended_inputs for name, store in stores.items()}
        self.state.words[TEXTS] = self.state.pool.count
        self._is_placed = False

    def begin_in_python(self, stores: Mapping[str, Store], why: str) -> None:
        self._notes.append(f"{self._name()} went on in the Python form: {why}")
        self._beside.take_stores(stores)
        self._go_on_in_python()

    # State ------------------------------------------------------------------------------------------------------

    def stores(self) -> dict[str, Store]:
        return storing.stores_of(self) if self.python is None else self.python.stores()

    def take_stores(self, stores: Mapping[str, Store]) -> None:
        storing.take_stores(self, stores)

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
            self._leave_native(self._everything())
        assert self.python is not None
        self.python.restore(whole, following)

    def catch_up(self, changes: Iterable[bytes]) -> None:
        if self.python is not None:
            self.python.catch_up(changes)
            return
        saving.restore(self, changes, is_whole=False)
        self._is_placed = False
