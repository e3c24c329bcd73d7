"""State as words: one record of an operator's state per key, in a flat array of 64-bit words.

Floats are kept by their bits, bools as 0 and 1, strings by their number in the pool, None as a flag of its own.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.values import ALWAYS, STORABLE, ZEROS, Value
from anabranch.codegen.types import Type

_EMPTIED = ("shared clock", "sliding time", "count of groups", "keys", "groups")
_LEFT_BEHIND = ("listed count", "listed time", "keys of lists")


@dataclass(frozen=True)
class Word:
    """A word of a record: the variable it is loaded into, and what it holds; `path` names it inside the state."""

    name: str
    kind: str  # int | float | bool | str
    path: tuple[str, ...]


@dataclass(eq=False)
class Record:
    """The layout of an operator's state for one key; the first words are the key's."""

    operator: str  # its id; a table of values has one of its own
    prefix: str  # what its variables are called by
    key_kinds: tuple[str, ...] = ()
    words: list[Word] = field(default_factory=list)
    shape: str = "process"  # what kind of state it is, for those who read it outside of the kernel
    tail: int = 0  # words behind those that have names: a ring of entries
    entry: int = 1  # words of each of those,
    texts: tuple[int, ...] = ()  # and which of these are strings
    of_key: int = 0  # of windows with a key and groups, how many words of the key are not the group's
    windows_of: str = ""  # the operator whose windows have seen what is in this table of values,
    window: str = ""  # and what is in the first word of its keys: a window's `slot`, or when it was `opened`
    # Of a class of the user's, what its instances keep: found from its source, which is not where the code runs.
    fields: Mapping[str, Type] = field(default_factory=dict)
    initial: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_keyed(self) -> bool:
        return bool(self.key_kinds)

    @property
    def is_emptied(self) -> bool:
        """Whether the kernel forgets all keys now and then."""
        return self.shape in _EMPTIED or (self.shape == "seen" and self.window != "opened")

    @property
    def is_left_behind(self) -> bool:
        """Whether the kernel leaves records of closed windows behind."""
        return self.shape in _LEFT_BEHIND

    @property
    def width(self) -> int:
        return len(self.key_kinds) + len(self.words) + self.tail

    def place(self, word: Word) -> int:
        return len(self.key_kinds) + self.words.index(word)

    def place_of(self, *path: str) -> int:
        return self.place(next(word for word in self.words if word.path == path))

    def add(self, name: str, kind: str, path: tuple[str, ...]) -> Word:
        word = Word(name, kind, path)
        self.words.append(word)
        return word

    # Code -------------------------------------------------------------------------------------------------------

    def load(self, kernel: Kernel, slot: str) -> Iterator[str]:
        """Lines that put a record into its variables."""
        if not self.is_keyed:
            yield from (f"{word.name} = {self.held(word)}" for word in self.words)
            return
        if self.words:
            kernel.uses("natural")
            yield f"base = natural({slot} * {self.width})"
        yield from (f"{word.name} = {self._read(kernel, word)}" for word in self.words)

    def held(self, word: Word) -> str:
        """Without a key there is one record: a kernel holds it in variables from the first tuple to the last."""
        path = "_".join("has" if part == "?" else part for part in word.path if part)
        return f"held{self.words.index(word)}_{self.prefix}_{path}"

    def load_held(self, kernel: Kernel) -> Iterator[str]:
        yield from (f"{self.held(word)} = {self._read(kernel, word)}" for word in self.words)

    def store_held(self, kernel: Kernel) -> Iterator[str]:
        for word in self.words:
            array = self.floats(kernel) if word.kind == "float" else self.records(kernel)
            yield f"{array}[{self.place(word)}] = {self.held(word)}"

    def _read(self, kernel: Kernel, word: Word) -> str:
        at = self._at(word)
        if word.kind == "float":
            return f"{self.floats(kernel)}[{at}]"
        read = f"{self.records(kernel)}[{at}]"
        return f"{read} != 0" if word.kind == "bool" else read

    def store(
        self, kernel: Kernel, slot: str, keys: tuple[str, ...] = (), only: Container[str] | None = None
    ) -> Iterator[str]:
        """Lines that put variables into a record: all of them and the key, or `only` these."""
        words = [word for word in self.words if only is None or word.name in only]
        if not self.is_keyed:
            yield from (f"{self.held(word)} = {word.name}" for word in words)
            return
        if words or keys:
            kernel.uses("natural")
            yield f"base = natural({slot} * {self.width})"
        for at, key in enumerate(keys):
            yield f"{self.records(kernel)}[base + {at}] = {key}"
        for word in words:
            array = self.floats(kernel) if word.kind == "float" else self.records(kernel)
            yield f"{array}[{self._at(word)}] = {word.name}"

    def _at(self, word: Word) -> str:
        return f"base + {self.place(word)}" if self.is_keyed else str(self.place(word))

    def records(self, kernel: Kernel) -> str:
        return kernel.argument("state", (self.operator, "records"), f"{self.prefix}_records")

    def floats(self, kernel: Kernel) -> str:
        return kernel.argument("state", (self.operator, "floats"), f"{self.prefix}_floats")

    def table(self, kernel: Kernel) -> str:
        return kernel.argument("state", (self.operator, "table"), f"{self.prefix}_table")

    def keys(self, kernel: Kernel) -> str:
        return kernel.argument("state", (self.operator, "keys"), f"{self.prefix}_keys")


def variables_of(kernel: Kernel, record: Record, kind: Type, hint: str, path: tuple[str, ...]) -> Value:
    """Variables for a value kept in a record; those that were seen never to be read are left out."""
    has = ALWAYS
    if kind.optional:
        has = kernel.writer.fresh(f"{hint}_has")
        kernel.state_names[has] = record.operator
        if has in kernel.known.dropped:
            has = ""
        else:
            record.add(has, "bool", (*path, "?"))
    if kind.kind == "tuple":
        members = {n: variables_of(kernel, record, each, f"{hint}_{n}", (*path, n)) for n, each in kind.members}
        return Value(kind, has=has or ALWAYS, members=members)
    if kind.kind == "none":
        return Value(kind, "0", "False")
    name = kernel.writer.fresh(hint if kind.kind in STORABLE else f"unstorable_{hint}")
    kernel.state_names[name] = record.operator
    if name in kernel.known.dropped:  # a constant takes its place in what is computed with it for nobody
        return Value(kind.varying(), ZEROS.get(kind.kind, "0"), has or ALWAYS, is_stable=True)
    if kind.kind in STORABLE:
        record.add(name, kind.kind, path)
    return Value(kind.varying(), name, has or ALWAYS)
