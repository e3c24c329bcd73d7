"""From a program to the processing element that runs all of it but its sources and sinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import anabranch as ab
from anabranch.codegen.build import build_pe
from anabranch.codegen.chunks import Batch
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import ProcessingElement
from anabranch.errors import UsageError
from anabranch.run import as_program

Form = Literal["python", "native"]
PYTHON: Form = "python"
NATIVE: Form = "native"


class Missing(Exception):
    """A program cannot take this form."""


def part_of_program(sink: Any) -> Part:
    """Every operator of a program but its sources and sinks."""
    graph = as_program(sink).graph
    inside = tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink)
    return part_of(graph, inside)


def element(sink: Any, form: Form) -> ProcessingElement:
    try:
        return build_pe(part_of_program(sink), form)
    except UsageError as problem:
        raise Missing(str(problem)) from None


class Runner:
    """Runs a processing element from its beginning, as often as it is called."""

    def __init__(self, sink: Any, form: Form) -> None:
        self._element = element(sink, form)
        self._form = form
        self._beginning = self._element.save()

    def rewind(self) -> None:
        self._element.restore(self._beginning)

    def __call__(self, batches: list[Batch]) -> list[Any]:
        """The output as lists of rows, or as record batches: the form's own, so that nothing is left undone."""
        process = self._element.process
        if self._form == PYTHON:
            return [process(batch)[0].rows for batch in batches]
        outputs = [process(batch)[0].batch for batch in batches]
        # One that had to leave native code would be timed as what it is not.
        assert self._element.form == self._form, "it left native code"
        return outputs


def oracle(program: Callable[..., Any], rows: list[list[Any]]) -> list[Any]:
    """What the program means."""
    return ab.run(program(*rows), engine="sequential").items("out")
