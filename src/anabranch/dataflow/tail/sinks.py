"""Sinks are opened before the first tuple; outputs take their places when a run has succeeded, on every engine.

All are written to their ends before the first of them takes its place: so all of them do, or none, but where giving a
name fails, or the process is killed, between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from anabranch.dataflow.tail.interrupts import Shield
from anabranch.errors import RunError, SharedStateError, kept_in_words
from anabranch.graph.model import Graph
from anabranch.operators.base import SinkMeaning
from anabranch.operators.formats.addresses import Address
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
        with shield:
            for sink in sinks:
                sink.complete()
        with shield:
            _close(sinks)
    except SharedStateError:  # what was written may be wrong
        for sink in sinks:
            sink.discard()
        raise
    except BaseException as stop:
        with suppress(KeyboardInterrupt), shield:  # the run ends anyway, with what stopped it
            _keep(sinks, stop)
        raise


def _close(sinks: Sequence[SinkMeaning]) -> None:
    """Close every sink, up to one that cannot be; an interrupt waits until they are."""
    interrupt: KeyboardInterrupt | None = None
    for sink in sinks:
        try:
            sink.close()
        except KeyboardInterrupt as problem:
            interrupt = problem
    if interrupt is not None:
        raise interrupt


def _keep(sinks: Sequence[SinkMeaning], stop: BaseException) -> None:
    """Keep what each sink has, and say with the error, or the interrupt, where it is."""
    kept: dict[str, Path | str] = {}
    for sink in sinks:
        with suppress(Exception):  # what came first is reported
            place = sink.keep()
            if place is not None:
                kept[sink.operator.id] = str(place) if isinstance(place, Address) else place
    if not kept:
        return
    stop.kept = kept  # type: ignore[attr-defined]  # any exception can carry an attribute
    if not isinstance(stop, RunError):  # whose text says it
        stop.add_note(kept_in_words(kept.values()).strip())
