"""How a program comes to other processes: as one pickle that the run itself wrote, with the user's code in it.

The user's own modules are sent by value: a worker has just the code and the globals that this process has, whether or
not it could import them, and whatever another run left in it.
"""

from __future__ import annotations

import copy
import functools
import io
import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import cloudpickle
import numpy as np

from anabranch.analysis.cached_functions import CACHED
from anabranch.analysis.modules import is_library_class, is_library_function, user_modules
from anabranch.codegen.build import Code
from anabranch.dataflow.executed import Fact
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.sources.readers import Readers
from anabranch.dataflow.transport.frames import reduce_frame
from anabranch.dataflow.transport.process_settings import ProcessSettings
from anabranch.dataflow.transport.task_progress import Reporter
from anabranch.dataflow.transport.unseen import seen_from_here, with_machine
from anabranch.errors import OperatorError, PlainProblem, RunError, in_words
from anabranch.graph.array_layouts import reduce_array
from anabranch.graph.model import Graph
from anabranch.graph.nans import NamedNans, NanNames
from anabranch.graph.places import Layout, Reading
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.sources.frames import Frame
from anabranch.operators.sources.spark_frames import SparkFrame
from anabranch.tripwire.code_names import names_of
from anabranch.tripwire.left_out import OF_MODULES
from anabranch.tripwire.watch import Tripwire
from anabranch.version import VERSION

_pickler: Any = cloudpickle  # it has no types


def _unnamed() -> None:
    return None


@dataclass(frozen=True)
class Job:
    """All that tasks need to know of a run. Code is generated before, where the source of the user's code is."""

    layout: Layout
    code: Mapping[str, Code]  # by place; none for the tail, and for sources that nothing follows at once
    slices: tuple[Any, ...] | None  # of the only source
    stretch: int  # tuples that are drawn for one stretch
    reading: Reading  # who reads the sources
    readers: Readers | None = None  # of sources that are drawn in turn; else, without slices, one task draws from all
    scratch: str = ""  # the temporary folder of the run, for large rows and for reports
    shares_files: bool = False  # whether all tasks certainly see it
    folder: str = "."  # where the run is, which relative paths start at
    is_ordered: bool = True  # else the sinks take what comes as it comes
    parts: str = ""  # where the files of a sink are written that is a folder
    keeps_state: bool = False  # whether channels go on in another job
    tripwire: Tripwire = field(default_factory=Tripwire)
    settings: ProcessSettings = field(default_factory=ProcessSettings.here)
    paths: tuple[str, ...] = field(default_factory=lambda: tuple(map(os.path.abspath, sys.path)))  # where modules are
    log_level: int = field(default_factory=lambda: logging.getLogger().level)
    cores: int = 1  # tasks that run at the same time
    task_name: Callable[[], str | None] = _unnamed  # of the task that asks, where it may be tried again

    def reporter(self, place: str) -> Reporter:
        """In a task: for what goes through a place."""
        return Reporter(self.scratch, place, self.task_name())


_MARK = f"anabranch {VERSION}\n".encode()


class CannotBeSent(Exception):
    """A program holds something that exists only in this process."""


def ship(job: Job) -> bytes:
    with _user_modules_by_value():
        try:
            into = io.BytesIO()
            _JobPickler(into, job.scratch if job.shares_files else "").dump(job)
            return _MARK + into.getvalue()
        except Exception as problem:  # pickling runs code of the user's objects
            raise CannotBeSent(in_words(problem)) from problem


class _JobPickler(_pickler.CloudPickler):  # type: ignore[misc]  # it has no types
    """Functions of the user's under `functools.cache` go with an empty cache; by name, they would not be found.

    NaNs stay the objects that they are, and arrays keep their layout: both can be seen in what operators give. Frames
    go in files, where that can be.
    """

    def __init__(self, into: io.BytesIO, folder: str) -> None:
        super().__init__(into)
        self._nans = NanNames()
        self._folder = folder  # that all tasks see

    def persistent_id(self, thing: Any) -> Any:
        return self._nans.name(thing)

    def reducer_override(self, thing: Any) -> Any:
        if type(thing) in (Frame, SparkFrame):
            return reduce_frame(thing, self._folder)
        function = thing.__wrapped__ if type(thing) is CACHED else None
        if isinstance(function, FunctionType) and not is_library_function(function):
            return _with_empty_cache, (function, *thing.cache_parameters().values())
        if type(thing) is np.ndarray:
            return reduce_array(thing)
        return super().reducer_override(thing)

    def _dynamic_function_reduce(self, function: FunctionType) -> Any:
        """With the globals, too, that only class statements within the function name: cloudpickle leaves them out."""
        reduced = super()._dynamic_function_reduce(function)
        _, parts = reduced[2]
        held = function.__globals__
        for name in names_of(function.__code__).globals:
            if name in held and name not in OF_MODULES:
                parts["__globals__"].setdefault(name, held[name])
        return reduced


class _JobUnpickler(pickle.Unpickler):
    def __init__(self, data: io.BytesIO) -> None:
        super().__init__(data)
        self._nans = NamedNans()

    def persistent_load(self, name: Any) -> float:
        return self._nans.find(name)


