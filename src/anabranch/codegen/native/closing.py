"""The order in which windows close that no tuple closes: at a punctuation or at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anabranch.codegen.native.arrays import Array
from anabranch.codegen.native.records import Record
from anabranch.codegen.native.state import NativeState


def closing_order(state: NativeState, record: Record) -> Array:
    """The slots of open windows, in the order in which they close at a punctuation or at the end."""
    count = state.count(record)
    rows = state.operators[record.operator].rows(count)

    def column(what: str) -> Array:
        found: Array = rows[:, record.place_of("", what)]
        return found

    slots: Array = np.arange(count, dtype=np.int64)
    match record.shape:
        case _ if not record.is_keyed:
            slots = slots[column("size") != 0]
        case "shared clock" | "count of groups" | "punctuated":
            return _together(slots, rows[:, : record.of_key]) if record.of_key else slots
        case "sliding time":
            return np.argsort(rows[:, 0], kind="stable")  # by their ends
        case "sliding count":
            return _by_oldest(slots, rows, record, column)
        case "listed count":
            slots = _first_come(slots, column("size"), column("opened"))
            return _together(slots, rows[slots, : record.of_key])
        case "listed time":
            slots = _first_come(slots, column("size"), column("opened"))
            slots = slots[np.argsort(column("end")[slots], kind="stable")]
            return _together(slots, np.column_stack([column("end")[slots], rows[slots, 1 : 1 + record.of_key]]))
        case "count":
            slots = _first_come(slots, column("size"), column("opened"))
        case _:
            is_open = column("size") != 0
            slots = slots[is_open][np.lexsort((column("opened")[is_open], column("reached")[is_open]))]
    return slots


def _first_come(slots: Array, sizes: Array, opened: Array) -> Array:
    """Those of open windows, in the order of their first tuples."""
    is_open = sizes != 0
    found: Array = slots[is_open][np.argsort(opened[is_open], kind="stable")]
    return found


def _together(slots: Array, words: Array) -> Array:
    """Those with the same words together, in the order of the first of them: the groups of each key."""
    if not len(slots):
        return slots
    _, first, key = np.unique(words, axis=0, return_index=True, return_inverse=True)
    found: Array = slots[np.argsort(first[key.ravel()], kind="stable")]
    return found


def _by_oldest(slots: Array, rows: Array, record: Record, column: Callable[[str], Array]) -> Array:
    """Of sliding windows by count, those with tuples that were in no output yet, by the arrival of their oldest."""
    starts = np.where(column("filled") * record.entry < record.tail, 0, column("position"))
    oldest = rows[slots, record.width - record.tail + starts * record.entry]
    is_open = column("since") != 0
    found: Array = slots[is_open][np.argsort(oldest[is_open], kind="stable")]
    return found
