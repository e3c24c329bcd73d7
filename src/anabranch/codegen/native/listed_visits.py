"""Windows in native code of which each key, or each end, has a list of records to close.

A record is one group of one window. It stays when the window has closed, with a size of 0, for the next window of the
same key and group; what is left of groups that do not come again is forgotten from outside (`forgetting.py`). By time,
windows overlap, but no two that are open have the same end modulo how many of them overlap: so that stands for the end
in the key of a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anabranch.codegen.native.clocks import Clock, Passage
from anabranch.codegen.native.keyed import check_room, found_by, marked, named_words, stored_as_new
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.sliding_visits import number_texts, without_checks
from anabranch.codegen.native.values import Value

if TYPE_CHECKING:
    from anabranch.codegen.native.window_visits import WindowCode


class Lists:
    """The groups of each window, in the order in which they close: each knows the one that follows it.

    `owner` knows the first and the last of a window. Where the stream's clock closes the windows of all keys, a new
    group stands behind the last one of its key, which `of_keys` knows. Without groups a window is but one record.
    """

    def __init__(self, code: WindowCode, of_key: tuple[str, ...]) -> None:
        self.code, self.kernel, self.record = code, code.kernel, code.record
        self.is_by_time = code.shape == "listed time"
        self.has_key_clock = code.definition.window.clock == "key"
        self.clock: Clock | None = None
        self.owner: Record | None = None
        self.of_keys: Record | None = None
        code.word("opened", "int")
        index = ("int",) if self.is_by_time else ()
        if self.is_by_time:
            code.word("end", "int")
            self.clock = Clock(code, of_key if self.has_key_clock else ())
        if not code.definition.group_by:
            return
        code.word("next", "int")
        is_of_key = self.has_key_clock or not self.is_by_time
        self.owner = self._table("lists", (*index, *of_key) if is_of_key else index)
        self._words(self.owner, "head", "last", *(() if self.is_by_time else ("tuples",)))
        if not is_of_key:
            self.of_keys = self._table("keys of lists", (*index, *of_key))
            self._words(self.of_keys, "tail", "end")

    def _table(self, shape: str, key: tuple[str, ...]) -> Record:
        operator = self.code.operator.id
        prefix = self.kernel.writer.fresh(f"{self.code.prefix}_{shape.replace(' ', '_')}")
        record = Record(f"{operator}: its {shape}", prefix, key, shape=shape, windows_of=operator)
        self.kernel.records[record.operator] = record
        return record

    def _words(self, record: Record, *names: str) -> None:
        for name in names:
            record.add(self.kernel.writer.fresh(f"{record.prefix}_{name}"), "int", ("", name))

    def word(self, slot: str, what: str, record: Record | None = None) -> str:
        """A word of a record where it is stored."""
        record = record or self.record
        self.kernel.uses("natural")
        return f"{record.records(self.kernel)}[natural({slot} * {record.width} + {record.place_of('', what)})]"

    def key_of_owner(self, index: list[str], of_key: list[str]) -> list[str]:
        return [*index, *of_key] if self.of_keys is None else index

    def check_room(self, windows: int) -> None:
        for table in (self.record, self.owner, self.of_keys):
            if table is not None:
                check_room(self.kernel, table, windows)

    # Lines for the end of a tuple: there is room, and nothing can fail any more. -----------------------------------

    def emptied(self, owner: str) -> list[str]:
        """Lines that close all of a list."""
        assert self.owner is not None
        at = self.kernel.writer.fresh("at")
        return [
            f"{at} = {self.word(owner, 'head', self.owner)}",
            f"while {at} >= 0:",
            f"    {self.word(at, 'size')} = 0",
            *(f"    {line}" for line in marked(self.kernel, self.record, at)),
            f"    {at} = {self.word(at, 'next')}",
            f"{self.word(owner, 'head', self.owner)} = -1",
            f"{self.word(owner, 'last', self.owner)} = -1",
            *marked(self.kernel, self.owner, owner),
        ]

    def linked(self, slot: str, end: str, index: list[str], of_key: list[str], owner: str = "") -> list[str]:
        """Lines that put a record into the list of its window; `owner` is the slot of that, if it was searched for."""
        if self.owner is None:
            return []
        kernel, fresh = self.kernel, self.kernel.writer.fresh
        after, follower = fresh("after"), fresh("follower")
        words, search = self.key_of_owner(index, of_key), []
        if not owner:
            owner = fresh(f"{self.owner.prefix}_slot")
            search = [f"{owner} = {found_by(kernel, self.owner, words)}"]
        names = {each.path[1]: each.name for each in self.owner.words}
        new = [f"{name} = {0 if what == 'tuples' else -1}" for what, name in names.items()]
        head, last = (self.word(owner, what, self.owner) for what in ("head", "last"))
        lines = [
            *search,
            f"if {owner} < 0:",
            *(f"    {line}" for line in (*new, *stored_as_new(kernel, self.owner, owner, words))),
            f"{after} = {last}",
        ]
        if self.of_keys is not None:
            lines += self._behind_its_key(slot, end, [*index, *of_key], after)
        return [
            *lines,
            f"{follower} = -1",
            f"if {after} < 0:",
            f"    {head} = {slot}",
            "else:",
            f"    {follower} = {self.word(after, 'next')}",
            f"    {self.word(after, 'next')} = {slot}",
            *(f"    {line}" for line in marked(kernel, self.record, after)),
            f"{self.word(slot, 'next')} = {follower}",
            f"if {after} == {last}:",
            f"    {last} = {slot}",
            *marked(kernel, self.owner, owner),
        ]

    def _behind_its_key(self, slot: str, end: str, words: list[str], after: str) -> list[str]:
        """Where groups of the key are in the window, `after` is the last of them; and this one is from now on."""
        kernel, keys = self.kernel, self.of_keys
        assert keys is not None
        key = kernel.writer.fresh(f"{keys.prefix}_slot")
        names = {each.path[1]: each.name for each in keys.words}
        return [
            f"{key} = {found_by(kernel, keys, words)}",
            f"if {key} >= 0 and {self.word(key, 'end', keys)} == {end}:",
            f"    {after} = {self.word(key, 'tail', keys)}",
            f"{names['tail']}, {names['end']} = {slot}, {end}",
            f"if {key} < 0:",
            *(f"    {line}" for line in stored_as_new(kernel, keys, key, words)),
            "else:",
            *(f"    {line}" for line in (*keys.store(kernel, key), *marked(kernel, keys, key))),
        ]


def kept(code: WindowCode, slot: str, words: list[str]) -> list[str]:
    """Lines that store a record which may be new."""
    kernel, record = code.kernel, code.record
    return [
        f"if {slot} < 0:",
        *(f"    {line}" for line in stored_as_new(kernel, record, slot, words)),
        "else:",
        *(f"    {line}" for line in (*record.store(kernel, slot), *marked(kernel, record, slot))),
    ]


# By count, with a key and groups ------------------------------------------------------------------------------------


def by_count(code: WindowCode, item: Value) -> None:
    """A window of a key closes with its n-th tuple, whose group may be new to it."""
    kernel, writer, lists = code.kernel, code.kernel.writer, code.lists
    assert lists is not None
    assert lists.owner is not None
    words = named_words(kernel, code.record, code.key(item))
    of_key = words[: code.record.of_key]
    owner, tuples, head = (writer.fresh(f"{lists.owner.prefix}_{what}") for what in ("slot", "tuples", "head"))
    writer.line(f"{owner}, {tuples}, {head} = {found_by(kernel, lists.owner, of_key)}, 0, -1")
    with writer.block(f"if {owner} >= 0:"):
        writer.line(f"{tuples} = {lists.word(owner, 'tuples', lists.owner)}")
        writer.line(f"{head} = {lists.word(owner, 'head', lists.owner)}")
    lists.check_room(1)
    slot, arrivals = writer.fresh(f"{code.prefix}_slot"), kernel.cell(f"{code.prefix}_arrivals")
    code.slot = slot
    is_new = writer.fresh("is_new_group")
    writer.line(f"{slot} = {found_by(kernel, code.record, words)}")
    writer.line(f"{is_new} = {slot} < 0 or {lists.word(slot, 'size')} == 0")
    with writer.block(f"if {is_new}:"):
        writer.line(f"{code.word('opened', 'int')} = {arrivals}")
        writer.line(f"{code.word('next', 'int')} = -1")
        code.begin(item)
    with writer.block("else:"):
        for line in code.record.load(kernel, slot):
            writer.line(line)
        code.add(item)
    with writer.block(f"if {tuples} + 1 == {int(code.definition.window.length)}:"):
        _emit_with(code, lists, slot, head, is_new)
        closed = [*lists.emptied(owner), f"{lists.word(owner, 'tuples', lists.owner)} = 0"]
        kernel.commit([f"{arrivals} += 1", f"if {owner} >= 0:", *(f"    {line}" for line in closed)])
    with writer.block("else:"):
        kernel.commit([
            f"{arrivals} += 1",
            *kept(code, slot, words),
            f"if {is_new}:",
            *(f"    {line}" for line in lists.linked(slot, "0", [], of_key, owner)),
            f"{lists.word(owner, 'tuples', lists.owner)} += 1",
            *marked(kernel, lists.owner, owner),
            *code.store_values(),
        ])  # fmt: skip


_OWN = "-2"  # in place of a slot: the group of the current tuple, which has none yet


def _emit_with(code: WindowCode, lists: Lists, slot: str, head: str, is_new: str) -> None:
    """The groups of a window that the current tuple closes, and perhaps one of its own behind them."""
    kernel, writer = code.kernel, code.kernel.writer
    at, mine = writer.fresh("at"), writer.fresh("mine")
    writer.line(f"{mine} = {_OWN} if {is_new} else {slot}")
    writer.line(f"{at} = {head} if {head} >= 0 else {_OWN}")
    with kernel.in_loop(), writer.block(f"while {at} != -1:"):
        code.emit_record(at, mine=mine)
        with writer.block(f"if {at} == {_OWN}:"):
            writer.line(f"{at} = -1")
        with writer.block("else:"):
            writer.line(f"{at} = {lists.word(at, 'next')}")
            with writer.block(f"if {at} < 0 and {is_new}:"):
                writer.line(f"{at} = {_OWN}")


# By time ------------------------------------------------------------------------------------------------------------


def by_time(code: WindowCode, item: Value) -> None:
    """Windows that slide by the key's clock, or have groups which close by it, or slide with a key and groups."""
    kernel, writer, lists, many = code.kernel, code.kernel.writer, code.lists, code.overlapping
    assert lists is not None
    assert lists.clock is not None
    clock, time = lists.clock, code.time(item)
    words = named_words(kernel, code.record, code.key(item))
    of_key = words[: code.record.of_key]
    number_texts(code, item)
    clock.find(of_key)
    passage = clock.passage(time, lambda boundary: _emit_ended(code, lists, boundary, of_key))
    with writer.block(f"if {passage.is_late}:"):
        code.late(item)
    with writer.block("else:"):
        lists.check_room(many)
        for each in code.distinct:
            each.check_room(many)
        if any(each.can_fail for each in code.accumulators.values()):
            for line in _join_lines(code, lists, item, words, passage, is_trial=True):
                writer.line(line)
        crossed = [*_close_lines(code, lists, passage.boundary, of_key), *clock.moved(passage)]
        kernel.commit([
            f"if {passage.crosses}:",
            *(f"    {line}" for line in crossed),
            *_join_lines(code, lists, item, words, passage, is_trial=False),
        ])  # fmt: skip


