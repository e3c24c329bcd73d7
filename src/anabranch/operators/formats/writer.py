"""What a writer of any format does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class Writer:
    """Writes tuples to one file. `close` makes what was written last; `discard` leaves no trace of it.

    Both may be called more than once, and without `open`.
    """

    def open(self, path: Path) -> None:
        """Reserve the place; what cannot be written is said here, as a `SinkError`."""
        raise NotImplementedError

    def write(self, item: Any) -> None:
        raise NotImplementedError

    def write_batch(self, batch: pa.RecordBatch) -> int:
        """Write rows from the start of a batch; how many they were.

        The row behind them, and all that follow it, must go to `write`, which says what is wrong with that one.
        """
        return 0

    def close(self) -> None:
        """Put the file at its place. An interrupt meanwhile is raised when that is done; a second one at once."""
        try:
            self.finish()
        except KeyboardInterrupt:
            self.finish()
            raise

    def finish(self) -> None:
        """What `close` does; begun a second time, it goes on where it was interrupted."""
        raise NotImplementedError

    def discard(self) -> None:
        raise NotImplementedError
