"""What moves from place to place: tuples of one stream within one epoch, with what puts them in order."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.order.order_keys import Columns


@dataclass(frozen=True, eq=False)
class Piece:
    """Tuples of a stream on their way into a channel, within one epoch, with the columns of their order.

    `end`, on the last piece of a stream, is where it ends in that order, and `punctuations` are columns of where those
    are. Columns are left out where they would only count the tuples of a whole epoch.
    """

    chunk: Chunk
    order: Columns | None
    end: tuple[int, ...] | None = None
    punctuations: Columns = ()

    @property
    def is_empty(self) -> bool:
        return not len(self.chunk) and self.end is None and not self.punctuations