def clock(code: WindowCode, time: str) -> None:
    """Only the time of a tuple that others have, where all keys have one clock."""
    lists = code.lists
    assert lists is not None
    assert lists.clock is not None
    passage = lists.clock.passage(time, lambda boundary: _emit_ended(code, lists, boundary, []))
    crossed = [*_close_lines(code, lists, passage.boundary, []), *lists.clock.moved(passage)]
    code.kernel.commit([f"if {passage.crosses}:", *(f"    {line}" for line in crossed)])


def _index(code: WindowCode, end: str) -> list[str]:
    """Write what stands for an end in the keys of records."""
    if code.overlapping == 1:
        return ["0"]
    index = code.kernel.writer.fresh("index")
    code.kernel.writer.line(f"{index} = {end} % {code.overlapping}")
    return [index]


@contextmanager
def _each_ended(code: WindowCode, lists: Lists, boundary: str, of_key: list[str]) -> Iterator[tuple[str, str]]:
    """A loop over the windows that end up to a boundary: their ends, and the slots of what they are known by."""
    kernel, writer, clock = code.kernel, code.kernel.writer, lists.clock
    assert clock is not None
    end, slot = writer.fresh("end"), writer.fresh("ended")
    last = f"min({boundary}, {clock.reached} + {code.overlapping})"
    with writer.block(f"for {end} in range({clock.reached} + 1, {last} + 1):"):
        if lists.owner is None:
            writer.line(f"{slot} = {found_by(kernel, code.record, [*_index(code, end), *of_key])}")
            condition = f"if {slot} >= 0 and {lists.word(slot, 'size')} != 0:"
        else:
            key = lists.key_of_owner(_index(code, end), of_key)
            writer.line(f"{slot} = {found_by(kernel, lists.owner, key)}")
            condition = f"if {slot} >= 0:"
        with writer.block(condition):
            yield end, slot


