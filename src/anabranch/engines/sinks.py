"""Sinks are opened before the first tuple and closed whatever happens, on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from anabranch.engines.interrupts import Shield
from anabranch.graph.model import Graph
from anabranch.operators.base import SinkMeaning
from anabranch.operators.sinks.base import SinkDefinition


def check_sinks(graph: Graph, shield: Shield) -> None:
    """Say which sink could not be opened, before that is worth it; up to the first of which only opening tells.

    What stands behind that one is not asked: of several problems, the first is the one reported.
    """
    with shield:
        for sink in graph.sinks:
            definition = cast(SinkDefinition, sink.definition)
            if not definition.can_be_checked:
                return
            definition.check(sink)


@contextmanager
def opened(sinks: Sequence[SinkMeaning], shield: Shield) -> Iterator[None]:
    """Open all sinks, or none: what stood at a path before stays there if a run never begins."""
    begun: list[SinkMeaning] = []
    try:
        with shield:
            for sink in sinks:
                begun.append(sink)
                sink.open()
    except BaseException:
        for sink in begun:
            sink.discard()
        raise
    try:
        yield
    finally:
        with shield:
            _close(sinks)


def _close(sinks: Sequence[SinkMeaning]) -> None:
    """Close every sink, whatever happens; the first problem is the one reported."""
    problems: list[BaseException] = []
    for sink in sinks:
        try:
            sink.close()
        except BaseException as problem:
            problems.append(problem)
    if problems:
        raise problems[0]
