"""The rows "`join`", "`merge_by(a)`", "`barrier`" and "`sort(count=n)`".

"`join`": "a tuple arriving on one input meets the other's window, oldest first, then enters its own. Windows by time
hold what is newer than (largest time on either input - length); by count, the last n; `count=0`: only the arriving
tuple". "`merge_by(a)`": "emits the smallest head; waits for all inputs; ties in order of the arguments". "`barrier`":
"the n-th tuples of all inputs make the n-th output". "`sort(count=n)`": "a buffer of n: when full, the smallest leaves;
ties by arrival".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import anabranch as ab


class Event(NamedTuple):
    side: str
    ts: int
    name: str


class Met(NamedTuple):
    left: str
    right: str


def together(left: Event, right: Event) -> Met:
    return Met(left.name, right.name)


def events(text: str) -> ab.Stream[Event]:
    """`L3` is a tuple for the left input at time 3; each is named by its place: L3#0."""
    words = text.split()
    return ab.from_items(Event, [Event(word[0], int(word[1:]), f"{word}#{n}") for n, word in enumerate(words)])


def joined(text: str, left: ab.Window, right: ab.Window) -> list[str]:
    lines: list[str] = []
    source = events(text)
    seen = source.for_each(lambda e: lines.append(e.name))
    sides = source.split({"left": lambda e: e.side == "L", "right": lambda e: True})
    met = sides.left.join(sides.right, left=left, right=right, match=lambda one, other: True, out=together)
    ab.run(seen, met.for_each(lambda m: lines.append(f"{m.left} {m.right}")))
    return lines


def last(count: int) -> ab.Window:
    return ab.sliding(count=count)


def newer(seconds: int) -> ab.Window:
    return ab.sliding(seconds=seconds, on="ts")


# join --------------------------------------------------------------------------------------------------------------


def test_join_an_arriving_tuple_meets_the_other_window_oldest_first_then_enters_its_own() -> None:
    assert joined("L0 R0 L0 R0", last(9), last(9)) == [
        "L0#0",
        "R0#1", "L0#0 R0#1",
        "L0#2", "L0#2 R0#1",
        "R0#3", "L0#0 R0#3", "L0#2 R0#3",
    ]  # fmt: skip


def test_join_by_count_the_last_n_can_be_met() -> None:
    assert joined("L0 L1 L2 R3", last(2), last(2))[3:] == ["R3#3", "L1#1 R3#3", "L2#2 R3#3"]


def test_join_with_count_0_only_the_arriving_tuple_meets_the_other_side() -> None:
    assert joined("L0 R1 L2 R3", last(0), last(9)) == ["L0#0", "R1#1", "L2#2", "L2#2 R1#1", "R3#3"]


def test_join_by_time_what_is_newer_than_the_largest_time_minus_the_length_can_be_met() -> None:
    assert joined("L0 L1 L5 R10 L10 R11", newer(5), newer(5)) == [
        "L0#0", "L1#1", "L5#2",
        "R10#3",  # 5 is not newer than 10 - 5
        "L10#4", "L10#4 R10#3",
        "R11#5", "L10#4 R11#5",
    ]  # fmt: skip


def test_join_the_largest_time_is_that_of_either_input() -> None:
    # the R9 makes the L3 too old, although no other L has come
    assert joined("L3 R9 R3", newer(5), newer(5)) == ["L3#0", "R9#1", "R3#2"]


def test_join_a_tuple_that_comes_too_late_still_meets_the_other_window_but_nobody_meets_it() -> None:
    assert joined("R10 L2 R10", newer(5), newer(5)) == ["R10#0", "L2#1", "L2#1 R10#0", "R10#2"]


def test_join_the_oldest_is_the_one_that_arrived_first() -> None:
    assert joined("L5 L3 R5", newer(9), newer(9)) == ["L5#0", "L3#1", "R5#2", "L5#0 R5#2", "L3#1 R5#2"]


# merge_by ----------------------------------------------------------------------------------------------------------


def parts(text: str, names: str, lines: list[str]) -> tuple[ab.Sink, list[ab.Stream[Event]]]:
    source = events(text)
    seen = source.for_each(lambda e: lines.append(e.name))
    return seen, list(source.split(lambda e: e.side, list(names)))


def merged(text: str, names: str) -> list[str]:
    lines: list[str] = []
    seen, streams = parts(text, names, lines)
    ab.run(seen, ab.merge_by("ts", *streams).for_each(lambda e: lines.append(f"> {e.name}")))
    return lines


def test_merge_by_waits_for_all_inputs_and_emits_the_smallest_head() -> None:
    assert merged("A1 A2 B5 C4 C9 A7", "ABC") == [
        "A1#0", "A2#1", "B5#2",  # nothing from C yet
        "C4#3", "> A1#0", "> A2#1",  # now A is waited for
        "C9#4",
        "A7#5", "> C4#3", "> B5#2",
        "> A7#5", "> C9#4",  # the end
    ]  # fmt: skip


def test_merge_by_of_equal_heads_that_of_the_first_argument_leaves_first() -> None:
    assert merged("C1 B1 A1 A1", "ABC") == ["C1#0", "B1#1", "A1#2", "> A1#2", "A1#3", "> A1#3", "> B1#1", "> C1#0"]


def test_merge_by_inputs_need_not_be_sorted() -> None:
    # heads 5 3 -> B; 5 1 -> B; then, with B gone, the rest of A as it came
    assert merged("A5 B3 A2 B1", "AB")[-2:] == ["> A5#0", "> A2#2"]


# barrier -----------------------------------------------------------------------------------------------------------


def test_barrier_the_nth_tuples_of_all_inputs_make_the_nth_output() -> None:
    lines: list[str] = []
    seen, streams = parts("A1 A2 B3 B4 B5 A6 B7", "AB", lines)
    pairs = ab.barrier(*streams, out=together)
    ab.run(seen, pairs.for_each(lambda m: lines.append(f"{m.left} {m.right}")))
    assert lines == [
        "A1#0", "A2#1",
        "B3#2", "A1#0 B3#2",
        "B4#3", "A2#1 B4#3",
        "B5#4", "A6#5", "A6#5 B5#4",
        "B7#6",  # has no partner
    ]  # fmt: skip


# sort --------------------------------------------------------------------------------------------------------------


def sorted_by(text: str, count: int, by: Any = "ts") -> list[str]:
    lines: list[str] = []
    source = events(text)
    seen = source.for_each(lambda e: lines.append(e.name))
    ab.run(seen, source.sort(by, count=count).for_each(lambda e: lines.append(f"> {e.name}")))
    return lines


def test_sort_when_the_buffer_is_full_the_smallest_leaves() -> None:
    assert sorted_by("A5 A3 A4 A1 A6", 3) == [
        "A5#0", "A3#1",
        "A4#2", "> A3#1",
        "A1#3", "> A1#3",  # smaller than what has left already: a buffer of 3 is all there is
        "A6#4", "> A4#2",
        "> A5#0", "> A6#4",
    ]  # fmt: skip


def test_sort_ties_leave_in_order_of_arrival() -> None:
    assert [line for line in sorted_by("A2 A1 A2 A1 A2", 5) if line.startswith(">")] == [
        "> A1#1", "> A1#3", "> A2#0", "> A2#2", "> A2#4",
    ]  # fmt: skip


def test_sort_by_several_attributes_compares_them_in_turn() -> None:
    assert [line for line in sorted_by("B1 A2 A1 B0", 9, ["side", "ts"]) if line.startswith(">")] == [
        "> A1#2", "> A2#1", "> B0#3", "> B1#0",
    ]  # fmt: skip
