"""The figures of operators, from what kernels count on their streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anabranch.codegen.native.assemble import Assembled
from anabranch.codegen.part import Part
from anabranch.graph.model import StreamId
from anabranch.operators.metrics import OperatorMetrics

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState


class Counting:
    """Adds what the cells of `meta` have counted to the metrics."""

    def __init__(
        self, part: Part, assembled: Assembled, state: NativeState, metrics: Mapping[str, OperatorMetrics]
    ) -> None:
        self.part, self.words, self.metrics = part, state.words, metrics
        cells = assembled.cells
        self._rows = [
            (cells[f"row{number}"].place, _receivers(part, stream)) for number, stream in enumerate(part.inputs)
        ]
        self._emitted: list[tuple[int, str, tuple[str, ...], bool]] = []  # the last: whether it counts an output
        self._late: list[tuple[int, str]] = []
        for at, operator_id in enumerate(part.operators):
            for port in range(len(part.operator(operator_id).outputs)):
                stream = StreamId(operator_id, port)
                receivers = _receivers(part, stream)
                is_output = not receivers and stream in part.outputs
                name = f"out{part.outputs.index(stream)}_count" if is_output else f"emitted_{at}_{port}"
                if name in cells:
                    self._emitted.append((cells[name].place, operator_id, receivers, is_output))
            if f"late_{at}" in cells:
                self._late.append((cells[f"late_{at}"].place, operator_id))

    def count(self) -> None:
        """What was counted inside since this was last called."""
        for place, emitter, receivers, is_output in self._emitted:
            count = self.words[place]
            self.metrics[emitter].emitted += count
            for receiver in receivers:
                self.metrics[receiver].received += count
            if not is_output:  # those are still needed, and begin anew with the next piece
                self.words[place] = 0
        for place, operator_id in self._late:
            self.metrics[operator_id].late += self.words[place]
            self.words[place] = 0

    def count_inputs(self) -> None:
        """The rows of a batch, once they need no numbers any more."""
        for place, receivers in self._rows:
            for receiver in receivers:
                self.metrics[receiver].received += self.words[place]
            self.words[place] = 0

    def not_received(self, stream: StreamId) -> None:
        """A row of an input was counted elsewhere."""
        for receiver in _receivers(self.part, stream):
            self.metrics[receiver].received -= 1


def _receivers(part: Part, stream: StreamId) -> tuple[str, ...]:
    return tuple(edge.target for edge in part.consumers(stream))
