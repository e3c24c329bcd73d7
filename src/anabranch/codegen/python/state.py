"""What a processing element keeps between batches: the state of its operators, and which of their inputs ended."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.codegen.python.saving import Saver
from anabranch.codegen.python.slots import SlotWindows, TimeSlots, given_back, take_over
from anabranch.codegen.python.unboxed import Fields
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import Meaning
from anabranch.operators.process import Process
from anabranch.operators.traversal import Node

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator

Path = tuple[str, ...]
WHOLE, CHANGES = "whole", "changes"


@dataclass(frozen=True)
class BegunOperator:
    """An operator that has begun, as the oracle keeps it (None for nothing), and how many of its inputs ended."""

    meaning: Meaning | None
    ended_inputs: int = 0
    not_kept: tuple[Path, ...] = ()  # of what it keeps, paths of values that are zeros: the other form had no words


class State:
    """Saves and restores the operators that a generator has made code for."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._traversal = generator.traversal
        self._saver = Saver(self._traversal.graph)
        self._not_kept: dict[str, tuple[Path, ...]] = {}

    @property
    def names(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """What is saved of each operator, by name, and by whom it is kept."""
        kept = [(name, node.meaning) for name, node in self._traversal.nodes.items() if node.meaning is not None]
        return [(name, type(meaning).__name__, meaning.state) for name, meaning in kept]

    def save(self) -> bytes:
        return self._saved(with_changes=False)

    def save_changes(self) -> bytes:
        return self._saved(with_changes=self._generator.tracks_changes)

    def _saved(self, *, with_changes: bool) -> bytes:
        operators = {}
        for operator_id, node in self._traversal.nodes.items():
            changes = self._changes(node) if with_changes else None
            kind = WHOLE if changes is None else CHANGES
            content = _state_of(node.meaning) if changes is None else changes
            operators[operator_id] = (kind, self._saver.dump(operator_id, content))
        self._forget_changes()
        loops = [
            (loop.open_inputs, [entry.operator.id for entry in loop.closed], loop.held_ends)
            for loop in self._traversal.loops
        ]
        ended = {operator_id: node.ended_inputs for operator_id, node in self._traversal.nodes.items()}
        return pickle.dumps((operators, loops, ended, self._not_kept))

    def apply(self, saves: Iterable[bytes]) -> None:
        """Take over what was saved: a whole and the changes since, or only changes of what is here."""
        for saved in saves:
            operators, loops, ended, self._not_kept = pickle.loads(saved)
            for operator_id, (kind, content) in operators.items():
                self._apply(self._traversal.nodes[operator_id], kind, self._saver.load(content))
            for loop, (open_inputs, closed, held_ends) in zip(self._traversal.loops, loops, strict=True):
                loop.open_inputs, loop.held_ends = open_inputs, held_ends
                loop.closed = [self._traversal.nodes[operator_id] for operator_id in closed]
            for operator_id, count in ended.items():
                self._traversal.nodes[operator_id].ended_inputs = count
        self._traversal.fed_back.clear()
        self._forget_changes()

    def go_on(self, begun: Mapping[str, BegunOperator]) -> None:
        """Take over what another form keeps, as the oracle would keep it."""
        for operator_id, known in begun.items():
            node = self._traversal.nodes[operator_id]
            node.ended_inputs = known.ended_inputs
            if known.not_kept:
                self._not_kept[operator_id] = known.not_kept
            definition = node.operator.definition
            if known.meaning is None:
                continue
            if isinstance(node.meaning, SlotWindows):
                assert isinstance(definition, WindowAggregate)
                take_over(node.meaning, known.meaning, definition)
            else:
                self._apply(node, WHOLE, _state_of(known.meaning))

    def begun(self, operator_id: str) -> BegunOperator:
        """The inverse for one operator: what is kept here, as the oracle would keep it."""
        node = self._traversal.nodes[operator_id]
        definition: Any = node.operator.definition
        meaning: Any = node.meaning
        if isinstance(meaning, SlotWindows):
            meaning = definition.meaning(node.operator)
            given_back(node.meaning, meaning, definition)  # type: ignore[arg-type]  # which has slots
        elif operator_id in self._generator.fields:
            own, meaning = self._generator.fields[operator_id], definition.meaning(node.operator)
            held: Any = node.meaning
            meaning.instances = {key: own.instance(_factory(node), each) for key, each in held.instances.items()}
        return BegunOperator(meaning, node.ended_inputs, self._not_kept.get(operator_id, ()))

    def loop(self, operator_id: str) -> dict[str, Any]:
        """Where the loop stands that begins with an operator."""
        loop = self._traversal.loop_of[operator_id]
        return {"open_inputs": loop.open_inputs, "is_closed": self._traversal.nodes[operator_id] in loop.closed}

    def begin_loop(self, operator_id: str, *, open_inputs: int, is_closed: bool) -> None:
        loop, node = self._traversal.loop_of[operator_id], self._traversal.nodes[operator_id]
        loop.open_inputs = open_inputs
        if is_closed and node not in loop.closed:
            loop.closed.append(node)

    # Changes ------------------------------------------------------------------------------------------------------

    def _changes(self, node: Node) -> dict[str, Any] | None:
        """What changed at an operator, or None where that is not known."""
        meaning: Any = node.meaning
        if isinstance(meaning, SlotWindows):
            return meaning.changes()
        if isinstance(node.operator.definition, Process) and self._generator.is_hot(node.operator.id):
            if self._generator.touched_all:
                return None
            touched = self._generator.touched(node.operator.id)
            changed = {key: meaning.instances[key] for key in touched if key in meaning.instances}
            return {**_state_of(meaning), "instances": changed}
        return None

    def _forget_changes(self) -> None:
        self._generator.touched_all = False
        for operator_id, node in self._traversal.nodes.items():
            self._generator.touched(operator_id).clear()
            if isinstance(node.meaning, SlotWindows):
                node.meaning.forget_changes()

    def _instances(
        self, node: Node, instances: dict[Any, Any], fields: tuple[str, ...] | None = None
    ) -> dict[Any, Any]:
        """As they are kept here: whether that is as objects may have been decided otherwise where they were saved."""
        own = self._generator.fields.get(node.operator.id)
        if own is not None and fields is None:
            return {key: own.of(instance) for key, instance in instances.items()}
        if own is None and fields is not None:
            saved = Fields(dict.fromkeys(fields))
            return {key: saved.instance(_factory(node), held) for key, held in instances.items()}
        return instances

    def _apply(self, node: Node, kind: str, content: Any) -> None:
        meaning: Any = node.meaning
        if isinstance(meaning, SlotWindows) and kind == CHANGES:
            meaning.apply(content)
        elif "instances" in content:
            if kind == WHOLE:  # generated code holds on to the dictionary
                meaning.instances.clear()
            meaning.instances.update(self._instances(node, **content))
        else:
            for name, value in content.items():
                setattr(meaning, name, value)
        if isinstance(meaning, TimeSlots):
            meaning.forget_current()


def _factory(node: Node) -> Any:
    definition = node.operator.definition
    assert isinstance(definition, Process)
    return definition.factory


def _state_of(meaning: Meaning | None) -> dict[str, Any]:
    return {} if meaning is None else {name: getattr(meaning, name) for name in meaning.state}
