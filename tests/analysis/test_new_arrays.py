"""What is listed as giving new arrays gives no view on what it is given, whatever else it is given."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from anabranch.analysis.array_arguments import ALWAYS_NEW, may_write_to_arguments

ARRAYS = [
    np.array([1.0, 2.0, 3.0]),
    np.array([[2.0, 1.0], [1.0, 3.0]]),
    np.array(2.0),
    np.array([1, 2, 3]),
    np.array([True, False, True]),
    np.array([1.0]),
]
OTHERS: list[Any] = [0, 1, -1, (), (0,), None, True, 3.0, [1.0, 2.0, 3.0]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ALWAYS_NEW))
def test_it_gives_no_view_on_what_it_is_given(name: str) -> None:
    function = getattr(np, name, None) or getattr(np.linalg, name)
    for array, count in itertools.product(ARRAYS, (0, 1, 2)):
        for others in itertools.product([*OTHERS, ARRAYS[0]], repeat=count):
            for position in range(count + 1):
                given = [*others[:position], array, *others[position:]]
                if may_write_to_arguments(function, len(given), []):
                    continue  # and then give what they wrote to
                try:
                    result = function(*given)
                except Exception:  # most of these make no sense
                    continue
                assert not _is_view(result, array), given


def _is_view(result: Any, array: Any) -> bool:
    if isinstance(result, np.ndarray):
        return np.shares_memory(result, array)
    return isinstance(result, list | tuple) and any(_is_view(part, array) for part in result)
