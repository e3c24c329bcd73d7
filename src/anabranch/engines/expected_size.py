"""How many tuples the sources of a program will give, as far as that can be told before they are read."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress

from anabranch.errors import SourceError
from anabranch.graph.model import Graph
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.read_files import ReadFiles

_BYTES_PER_TUPLE = 40  # of a file; only the order of magnitude matters


def expected_tuples(graph: Graph) -> int:
    """At least about so many; what cannot be told counts as none."""
    total = 0
    for source in graph.sources:
        match source.definition:
            case FromItems(items=Sized() as items):
                total += len(items)
            case ReadFiles() as files:
                with suppress(SourceError, OSError):
                    total += sum(path.stat().st_size for path in files.files()) // _BYTES_PER_TUPLE
    return total
