"""Loans: what an item touches of an operator's store, as the operator's meaning keeps it, and given back as words.

A loan stands between native state and the operator's sequential meaning. Before the meaning takes an item, it is given
what the item may touch, and nothing else; afterwards just that becomes words again. So the cost of a tuple that native
code cannot take does not depend on how many keys there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from anabranch.codegen.stores.tables import Table, apart, together
from anabranch.codegen.stores.words import Path, field_of_words, words_of_field
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process

Write = Callable[[], object]


class Loan:
    """What is lent to the meaning of one operator.

    `lend` and `lend_all` are called before an item, `writes` when it is through: it computes all words, or raises
    `Unfit`, and gives what puts them into place.
    """

    def __init__(self, meaning: Any, table: Table) -> None:
        self.meaning = meaning
        self.table = table
        meaning.process = partial(self._process, meaning.process)
        meaning.punctuation = partial(self._after_all, meaning.punctuation)
        meaning.finish = partial(self._after_all, meaning.finish)

    def _process(self, process: Callable[[int, Any], Any], port: int, item: Any) -> Any:
        self.lend(port, item)
        return process(port, item)

    def _after_all(self, work: Callable[..., Any], *arguments: Any) -> Any:
        self.lend_all()
        return work(*arguments)

    def begin(self) -> None:
        """Nothing is lent yet."""
        raise NotImplementedError

    def lend(self, port: int, item: Any) -> None:
        """What a tuple may touch."""
        raise NotImplementedError

    def lend_all(self) -> None:
        """The whole of it, behind what the meaning already has."""
        raise NotImplementedError

    def writes(self) -> Iterable[Write]:
        raise NotImplementedError

    def all_writes(self) -> Iterable[Write]:
        """The same for all that the meaning has, which nobody lent it: the native state has not begun."""
        raise NotImplementedError

    def everything(self) -> None:
        """All of the store, with what was lent as it is now: for a form that goes on with the meaning."""
        raise NotImplementedError

    @property
    def lent(self) -> int:
        """How many records are lent, or are new."""
        raise NotImplementedError


class InstancesLoan(Loan):
    """Instances of a user's class."""

    def __init__(self, meaning: Any, table: Table, definition: Process) -> None:
        super().__init__(meaning, table)
        self.definition = definition
        self.names = definition.keys[0]

    def begin(self) -> None:
        self.meaning.instances = {}
        self.slots: dict[Any, int] = {}

    def lend(self, port: int, item: Any) -> None:
        key = self.meaning.readers[port](item)
        if key not in self.slots:
            self._lend(key, self.table.find(self.table.key_words(apart(key, self.names))))

    def lend_all(self) -> None:
        """Nobody asks for them at marks: a class with methods for these is not native."""

    def _lend(self, key: Any, slot: int) -> None:
        self.slots[key] = slot
        if slot >= 0:
            self.meaning.instances[key] = self._instance(self.table.row(slot))

    def _instance(self, row: list[int]) -> Any:
        table = self.table
        words = {path: (kind, row[table.places[path]]) for path, kind in table.kinds.items()}
        instance = self.definition.factory()
        for name, kind in table.record.fields.items():
            setattr(instance, name, field_of_words(kind, (name,), words, table.pool))
        return instance

    def _words(self, instance: Any) -> dict[Path, int]:
        words: dict[Path, int] = {}
        for name, kind in self.table.record.fields.items():
            value = getattr(instance, name, ...)  # of an attribute that is gone there are no words
            words |= words_of_field(kind, value, (name,), self.table.kinds, self.table.pool)
        return words

    def writes(self) -> Iterable[Write]:
        for key, slot in self.slots.items():
            if key in self.meaning.instances:
                yield partial(self._store, key, slot, self._words(self.meaning.instances[key]))

    def _store(self, key: Any, slot: int, words: Mapping[Path, int]) -> None:
        if slot < 0:
            slot = self.table.found(self.table.key_words(apart(key, self.names)))
        self.table.set(slot, words)

    def all_writes(self) -> Iterable[Write]:
        self.slots = dict.fromkeys(self.meaning.instances, -1)
        return self.writes()

    def everything(self) -> None:
        """All instances, those that were lent as they are now."""
        table = self.table
        touched = {key: each for key, each in self.meaning.instances.items() if key in self.slots}
        self.meaning.instances = {}
        for slot in range(table.count):
            row = table.row(slot)
            key = together(table.key(row)) if table.record.is_keyed else None
            self.meaning.instances[key] = touched[key] if key in touched else self._instance(row)
        for key, instance in touched.items():
            self.meaning.instances.setdefault(key, instance)

    @property
    def lent(self) -> int:
        return len(self.slots)


class SeenLoan(Loan):
    """The keys that `distinct` has seen."""

    def __init__(self, meaning: Any, table: Table, definition: Distinct) -> None:
        super().__init__(meaning, table)
        self.names = definition.key_names

    def begin(self) -> None:
        self.meaning.seen.clear()
        self.words: dict[Any, tuple[int, ...]] = {}  # of keys that are new here

    def lend(self, port: int, item: Any) -> None:
        key = self.meaning.key_of(item)
        words = self.table.key_words(apart(key, self.names))
        if self.table.find(words) >= 0:
            self.meaning.seen[key] = 1
        else:
            self.words[key] = words

    def lend_all(self) -> None:
        """Without a window nothing happens at marks."""

    def writes(self) -> Iterable[Write]:
        for key, words in self.words.items():
            if self.meaning.seen[key]:
                yield partial(self.table.found, words)

    def all_writes(self) -> Iterable[Write]:
        self.words = {key: self.table.key_words(apart(key, self.names)) for key in self.meaning.seen}
        return self.writes()

    def everything(self) -> None:
        touched = dict(self.meaning.seen)
        self.meaning.seen.clear()
        for row in self.table.rows().tolist():
            self.meaning.seen[together(self.table.key(row))] = 1
        for key in touched:
            self.meaning.seen[key] = 1
        self.meaning.arrived = len(self.meaning.seen)

    @property
    def lent(self) -> int:
        return 1
