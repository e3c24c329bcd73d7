"""How many tuples the sources of a program will give, as far as that can be told before they are read."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress
from pathlib import Path

from anabranch.codegen.forms import Form
from anabranch.errors import SourceError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.read_files import ReadFiles

_BYTES_PER_TUPLE = 40  # of a file; only the order of magnitude matters
# What native code saves makes up for some seconds of compiling it only after so many tuples: about 3 µs of each that
# comes from a file, as columns, and some 200 to 500 ns of one that comes as a row (`python -m benchmarks.codegen`).
_PAYS_FROM = 3_000_000
_PAYS_FROM_OF_FILES = 500_000


def expected_tuples(graph: Graph) -> int:
    """At least about so many; what cannot be told counts as none."""
    return sum(map(expected_of, graph.sources))


def expected_of(source: Operator) -> int:
    """The same of one source."""
    match source.definition:
        case Beacon(count=int(count)):
            return count
        case FromItems(items=Sized() as items):
            return len(items)
        case ReadFiles() as files:
            with suppress(SourceError):
                return sum(map(expected_in, files.files()))
    return 0


def expected_in(path: Path) -> int:
    """The same of a file."""
    with suppress(OSError):
        return path.stat().st_size // _BYTES_PER_TUPLE
    return 0


def form_for(graph: Graph, form: Form) -> Form:
    """The form of generated code: where it is to be chosen, native code only for what is large enough."""
    come_as_columns = all(isinstance(source.definition, ReadFiles) for source in graph.sources)
    pays_from = min(_PAYS_FROM, _PAYS_FROM_OF_FILES) if come_as_columns else _PAYS_FROM
    return "python" if form == "auto" and expected_tuples(graph) < pays_from else form
