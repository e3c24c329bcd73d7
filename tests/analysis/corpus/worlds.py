"""Fresh copies of the corpus, and what an operator gives in them: in order, or scattered and put back in order.

A world is a topic of the corpus loaded anew with every helper module it imports: no state is left over from another
run, as in a new process. What a world cannot own (folder, environment, random generators, contexts) `sandbox` guards.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import decimal
import importlib
import io
import json
import locale
import math
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ClassVar

import numpy as np

from anabranch.graph.schema import schema_of
from anabranch.graph.values import key_reader, normalizer

from . import registry
from .registry import Entry

HERE = Path(__file__).parent
TOPICS = tuple(sorted(path.stem for path in HERE.glob("*.py") if path.stem.startswith(("clean_", "trap_"))))
_RELOADED = tuple(f"{__package__}.{name}" for name in (*TOPICS, *(path.stem for path in HERE.glob("helpers_*.py"))))
PUNCTUATION_EVERY = 7


class _Loader(SourceFileLoader):
    """Compiles a module once, however often it is loaded."""

    compiled: ClassVar[dict[str, CodeType | None]] = {}

    def get_code(self, fullname: str) -> CodeType | None:
        if fullname not in self.compiled:
            self.compiled[fullname] = super().get_code(fullname)
        return self.compiled[fullname]


class _Finder:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in _RELOADED:
            return None
        file = str(HERE / f"{name.rpartition('.')[2]}.py")
        return spec_from_file_location(name, file, loader=_Loader(name, file))


@dataclass(frozen=True)
class World:
    """One loaded copy of a topic: its modules by full name, its entries by name."""

    modules: dict[str, ModuleType]
    entries: dict[str, Entry]

    def enter(self) -> None:
        """From now on imports find this world's modules."""
        _take_out()
        _put_in(self.modules)


def load(topic: str) -> World:
    """A new copy of a topic; the modules that were imported before stay the ones that are imported."""
    with _as_it_was(), registry.collecting() as entries:
        _take_out()
        _import(topic)
        return World(_take_out(), {entry.name: entry for entry in entries})


def load_all() -> list[Entry]:
    """Every entry of the corpus, from modules that stay imported (for the analyser to read)."""
    _take_out()
    with registry.collecting() as entries:
        for topic in TOPICS:
            _import(topic)
    return list(entries)


def _import(topic: str) -> None:
    sys.meta_path.insert(0, _Finder)
    try:
        importlib.import_module(f"{__package__}.{topic}")
    finally:
        sys.meta_path.remove(_Finder)


@contextlib.contextmanager
def _as_it_was() -> Iterator[None]:
    """Afterwards the same modules of the corpus are imported as before."""
    before = {name: sys.modules[name] for name in _RELOADED if name in sys.modules}
    try:
        yield
    finally:
        _take_out()
        _put_in(before)


def _take_out() -> dict[str, ModuleType]:
    package = sys.modules[__package__]
    taken = {name: sys.modules.pop(name) for name in _RELOADED if name in sys.modules}
    for name in taken:
        vars(package).pop(name.rpartition(".")[2], None)
    return taken


def _put_in(modules: dict[str, ModuleType]) -> None:
    package = sys.modules[__package__]
    for name, module in modules.items():
        sys.modules[name] = module
        setattr(package, name.rpartition(".")[2], module)


