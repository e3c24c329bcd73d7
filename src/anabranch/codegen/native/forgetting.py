"""Records of windows that have closed, which the kernel leaves behind (`listed_visits.py`), are forgotten here.

Those of open windows move together; what knew them by their slots follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anabranch.codegen.native.arrays import Array

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState, OperatorState


def forget_closed(state: NativeState, each: OperatorState) -> None:
    """Of the groups of windows, or of the keys that windows have groups of."""
    if each.record.shape == "keys of lists":
        _forget_keys(state, each)
        return
    for other in _beside(state, each, "keys of lists"):
        _forget_keys(state, other)
        state.rebuild(other)
    rows = each.rows(state.count(each.record))
    is_open = rows[:, each.record.place_of("", "size")] != 0
    moved = np.where(is_open, np.cumsum(is_open) - 1, -1)
    _keep(state, each, is_open)
    names = [(each, "next")] if _beside(state, each, "lists") else []
    names += [(other, what) for other in _beside(state, each, "lists") for what in ("head", "last")]
    names += [(other, "tail") for other in _beside(state, each, "keys of lists")]
    for other, what in names:
        slots = other.rows(state.count(other.record))[:, other.record.place_of("", what)]
        slots[slots >= 0] = moved[slots[slots >= 0]]
        other.changed[:] = 1


def _forget_keys(state: NativeState, keys: OperatorState) -> None:
    """Of windows that the stream's clock has closed."""
    reached = state.cell(f"{state.operators[keys.record.windows_of].record.prefix}_reached")
    _keep(state, keys, keys.rows(state.count(keys.record))[:, keys.record.place_of("", "end")] > reached)


def _keep(state: NativeState, each: OperatorState, which: Array) -> None:
    rows = each.rows(state.count(each.record))
    kept = rows[which]
    rows[: len(kept)] = kept
    state.set_cell(f"{each.record.prefix}_count", len(kept))
    each.changed[:] = 1


def _beside(state: NativeState, windows: OperatorState, shape: str) -> list[OperatorState]:
    """The tables of this shape of the same windows."""
    return [
        each
        for each in state.operators.values()
        if each.record.windows_of == windows.record.operator and each.record.shape == shape
    ]
