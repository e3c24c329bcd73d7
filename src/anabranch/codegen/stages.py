"""A part cut into stages: one stream leads from each to the next, a chunk at a time.

An operator that cannot be native, or that one tuple may reach several times, need not keep the rest from being native.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.origins import came_from, origins_of_items
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import ProcessingElement, Saved, Stopped
from anabranch.codegen.stores.store import Store
from anabranch.errors import BuildError
from anabranch.graph.turns import mistimed_loop
from anabranch.operators.metrics import OperatorMetrics


def cut_before(part: Part, operator_id: str) -> tuple[Part, Part] | None:
    """The part in two: this operator and all behind it are the second.

    None where more than one stream would cross, or a loop would take other turns.
    """
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
    if not first or not second or mistimed_loop(part.graph, first, second) is not None:
        return None
    one, other = part_of(part.graph, first), part_of(part.graph, second)
    is_simple = len(one.outputs) == 1 and one.outputs == other.inputs and one.inputs == part.inputs
    return (one, other) if is_simple and other.outputs == part.outputs else None


def cut_into(part: Part, groups: Sequence[tuple[str, ...]]) -> list[Part]:
    """The part in just these pieces, one behind the other; a `BuildError` where it cannot be cut so."""
    if len(groups) == 1 and groups[0] == part.operators:
        return [part]
    pieces, rest = [], part
    for group in groups[:-1]:
        found = _in_two(rest, tuple(name for name in rest.operators if name not in group))
        if found is None or found[0].operators != group:
            cut = f"{', '.join(group)} cannot be cut off from what is behind"
            raise BuildError(
                f"{cut}: not all of it is there, several streams lead out of it, or a loop takes turns with it"
            )
        pieces.append(found[0])
        rest = found[1]
    if not groups or groups[-1] != rest.operators:
        raise BuildError(f"no code would run {', '.join(rest.operators)}")
    return [*pieces, rest]


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

    def stores(self) -> dict[str, Store]:
        return {name: store for stage in self.stages for name, store in stage.stores().items()}

    def take_stores(self, stores: Mapping[str, Store]) -> None:
        for stage in self.stages:
            stage.take_stores(stores)

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
            outputs = self._next(batch, stopped.outputs[0], number + 1)
            raise Stopped(stopped.error, outputs, stopped.begun) from None
        return self._next(batch, between, number + 1)

    def _next(self, batch: Batch, between: Chunk, number: int) -> list[Chunk]:
        """Of what comes out it is known then which item of the batch it came from, and not only which in between."""
        origins = origins_of_items(batch, between)
        try:
            return came_from(origins, self._run(Batch((between,)), number))
        except Stopped as stopped:
            begun = int(origins[stopped.begun - 1]) + 1 if stopped.begun else 0
            raise Stopped(stopped.error, came_from(origins, stopped.outputs), begun) from None


class PEs(Staged):
    """All that runs at a place where that is several processing elements."""


_STAGES = b"anabranch stages\n"


def functions_of(element: ProcessingElement) -> list[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """The functions that run at a place, as they are: the operators of the PE, those of the function, and its form."""
    found = []
    for pe in element.stages if isinstance(element, PEs) else [element]:
        functions: Any = pe.stages if isinstance(pe, Staged) else [pe]  # every element is made for a part
        operators = tuple(name for each in functions for name in each.part.operators)
        found += [(operators, each.part.operators, each.form) for each in functions if operators]
    return found


def element_of(element: ProcessingElement, operator_id: str) -> Any:
    """The one that has an operator in it."""
    if isinstance(element, Staged):
        return next(element_of(each, operator_id) for each in element.stages if operator_id in each.metrics)
    return element