@contextlib.contextmanager
def sandbox() -> Iterator[None]:
    """A folder of one's own, and everything that belongs to the process as it was, afterwards."""
    environment, folder, names = dict(os.environ), Path.cwd(), set(vars(builtins))
    path, libraries = list(sys.path), {module: dict(vars(module)) for module in (json, math)}
    generator, arrays, floats = random.getstate(), np.random.get_state(), np.geterr()
    printing, recursion, language = np.get_printoptions(), sys.getrecursionlimit(), locale.setlocale(locale.LC_ALL)
    with (
        tempfile.TemporaryDirectory() as own,
        decimal.localcontext(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        os.chdir(own)
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            random.setstate(generator)
            np.random.set_state(arrays)
            np.seterr(**floats)
            np.set_printoptions(**printing)
            sys.setrecursionlimit(recursion)
            sys.path[:] = path
            for module, attributes in libraries.items():
                vars(module).update(attributes)
            locale.setlocale(locale.LC_ALL, language)
            for name in set(vars(builtins)) - names:
                delattr(builtins, name)


# Running -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Step:
    """One call of an operator. `position` and `rank` (of a key, by first arrival) are its place in the order."""

    position: int
    rank: int
    what: str = field(compare=False)  # "process", "punctuation" or "finish"
    item: int | None = field(compare=False, default=None)  # which input, for "process"


Emissions = list[tuple[Step, list[Any]]]


@dataclass(frozen=True)
class Run:
    """What each step emitted, in order, and the input tuples as the operator left them."""

    emissions: Emissions
    items: list[Any]

    @property
    def outputs(self) -> list[Any]:
        return [output for _, emitted in self.emissions for output in emitted]


def in_order(entry: Entry, items: Sequence[Any]) -> Run:
    """The sequential meaning: one world, one instance for each key (or one at all)."""
    steps = _steps(entry, items)
    return _run(entry, items, [(0, step.rank, step) for step in steps], worlds=1)


def scattered(entry: Entry, items: Sequence[Any], seed: int, *, as_state: str, worlds: int = 3) -> Run:
    """The same with everything done that `as_state` allows, and the order restored afterwards.

    Stateless: every tuple in any world, in any order, in half of the runs on an instance of its own. Partitioned:
    every key in one world, keys interleaved in any way.
    """
    chance = random.Random(seed)
    steps = _steps(entry, items)
    placed: list[tuple[int, Any, Step]]
    if as_state == "stateless":
        chance.shuffle(steps)
        alone = chance.random() < 0.5
        placed = [(chance.randrange(worlds), number if alone else 0, step) for number, step in enumerate(steps)]
    else:
        queues: dict[int, list[Step]] = {}
        for step in reversed(steps):
            queues.setdefault(step.rank, []).append(step)
        home = {rank: chance.randrange(worlds) for rank in sorted(queues)}
        placed = []
        while queues:
            rank = chance.choice(sorted(queues))
            placed.append((home[rank], rank, queues[rank].pop()))
            if not queues[rank]:
                del queues[rank]
    return _run(entry, items, placed, worlds)


def before_and_after(entry: Entry, items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What a function gives for each tuple, before and after the functions beside it were called."""
    with sandbox(), _as_it_was():
        world = load(entry.topic)
        world.enter()
        here, module = world.entries[entry.name], world.modules[f"{__package__}.{entry.topic}"]
        before = [list(_emitted(here.kind, here.operator, item)) for item in items]
        for name in entry.beside:
            change = getattr(module, name)
            change(*items[: change.__code__.co_argcount])
        return before, [list(_emitted(here.kind, here.operator, item)) for item in items]


def _steps(entry: Entry, items: Sequence[Any]) -> list[Step]:
    """The calls that the sequential meaning makes, in order."""
    ranks: dict[Any, int] = {} if entry.keyed else {(): 0}
    read = key_reader(schema_of(entry.input), entry.keyed) if entry.keyed else lambda _: ()
    has = {name: entry.is_class and hasattr(entry.operator, name) for name in ("punctuation", "finish")}
    steps: list[Step] = []
    for index, item in enumerate(items):
        steps.append(Step(2 * index, ranks.setdefault(read(item), len(ranks)), "process", index))
        if has["punctuation"] and index % PUNCTUATION_EVERY == PUNCTUATION_EVERY - 1:
            steps += [Step(2 * index + 1, rank, "punctuation") for rank in ranks.values()]
    if has["finish"]:
        steps += [Step(2 * len(items), rank, "finish") for rank in ranks.values()]
    return steps


def _run(entry: Entry, items: Sequence[Any], placed: Sequence[tuple[int, Any, Step]], worlds: int) -> Run:
    """Call the operator for each (world, instance, step)."""
    with sandbox(), _as_it_was():
        loaded = [load(entry.topic) for _ in range(worlds)]
        here = [world.entries[entry.name] for world in loaded]
        # Copies, so that a changed argument shows; of the world's own type, where a topic declares one.
        inputs = [
            None if step.item is None else here[number].input._make(copy.deepcopy(tuple(items[step.item])))
            for number, _, step in placed
        ]
        emissions: Emissions = []
        instances: dict[tuple[int, Any], Any] = {}
        normal = [normalizer(schema_of(one.output)) if one.output else None for one in here]
        entered = None
        for (number, instance, step), item in zip(placed, inputs, strict=True):
            if number != entered:
                loaded[number].enter()
                entered = number
            target = here[number].operator
            if entry.is_class:
                if (number, instance) not in instances:
                    instances[number, instance] = target()
                target = getattr(instances[number, instance], step.what)
            emissions.append((step, [normal[number](output) for output in _emitted(entry.kind, target, item)]))
        after = sorted((step.item, item) for (_, _, step), item in zip(placed, inputs, strict=True) if item)
    emissions.sort(key=lambda pair: pair[0])
    return Run(emissions, [item for _, item in after])


def _emitted(kind: str, target: Any, item: Any) -> Iterable[Any]:
    result = target(item) if item is not None else target()
    match kind:
        case "for_each":
            return ()
        case "filter":
            return [item] if result else []
        case "map":
            return [result]
        case _:
            return result if result is not None else ()
