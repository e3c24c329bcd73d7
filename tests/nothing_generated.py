"""A guard around what tuples flow through: whatever generates or compiles code there is noted, and who asked for it."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from anabranch.codegen import build, cache
from anabranch.codegen.native.element import NativeElement
from anabranch.codegen.python.element import PythonElement
from anabranch.codegen.python.generator import Generator
from anabranch.dataflow.channels.together import Together
from anabranch.dataflow.sources.reading import csv_blocks, text_slices
from anabranch.dataflow.sources.source_loop import SourceTask
from anabranch.dataflow.sources.source_tasks import SliceTask
from anabranch.dataflow.tail.local_part import LocalPart
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.sending import Sender
from anabranch.engines import in_process

# Where tuples are in hand: functions, and those whose results are iterated over.
_CALLED = [
    (NativeElement, "process"),
    (PythonElement, "process"),
    (LocalPart, "process"),
    (Tail, "process"),
    (Tail, "arranged"),
    (csv_blocks.CsvBlocks, "columns"),
]
_ITERATED = [
    (SourceTask, "read"),
    (SourceTask, "sent"),
    (SliceTask, "process_stretch"),
    (Together, "process_stretch"),
    (Sender, "rows"),
    (text_slices.TextSlice, "chunks"),
]
# What generates code. numba's dispatchers, and `compile`, are watched beside these.
_GENERATES = [(cache, "load"), (build, "assemble"), (Generator, "define"), (Generator, "__init__")]

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(cache.__file__)))
_PYTHONS = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


class Watched:
    """What was generated while tuples were in hand, and how often any were."""

    def __init__(self) -> None:
        self.generated: list[str] = []
        self.times = 0
        self._depth = threading.local()

    @property
    def is_flowing(self) -> bool:
        return getattr(self._depth, "depth", 0) > 0

    @contextmanager
    def flow(self) -> Iterator[None]:
        self.times += 1
        self._depth.depth = getattr(self._depth, "depth", 0) + 1
        try:
            yield
        finally:
            self._depth.depth -= 1

    def note(self, what: str) -> None:
        if self.is_flowing:
            self.generated.append(f"{what}, asked for by\n{''.join(traceback.format_stack(limit=12))}")

    def called(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            with self.flow():
                return function(*arguments, **options)

        return call

    def iterated(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Iterator[Any]:
            items = iter(function(*arguments, **options))
            while True:
                with self.flow():
                    try:
                        item = next(items)
                    except StopIteration:
                        return
                yield item

        return call

    def generating(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            self.note(name)
            return function(*arguments, **options)

        return call

    def from_the_first_tuple(self, draw_all: Callable[..., None]) -> Callable[..., None]:
        """In one process a run is one flow, from the first tuple that is processed to its end."""

        @wraps(draw_all)
        def run(execution: Any, *arguments: Any) -> None:
            process = execution.local.process

            def first(*given: Any) -> None:
                execution.local.process = process
                self._depth.depth = getattr(self._depth, "depth", 0) + 1
                process(*given)

            execution.local.process = first
            depth = getattr(self._depth, "depth", 0)
            try:
                draw_all(execution, *arguments)
            finally:
                self._depth.depth = depth

        return run


_watched: Watched | None = None
_is_hooked = False


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    """A hook of the interpreter's, which cannot be taken away again."""
    if event in ("compile", "exec") and _watched is not None and _watched.is_flowing:
        if event == "exec" and getattr(arguments[0], "co_filename", "") != "<string>":
            return  # of code that was there; `eval` of a text says nothing but this
        asked = sys._getframe(1)
        while asked.f_back is not None and asked.f_code.co_filename.startswith((*_PYTHONS, "<frozen")):
            if "importlib" in asked.f_code.co_filename:
                return  # a module, which is read from its file
            asked = asked.f_back
        if asked.f_code.co_filename.startswith(_OURS):
            _watched.note(f"{event} of {arguments[0]!r:.200}")


@contextmanager
def watching() -> Iterator[Watched]:
    """Inside, what flows is watched."""
    from numba.core.dispatcher import Dispatcher

    global _watched, _is_hooked
    if not _is_hooked:
        sys.addaudithook(_on_event)
        _is_hooked = True
    watched = Watched()
    patches = [patch.object(owner, name, watched.called(getattr(owner, name))) for owner, name in _CALLED]
    patches += [patch.object(owner, name, watched.iterated(getattr(owner, name))) for owner, name in _ITERATED]
    generating = [*_GENERATES, (Dispatcher, "compile")]
    patches += [patch.object(owner, name, watched.generating(getattr(owner, name), name)) for owner, name in generating]
    execution = in_process._Execution
    patches.append(patch.object(execution, "_draw_all", watched.from_the_first_tuple(execution._draw_all)))
    _watched = watched
    try:
        for each in patches:
            each.start()
        yield watched
    finally:
        _watched = None
        for each in patches:
            each.stop()
