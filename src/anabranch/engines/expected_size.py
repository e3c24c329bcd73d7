"""How many tuples the sources of a program will give, as far as that can be told before they are read."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress

from anabranch.codegen.forms import Form
from anabranch.errors import SourceError
from anabranch.graph.model import Graph
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.read_files import ReadFiles

_BYTES_PER_TUPLE = 40  # of a file; only the order of magnitude matters
# What native code saves per tuple, some 200 to 500 ns when its tuples come as rows, makes up for about a second of
# compiling it only after millions of them (`python -m benchmarks.codegen`).
_PAYS_FROM = 3_000_000  # tuples


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


def form_for(graph: Graph, form: Form) -> Form:
    """The form of generated code: where it is to be chosen, native code only for what is large enough."""
    return "python" if form == "auto" and expected_tuples(graph) < _PAYS_FROM else form
