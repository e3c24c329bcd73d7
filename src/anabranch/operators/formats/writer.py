"""What a writer of any format does: for a run, which leaves a file when it ends, and for a stream, which goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.operators.formats.addresses import FilePath

if TYPE_CHECKING:
    import pyarrow as pa

    from anabranch.operators.formats.encode_columns import EncodedRows


class RowWriter:
    """Takes tuples. `close` and `discard` may be called more than once, and for what was never opened."""

    def write(self, item: Any) -> None:
        raise NotImplementedError

    def write_batch(self, batch: pa.RecordBatch) -> int:
        """Write rows from the start of a batch; how many they were.

        The row behind them, and all that follow it, must go to `write`, which says what is wrong with that one.
        """
        return 0

    def write_lines(self, lines: EncodedRows) -> int:
        """The same with rows that are what the file will hold; only text has such."""
        raise NotImplementedError

    def rows_to_flush(self, lines: EncodedRows) -> int | None:
        """How many of these are taken when the file is written to next, which may fail; None where none is."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def discard(self) -> None:
        raise NotImplementedError


class Writer(RowWriter):
    """Writes tuples to one file: `close` puts it at its place, `keep` beside it, `discard` leaves no trace of it."""

    is_empty = True  # no tuple is in it

    def open(self, path: FilePath, name: FilePath | None = None) -> None:
        """Reserve the place; what cannot be written is said here, as a `SinkError`. `name` is that in messages."""
        raise NotImplementedError

    def complete(self) -> None:
        """Write what is left, so that only the file's name is to be given. A second call does no harm.

        An interrupt meanwhile is raised when that is done; a second one at once.
        """
        try:
            self.finish()
        except KeyboardInterrupt:
            self.finish()
            raise

    def finish(self) -> None:
        """What `complete` does; begun a second time, it goes on where it was interrupted."""
        raise NotImplementedError

    def stage(self) -> None:
        """Behind `complete`, bring the file to where its place is: only its name is to be given then."""
        raise NotImplementedError

    def close(self) -> None:
        """Put the file at its place."""
        self.complete()
        try:
            self.commit()
        except KeyboardInterrupt:
            self.commit()
            raise

    def commit(self) -> None:
        """Put a file that is complete at its place; begun a second time, it goes on where it was interrupted."""
        raise NotImplementedError

    def keep(self) -> FilePath | None:
        """Instead of `close`, for a run that did not succeed: where the tuples so far are now, if there are any."""
        raise NotImplementedError


class StreamWriter(RowWriter):
    """Writes the tuples of a stream that is stopped, or killed, and goes on: exactly what was synced is kept.

    What was written behind the last `sync` may stand in the output until the next `resume`, which removes it.
    """

    def check_new(self, path: Path) -> None:
        """A `SinkError` where a stream that begins cannot write, or something stands that it must not remove."""
        raise NotImplementedError

    def check_written(self, path: Path, position: Any) -> None:
        """A `SinkError` where what was written up to a position is not there any more; nothing is changed."""
        raise NotImplementedError

    def resume(self, path: Path, position: Any | None) -> None:
        """Go on behind a position that `sync` returned, or begin where it is None; whatever is behind it is removed."""
        raise NotImplementedError

    def sync(self) -> Any:
        """Make what was written durable; the position behind it, a JSON value.

        After a failure that cost rows it fails again: only `resume` goes on from there.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the output; what was not synced is dropped."""
        raise NotImplementedError

    def discard(self) -> None:
        self.close()
