"""How many tuples the sources of a program will give, as far as that can be told before they are read."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress

from anabranch.errors import SourceError
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph, Operator
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.stored_files import size_of
from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.read_files import ReadFiles

_BYTES_PER_TUPLE = 40  # of a file; only the order of magnitude matters
# What native code saves makes up for some seconds of compiling it only after so many tuples: about 3 µs of each that
# comes as columns, and some 200 to 500 ns of one that comes as a row (`python -m benchmarks.codegen`).
_PAYS_FROM = 3_000_000
_PAYS_FROM_OF_COLUMNS = 500_000


def expected_tuples(graph: Graph) -> int | None:
    """At least about so many; None where no source can tell, or where files are not there yet."""
    told = [(_reads_files(source), _told_by(source)) for source in graph.sources]
    known = [number for _, number in told if number is not None]
    are_files_missing = any(is_of_files and number is None for is_of_files, number in told)
    return sum(known) if known and not are_files_missing else None


def expected_of(source: Operator) -> int:
    """The same of one source; what cannot be told counts as none."""
    return _told_by(source) or 0


def _told_by(source: Operator) -> int | None:
    match source.definition:
        case Beacon(count=int(count)):
            return count
        case FromItems(items=Sized() as items):
            return len(items)
        case FromFrame() as rows:
            return rows.expected
        case ReadFiles() as files:
            with suppress(SourceError):
                sizes = [size_of(path) for path in files.files()]
                return (
                    sum(size // _BYTES_PER_TUPLE for size in sizes if size is not None) if None not in sizes else None
                )
    return None


def _reads_files(source: Operator) -> bool:
    return isinstance(source.definition, ReadFiles)


def expected_in(path: FilePath) -> int:
    """The same of a file."""
    return (size_of(path) or 0) // _BYTES_PER_TUPLE


def form_for(graph: Graph, form: Form, expected: int | None) -> Form:
    """The form of generated code: where it is to be chosen, native code only for what is large enough.

    Files that are not there yet are taken to be large.
    """
    if form != "auto":
        return form
    is_large = any(map(_reads_files, graph.sources)) if expected is None else expected >= pays_from(graph)
    return form if is_large else "python"


def pays_from(graph: Graph) -> int:
    """From how many tuples on native code is worth compiling."""
    come_as_columns = all(isinstance(source.definition, ReadFiles | FromFrame) for source in graph.sources)
    return min(_PAYS_FROM, _PAYS_FROM_OF_COLUMNS) if come_as_columns else _PAYS_FROM
