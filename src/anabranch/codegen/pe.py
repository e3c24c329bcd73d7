"""The one interface of all engines to generated code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.stores.store import Store
from anabranch.errors import RunError
from anabranch.operators.metrics import OperatorMetrics


class Stopped(Exception):
    """An operator failed. `outputs` is what was emitted before, in the order of the program.

    `begun` is how many items of the batch had been begun, that at which it failed included.
    """

    def __init__(self, error: RunError, outputs: list[Chunk], begun: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.outputs = outputs
        self.begun = begun


class Saved(Protocol):
    """Something with a state, which is saved and restored as bytes."""

    @property
    def form(self) -> str:
        """What the bytes depend on: of generated code, whether it is `python` or `native` now."""

    def save(self) -> bytes:
        """The whole state. What has changed is counted from here."""

    def save_changes(self) -> bytes:
        """What changed since the last `save`, `save_changes` or `restore`."""

    def restore(self, whole: bytes, changes: Iterable[bytes] = ()) -> None:
        """Continue where the state was saved: a whole, and the changes that followed it, in their order."""

    def catch_up(self, changes: Iterable[bytes]) -> None:
        """Take over what another element, restored or saved at the same state as this one, has changed since."""


class ProcessingElement(Saved, Protocol):
    """Operators fused into one function: chunks and punctuations in, chunks out, and a state."""

    metrics: dict[str, OperatorMetrics]  # by operator, for the operators of the part

    @property
    def notes(self) -> list[str]:
        """What a user may want to know of how it ran."""

    def stores(self) -> dict[str, Store]:
        """What each operator keeps, between two batches; objects in them are those that are kept here."""

    def take_stores(self, stores: Mapping[str, Store]) -> None:
        """Begin with what operators kept elsewhere, in whatever form; one that is not there begins anew.

        Only for an element that has not begun. What changes is counted from the next whole save.
        """

    def process(self, batch: Batch) -> list[Chunk]:
        """Process items in order, each depth-first to completion; a chunk for each output, perhaps an empty one.

        Where an operator stops the run, `Stopped` is raised; the state is then the oracle's at that moment.
        """
