"""A part cut into stages, each in the form that suits it: one stream leads from each to the next.

An operator that cannot be native, or that one tuple may reach several times, need not keep the rest from being native.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import ProcessingElement, Saved, Stopped
from anabranch.operators.metrics import OperatorMetrics


def cut_before(part: Part, operator_id: str) -> tuple[Part, Part] | None:
    """The part in two: this operator and all behind it are the second. None where more than one stream would cross."""
    behind = _reached(operator_id, [(edge.source, edge.target) for edge in part.graph.edges])
    second = tuple(name for name in part.operators if name in behind)
    return _in_two(part, second)


def cut_after(part: Part, operator_id: str) -> tuple[Part, Part] | None:
    """The same with this operator, and all before it, as the first."""
    before = _reached(operator_id, [(edge.target, edge.source) for edge in part.graph.edges])
    second = tuple(name for name in part.operators if name not in before)
    return _in_two(part, second)


def _reached(start: str, steps: Iterable[tuple[str, str]]) -> dict[str, None]:
    """Where one gets to, the start included."""
    following: dict[str, list[str]] = {}
    for one, other in steps:
        following.setdefault(one, []).append(other)
    reached, waiting = {start: None}, [start]
    while waiting:
        for name in following.get(waiting.pop(), ()):
            if name not in reached:
                reached[name] = None
                waiting.append(name)
    return reached


def _in_two(part: Part, second: tuple[str, ...]) -> tuple[Part, Part] | None:
    first = tuple(name for name in part.operators if name not in second)
    if not first or not second:
        return None
    one, other = part_of(part.graph, first), part_of(part.graph, second)
    is_simple = len(one.outputs) == 1 and one.outputs == other.inputs and one.inputs == part.inputs
    return (one, other) if is_simple and other.outputs == part.outputs else None


class SavedTogether:
    """Several states as one."""

    def __init__(self, stages: Sequence[Saved]) -> None:
        self._saved = stages

    @property
    def form(self) -> str:
        forms = dict.fromkeys(stage.form for stage in self._saved)
        return " and ".join(forms)

    def save(self) -> bytes:
        return _STAGES + pickle.dumps([stage.save() for stage in self._saved], protocol=5)

    def save_changes(self) -> bytes:
        return _STAGES + pickle.dumps([stage.save_changes() for stage in self._saved], protocol=5)

    def restore(self, whole: bytes, changes: Iterable[bytes] = ()) -> None:
        saves = [pickle.loads(each.removeprefix(_STAGES)) for each in (whole, *changes)]
        for stage, own in zip(self._saved, zip(*saves, strict=True), strict=True):
            stage.restore(own[0], own[1:])

    def catch_up(self, changes: Iterable[bytes]) -> None:
        saves = [pickle.loads(each.removeprefix(_STAGES)) for each in changes]
        for stage, own in zip(self._saved, zip(*saves, strict=True), strict=True):
            stage.catch_up(own)


class Staged(SavedTogether):
    """Processing elements one behind the other."""

    def __init__(self, stages: Sequence[ProcessingElement]) -> None:
        super().__init__(stages)
        self.stages = stages
        self.metrics: dict[str, OperatorMetrics] = {}
        for stage in stages:
            self.metrics.update(stage.metrics)

    @property
    def notes(self) -> list[str]:
        return [note for stage in self.stages for note in stage.notes]

    @property
    def source(self) -> str:
        return "\n\n".join(getattr(stage, "source", "") for stage in self.stages)

    def process(self, batch: Batch) -> list[Chunk]:
        return self._run(batch, 0)

    def _run(self, batch: Batch, number: int) -> list[Chunk]:
        stage = self.stages[number]
        if number + 1 == len(self.stages):
            return stage.process(batch)
        try:
            between = stage.process(batch)[0]
        except Stopped as stopped:
            # What came before the error goes on; an error there is earlier in the order.
            outputs = self._next(stopped.outputs[0], number + 1)
            raise Stopped(stopped.error, outputs, stopped.begun) from None
        return self._next(between, number + 1)

    def _next(self, chunk: Chunk, number: int) -> list[Chunk]:
        try:
            return self._run(Batch((chunk,)), number)
        except Stopped as stopped:
            begun = _begun(chunk, stopped.begun)
            raise Stopped(stopped.error, stopped.outputs, begun) from None


_STAGES = b"anabranch stages\n"


def _begun(chunk: Chunk, items: int) -> int:
    """How many items of the stage before were begun when the stage behind had begun so many."""
    if chunk.origins is None or not items:
        return items
    punctuations = sum(before + at < items for at, before in enumerate(chunk.punctuations))
    tuples = min(items - punctuations, len(chunk))
    return int(chunk.origins[tuples - 1]) + 1 if tuples else items
