"""The tail of a stream: takes the rows of micro-batches, and commits what it makes of each of them once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from anabranch.dataflow.result import Metrics
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from anabranch.dataflow.streams.next_save import SavedSizes, next_save
from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.errors import RunError, SinkError
from anabranch.graph.plan import Plan


@dataclass(frozen=True)
class Done:
    """A batch that has been committed."""

    batch: int
    entries: int  # that have been processed by now
    tuples_in: int  # in this batch
    waited: float  # seconds from the arrival of its first tuple to its commit


class StreamTail:
    """Writes and commits batch after batch. A batch that was committed before is passed over."""

    def __init__(
        self,
        plan: Plan,
        metrics: Metrics,
        checkpoint: Checkpoint,
        check: Callable[[], None] = lambda: None,  # whether what is to be committed can be trusted
    ) -> None:
        [phase] = plan.phases
        self.tail = Tail(plan, phase, metrics, tracks_changes=True)
        assert self.tail.local is not None, "a stream's sinks are in the driver"
        self.element = self.tail.local.element
        self.checkpoint = checkpoint
        self.check = check
        self.metrics = metrics
        self.sinks = {operator.id: meaning for operator, meaning in zip(plan.graph.sinks, self.tail.sinks, strict=True)}
        self.commit = Commit()
        self._sizes: SavedSizes | None = None  # of the files of the state

    def resume(self) -> None:
        """Go on behind the last commit: whatever was written after it is cut off."""
        found = self.checkpoint.commit()
        if found is None:
            for sink in self.sinks.values():
                sink.check_new()
            found = Commit()
            self.checkpoint.write_commit(found)  # from here on the outputs are this stream's
        self.commit = found
        states = [self.checkpoint.read_state(name) for name in found.state]  # first: where one is damaged, all stays
        for name, sink in self.sinks.items():
            sink.resume(found.sinks.get(name), self.checkpoint.sink_folder(name))
        if states:
            self.element.restore(states[0], states[1:])
            self._sizes = SavedSizes(self.element.form, len(states[0]), sum(map(len, states[1:])))

    def batch(self, number: int, rows: Iterable[Row]) -> Done | None:
        """Process the rows of a batch and commit it; None where that was done before."""
        if number <= self.commit.batch:
            return None
        before = self.metrics.tuples_in
        entries, oldest = self.commit.entries, time.time()
        for row in (by_stretch := sorted(rows, key=attrgetter("stretch"))):
            if row.kind == Kind.CHANGE:
                raise self.tail.changed(row)
            if row.kind == Kind.REACHED:
                stop, arrived = json.loads(bytes(row.payload))
                entries, oldest = max(entries, stop), min(oldest, arrived)
        self.tail.add_figures(row for row in by_stretch if row.kind == Kind.FIGURES)
        tuples = [row for row in by_stretch if row.kind in (Kind.CHUNK, Kind.ERROR)]
        try:
            for _, of_stretch in groupby(tuples, key=attrgetter("stretch")):
                error = self.tail.process_stretch(of_stretch, Shield())
                if error is not None:
                    raise error from error.__cause__
        except RunError:
            self._keep_what_was_written()
            raise
        self.check()
        self.tail.check()
        self._commit(number, entries)
        return Done(number, entries, self.metrics.tuples_in - before, time.time() - oldest)

    def _keep_what_was_written(self) -> None:
        """The tuples before an error are to be seen, although the batch is none that counts."""
        for sink in self.sinks.values():
            with suppress(SinkError):  # perhaps that is the error
                sink.sync()

    def _commit(self, number: int, entries: int) -> None:
        positions = {name: sink.sync() for name, sink in self.sinks.items()}
        state = self._saved()
        commit = Commit(number, entries, positions, state)
        self.checkpoint.write_commit(commit)
        self.commit = commit
        if len(state) == 1:
            self.checkpoint.forget_states(state)

    def _saved(self) -> tuple[str, ...]:
        """The files of the state: what changed is added, or all of it written anew where that is less."""
        if not self.element.metrics:
            return ()
        save = next_save(self.element, self._sizes if self.commit.state else None)
        self._sizes = save.sizes
        written = self.checkpoint.write_state(save.content)
        return (written,) if save.is_whole else (*self.commit.state, written)

    def close(self) -> None:
        with ExitStack() as steps:  # each of them, also where one fails
            for sink in reversed(self.sinks.values()):
                steps.callback(sink.close)
