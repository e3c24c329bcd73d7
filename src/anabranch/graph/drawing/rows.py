"""Which operators stand in one row of a drawing: a long graph is cut, as a text is into lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from anabranch.graph.drawing.geometry import Box
from anabranch.graph.plan import Plan

ROW_WIDTH = 1500.0  # what a row should not exceed
WIDEST = 1.3 * ROW_WIDTH  # what still reads better in one row than in two
_MOST_STREAMS = 2  # between two rows


def cut_into_rows(plan: Plan, boxes: Mapping[str, Box]) -> list[list[str]]:
    """Cut where few streams pass, and around regions rather than through them; one row where that cannot be.

    `boxes` is where the operators would stand if all were in one row.
    """
    columns = _columns(boxes)
    cutter = _Cutter(plan, columns, boxes)
    starts = [0]
    while starts[-1] < len(columns):
        starts.append(cutter.end_of_row(starts[-1]))
    return [[operator_id for column in columns[start:end] for operator_id in column] for start, end in pairwise(starts)]


def _columns(boxes: Mapping[str, Box]) -> list[list[str]]:
    """Operators by their place, from left to right."""
    columns: dict[int, list[str]] = {}
    for operator_id, box in boxes.items():
        columns.setdefault(round(box.x + box.width / 2), []).append(operator_id)
    return [columns[place] for place in sorted(columns)]


class _Cutter:
    """Knows for every column what passes its left side."""

    def __init__(self, plan: Plan, columns: Sequence[Sequence[str]], boxes: Mapping[str, Box]) -> None:
        self.count = len(columns)
        self.left = [min(boxes[operator_id].x for operator_id in column) for column in columns]
        self.right = [max(boxes[operator_id].right for operator_id in column) for column in columns]
        column_of = {operator_id: number for number, column in enumerate(columns) for operator_id in column}
        self.passing = [0] * self.count
        self.furthest = [0] * self.count  # the last column that a passing stream goes to
        self.tears = [False] * self.count  # whether it is inside a region
        for edge in plan.graph.edges:
            first, last = sorted((column_of[edge.source], column_of[edge.target]))
            region = plan.region_of(edge.source)
            for cut in range(first + 1, last + 1):
                self.passing[cut] += _MOST_STREAMS + 1 if edge.is_feedback else 1  # a loop stays together
                self.furthest[cut] = max(self.furthest[cut], last)
                self.tears[cut] |= region is not None and region is plan.region_of(edge.target)

    def end_of_row(self, start: int) -> int:
        """The best end of a row that begins with a column: as long as fits, whole regions before torn ones."""
        if self._width(start, self.count) <= WIDEST:
            return self.count
        possible = [cut for cut in range(start + 1, self.count) if self._may_end(start, cut)]
        fitting = [cut for cut in possible if self._width(start, cut) <= self._limit(cut)]
        if fitting:
            return min(fitting, key=lambda cut: (self.tears[cut], -cut))
        return min(possible, default=self.count)

    def _limit(self, cut: int) -> float:
        """A row may be a little longer where that keeps a region together."""
        return ROW_WIDTH if self.tears[cut] else 1.15 * ROW_WIDTH

    def _may_end(self, start: int, cut: int) -> bool:
        """Few streams pass, none passes the row as a whole, and what is before and behind is worth a row."""
        if not 0 < self.passing[cut] <= _MOST_STREAMS or self.furthest[start] >= cut:
            return False
        return self._width(start, cut) >= ROW_WIDTH / 2 and self._width(cut, self.count) >= ROW_WIDTH / 5

    def _width(self, start: int, end: int) -> float:
        return max(self.right[start:end]) - self.left[start]