def _with_empty_cache(function: FunctionType, maxsize: int | None, typed: bool) -> Any:
    return functools.lru_cache(maxsize, typed)(function)


_sending = threading.RLock()  # the pickler's list of modules is one for all threads


@contextmanager
def _user_modules_by_value() -> Iterator[None]:
    with _sending:
        registered = []
        already = _pickler.list_registry_pickle_by_value()
        for module in user_modules():
            if module.__name__ not in ("__main__", *already) and module.__name__ in sys.modules:
                _pickler.register_pickle_by_value(module)
                registered.append(module)
        try:
            yield
        finally:
            for module in registered:
                _pickler.unregister_pickle_by_value(module)


@functools.lru_cache(maxsize=4)
def unship(shipment: bytes) -> Job:
    """The job; tasks of one run in one worker share it."""
    return read_job(shipment)


def read_job(shipment: bytes) -> Job:
    mark, _, pickled = shipment.partition(b"\n")
    if mark + b"\n" != _MARK:
        raise RuntimeError(f"the driver has {mark.decode()}, and this worker has {_MARK.decode().strip()}")
    job = _JobUnpickler(io.BytesIO(pickled)).load()
    assert isinstance(job, Job)
    # What an operator imports only when it is called is looked for behind what the worker has itself.
    sys.path += [path for path in job.paths if path not in sys.path]
    return job


# Errors on their way back --------------------------------------------------------------------------------------------


class _Elsewhere(PlainProblem):
    """An exception that could not leave the worker it was raised in, in its words."""

    def __init__(self, said: str, verb: str = "failed") -> None:
        super().__init__(said, verb)
        self.verb = verb  # type: ignore[misc]  # of the class where it is known

    def __str__(self) -> str:
        return str(self.args[0])


class _ByName(pickle.Pickler):
    """Classes of the user's by their names: sent by value, they would replace what the driver has."""

    def persistent_id(self, thing: Any) -> tuple[str, str] | None:
        is_class = isinstance(thing, type)
        # In a worker `__main__` is a file of Spark's, and yet the classes that say so are the user's.
        is_users = is_class and (thing.__module__ == "__main__" or not is_library_class(thing))
        return (thing.__module__, thing.__qualname__) if is_users else None


class _WithNames(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, classes: Mapping[tuple[str, str], type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, name: tuple[str, str]) -> type:
        if name in self._classes:
            return self._classes[name]
        found: Any = sys.modules[name[0]]
        for part in name[1].split("."):
            found = getattr(found, part)
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{name} is no class")
        return found


def ship_error(moment: Moment, error: RunError) -> bytes:
    """An error and when it happened: as it is, with its cause in words, and in words alone, as some do not travel."""
    error = with_machine(error)
    said = _in_words(error)
    with_item = _with_item(said, error)
    return pickle.dumps((moment, said, _without_places(error), [_by_name(each) for each in (error, with_item)]))


def _without_places(error: RunError) -> str:
    """What an error says, but for the lines of the program: a worker may not have them, as those of a notebook."""
    error = copy.copy(error)
    error.location = None
    if isinstance(error, OperatorError):
        error.raised_at = None
    return str(error)


def _by_name(error: RunError) -> bytes:
    into = io.BytesIO()
    try:
        _ByName(into).dump(error)
    except Exception:
        return b""
    return into.getvalue()


def _in_words(error: RunError) -> RunError:
    if not isinstance(error, OperatorError):
        return RunError(str(error))
    verb = error.cause.verb if isinstance(error.cause, PlainProblem) else "failed"
    return OperatorError(
        error.operator,
        location=error.location,
        cause=_Elsewhere(in_words(error.cause), verb),
        during=error.during,
        raised_at=error.raised_at,
    )


def _with_item(said: RunError, error: RunError) -> RunError:
    if isinstance(said, OperatorError) and isinstance(error, OperatorError):
        said = copy.copy(said)
        said.item = error.item
    return said


def unship_error(payload: bytes, graph: Graph) -> tuple[Moment, RunError]:
    moment, error, text, forms = pickle.loads(payload)
    types = [port.schema.type for operator in graph.operators for port in (*operator.inputs, *operator.outputs)]
    classes = {(each.__module__, each.__qualname__): each for each in types}
    for form in forms:
        with suppress(Exception):  # then it is said in words
            found = _WithNames(io.BytesIO(form), classes).load()
            # An exception is made again from its arguments, and may then say something else.
            if isinstance(found, RunError) and _without_places(found) == text:
                error = found
                break
    if isinstance(error, OperatorError):
        error.__cause__ = error.cause
    return moment, seen_from_here(error)


@dataclass(frozen=True)
class Figures:
    """What a task has counted, and what it did."""

    operators: dict[str, OperatorMetrics]
    tuples_in: int
    notes: list[str]
    executed: list[Fact]


def ship_figures(figures: Figures) -> bytes:
    return bytes(_pickler.dumps(figures))


def unship_figures(payload: bytes) -> Figures:
    figures: Figures = _pickler.loads(payload)
    return figures
