"""A program that would write over what it reads, or read what it writes, is stopped before it begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.partial_output import PARTIAL, is_partial_of
from anabranch.operators.sinks.write_file import WriteFile
from anabranch.operators.sources.located import located
from anabranch.operators.sources.patterns import would_find
from anabranch.operators.sources.read_files import ReadFiles


def check_inputs_stay(graph: Graph) -> None:
    """A `SinkError` where a sink would replace a file that is there to be read, or add one to those read next time."""
    for source, files, sink, output in _pairs(graph):
        with located(source):
            found = files.files()
        for path in found:
            if _is_replaced(path, output):
                raise SinkError(
                    f"{path}: '{sink.id}' would write to what '{source.id}' reads",
                    location=sink.location,
                    hint="write to another place",
                )
    check_output_is_no_input(graph)


def check_output_is_no_input(graph: Graph) -> None:
    """A `SinkError` where a source would find the file that a sink writes: the next run, or the stream itself."""
    for source, files, sink, output in _pairs(graph):
        if output.is_regular and any(would_find(files.pattern, each) for each in output.files):
            raise SinkError(
                f"{output.path}: '{source.id}' would read what '{sink.id}' writes",
                location=sink.location,
                hint="write to another place",
            )


def _is_replaced(path: FilePath, output: WriteFile) -> bool:
    """Whether a run that writes an output replaces a file, or removes it. A terminal may be read and written."""
    if isinstance(path, Address) or isinstance(output.path, Address):
        if not (isinstance(path, Address) and isinstance(output.path, Address)):
            return False
        partial = output.path.with_name(f"{output.path.name}{PARTIAL}")
        return path in (output.path, partial) or (output.is_folder and path.is_below(output.path))
    place = Path(os.path.realpath(path))
    if not place.is_file():
        return False
    is_inside = output.is_folder and place.is_relative_to(output.target)
    return str(place) == output.target or is_inside or is_partial_of(place, Path(output.target))


def _pairs(graph: Graph) -> Iterator[tuple[Operator, ReadFiles, Operator, WriteFile]]:
    for sink in graph.sinks:
        for source in graph.sources:
            if isinstance(sink.definition, WriteFile) and isinstance(source.definition, ReadFiles):
                yield source, source.definition, sink, sink.definition