def _emit_ended(code: WindowCode, lists: Lists, boundary: str, of_key: list[str]) -> None:
    writer = code.kernel.writer
    with code.kernel.in_loop(), _each_ended(code, lists, boundary, of_key) as (end, slot):
        if lists.owner is None:
            code.emit_record(slot, end)
            return
        at = writer.fresh("at")
        writer.line(f"{at} = {lists.word(slot, 'head', lists.owner)}")
        with writer.block(f"while {at} >= 0:"):
            code.emit_record(at, end)
            writer.line(f"{at} = {lists.word(at, 'next')}")


def _close_lines(code: WindowCode, lists: Lists, boundary: str, of_key: list[str]) -> list[str]:
    """Lines that empty what was emitted."""
    writer = code.kernel.writer
    assert lists.clock is not None
    with (
        writer.aside() as written,
        writer.block(f"if {lists.clock.begun} != 0:"),
        _each_ended(code, lists, boundary, of_key) as (_, slot),
    ):
        if lists.owner is None:
            closed = [f"{lists.word(slot, 'size')} = 0", *marked(code.kernel, code.record, slot)]
        else:
            closed = lists.emptied(slot)
        for line in closed:
            writer.line(line)
    return written


def _join_lines(
    code: WindowCode, lists: Lists, item: Value, words: list[str], passage: Passage, *, is_trial: bool
) -> list[str]:
    """Lines by which a tuple joins its windows; a trial only sees whether that can be done."""
    kernel, writer, arrivals = code.kernel, code.kernel.writer, code.kernel.cell(f"{code.prefix}_arrivals")
    end, slot = writer.fresh("end"), writer.fresh(f"{code.prefix}_slot")
    with writer.aside() as written, writer.block(f"for {end} in range({passage.first}, {passage.last} + 1):"):
        index = _index(code, end)
        writer.line(f"{slot} = {found_by(kernel, code.record, [*index, *words])}")
        # In a trial, a window that this tuple closes may still stand where it begins another.
        is_open = f"{lists.word(slot, 'size')} != 0 and {lists.word(slot, 'end')} == {end}"
        with writer.block(f"if {slot} >= 0 and {is_open}:"):
            for line in code.record.load(kernel, slot):
                writer.line(line)
            code.add(item)
            if not is_trial:
                for line in (*code.record.store(kernel, slot), *marked(kernel, code.record, slot)):
                    writer.line(line)
        with writer.block("else:"):
            code.begin(item)
            if not is_trial:
                begun = [f"{code.word('end', 'int')} = {end}", f"{code.word('opened', 'int')} = {arrivals}"]
                if lists.owner is not None:
                    begun.append(f"{code.word('next', 'int')} = -1")
                linked = lists.linked(slot, end, index, words[: code.record.of_key])
                for line in (*begun, f"{arrivals} += 1", *kept(code, slot, [*index, *words]), *linked):
                    writer.line(line)
        if not is_trial:
            for line in code.store_values():
                writer.line(line)
    return written if is_trial else without_checks(written)
