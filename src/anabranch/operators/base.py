"""What every operator's sequential meaning looks like: items in, emissions out, one at a time.

The classes here say *what* an operator does. They are the oracle's half of the definition: plain, slow and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from anabranch.graph.model import Definition, Operator
from anabranch.operators.formats.addresses import FilePath


class _Marker:
    """An item on a stream that is not a tuple."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


PUNCTUATION: Final = _Marker("PUNCTUATION")  # a window punctuation (paper 000, section 5.1)
FINAL: Final = _Marker("FINAL")  # the final punctuation: the stream has ended

# What an operator gives back to the engine: an item for an output port (its index, and a tuple or PUNCTUATION), or a
# step: more work that gives emissions of its own, and that can fail without taking the rest along (on_error="skip").
Emission = tuple[int, Any]
Step = Callable[[], Iterable["Emission | Step"]]
Emissions = Iterable[Emission | Step]


@dataclass(frozen=True)
class Unreadable:
    """An item of a source that could not be read, at its place in the order."""

    message: str
    where: str | None = None
    raw: str | None = None
    hint: str | None = None


class Meaning:
    """The sequential meaning of one operator in one run. `state` names the attributes that it changes."""

    state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.late = 0  # tuples dropped because all their windows had closed

    def process(self, port: int, item: Any) -> Emissions:
        """A tuple arrived on an input port."""
        raise NotImplementedError

    def punctuation(self, port: int) -> Emissions:
        """A window punctuation arrived; passing it on is the operator's decision."""
        return self.forward_punctuation()

    def end(self, port: int) -> Emissions:
        """One input ended; most operators only care about the last (`finish`)."""
        return ()

    def sends_letter(self, during: str) -> None:
        """What it did failed, and goes out as a dead letter: for engines that ask for its place in the order."""

    def finish(self) -> Emissions:
        """All inputs ended; the engine passes the final punctuation on by itself."""
        return ()

    def forward_punctuation(self) -> Iterator[Emission]:
        """On every output; the engine drops it where the stream is not punctuated."""
        for port in range(len(self.operator.outputs)):
            yield port, PUNCTUATION


class SinkMeaning(Meaning):
    """A sink is opened before the first tuple, and closed when the run has succeeded; where not, what it has is kept.

    For a stream it is resumed instead of opened, and synced after every stretch of tuples that is to count as one. A
    stretch that was not synced, or whose position was not kept, comes again.
    """

    def open(self) -> None:
        """Get ready to write; what cannot be written is said here, before any tuple was processed."""

    def complete(self) -> None:
        """Write what is left. Behind it `close` has as little to do, and to fail at, as can be."""

    def close(self) -> None:
        """Make what was written last: the run has succeeded."""

    def keep(self) -> FilePath | None:
        """Instead of `close`, for a run that did not succeed: where what was written is now, if it is somewhere."""
        self.close()
        return None

    def discard(self) -> None:
        """Instead of `close`, for a run that never began."""

    def check_new(self) -> None:
        """Before a stream begins: a `SinkError` where the output cannot be written, or is not of this stream."""

    def check_written(self, position: Any, folder: Path) -> None:
        """Before a stream goes on: a `SinkError` where what was written up to `position` is not there any more."""

    def resume(self, position: Any | None, folder: Path) -> None:
        """Instead of `open`, for a stream: go on behind `position`, which `sync` returned last; None where it begins.

        What stands in the output behind it is removed. `folder`, in the stream's checkpoint, is this sink's own.
        """
        self.open()

    def sync(self) -> Any:
        """Make what was processed so far durable; the position behind it, a JSON value."""
        return None

    def punctuation(self, port: int) -> Emissions:
        return ()


@dataclass(frozen=True)
class Partition:
    """An independent part of a source, drawn from as a source of its own."""

    name: str
    read: Callable[[], Iterable[Any]]  # tuples and Unreadables

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())


class OperatorDefinition(Definition):
    """A definition that knows its sequential meaning."""

    def meaning(self, operator: Operator) -> Meaning:
        raise NotImplementedError


class SourceDefinition(Definition):
    """A definition of a source: where its tuples come from."""

    order_by: str | None = None
    partition_by: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the next tuple may be long in coming, so that nobody may wait for it with those before it."""
        return False

    def check(self, operator: Operator) -> None:
        """Say before anything is processed that the source cannot be read, where that can be known."""

    def partitions(self, operator: Operator) -> tuple[Partition, ...]:
        """The parts of the source, in their order; one unless it is partitioned."""
        raise NotImplementedError
