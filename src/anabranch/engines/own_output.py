"""A program that would write over what it reads, or read what it writes, is stopped before it begins."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import SinkError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.sinks.write_file import WriteFile
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles, has_pattern


def check_inputs_stay(graph: Graph) -> None:
    """A `SinkError` where a sink would replace a file that is there to be read."""
    for source, files, sink, output in _pairs(graph):
        with located(source):
            found = files.files()
        for path in found:
            place = os.path.realpath(path)
            is_inside = output.is_folder and Path(place).is_relative_to(output.target)
            if os.path.isfile(place) and (place == output.target or is_inside):  # a terminal may be both
                raise _read_too(path, source, sink)


def check_output_is_no_input(graph: Graph) -> None:
    """A `SinkError` where a stream would find the file that it writes among those that arrive."""
    for source, files, sink, output in _pairs(graph):
        pattern = Path(os.path.abspath(files.pattern))
        if has_pattern(files.pattern):
            within = pattern if glob.has_magic(str(pattern)) and not pattern.is_dir() else pattern / "*"
            is_found = any(Path(each).match(str(within)) for each in (output.target, os.path.abspath(output.path)))
            is_found |= os.path.dirname(output.target) == os.path.realpath(pattern)
        else:
            is_found = os.path.realpath(pattern) == output.target
        if is_found and not output.is_folder and not os.path.basename(output.target).startswith("."):
            raise _read_too(output.path, source, sink)


def _pairs(graph: Graph) -> Iterator[tuple[Operator, ReadFiles, Operator, WriteFile]]:
    for sink in graph.sinks:
        for source in graph.sources:
            if isinstance(sink.definition, WriteFile) and isinstance(source.definition, ReadFiles):
                yield source, source.definition, sink, sink.definition


def _read_too(path: str | Path, source: Operator, sink: Operator) -> SinkError:
    return SinkError(
        f"{path}: '{sink.id}' would write to what '{source.id}' reads",
        location=sink.location,
        hint="write to another place",
    )
