"""What arguments make of a call of numpy: whether it may write into them, or leave its result as it was in memory."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from anabranch.analysis.purity import is_numpy_ufunc
from anabranch.analysis.words import words

# What these give is new, whatever they are given; others may give back their argument, or a view on it.
ALWAYS_NEW = words(
    """all allclose any arange argmax argmin argsort array array_equal average bincount cholesky concatenate
    convolve corrcoef count_nonzero cov cross cumprod cumsum det digitize dot empty eye full full_like geomspace
    hstack identity inner interp inv isin kron linspace logspace mean nanmax nanmean nanmin nanstd nansum nanvar
    norm ones ones_like outer percentile pinv polyfit polyval prod ptp quantile searchsorted solve sort stack std
    sum tile vander var vdot vstack where zeros zeros_like"""
)
_WRITING = words("out copy overwrite_input overwrite_a overwrite_b")


def may_write_to_arguments(function: Any, positional: int, keywords: Iterable[str | None]) -> bool:
    """`keywords` has None for a `**` whose names are not known."""
    if str(getattr(function, "__module__", None)).partition(".")[0] != "numpy" and not is_numpy_ufunc(function):
        return "out" in keywords
    return any(name is None or name in _WRITING for name in keywords) or positional > _harmless_positions(function)


def may_leave_unset(function: Any, positional: int, keywords: Collection[str | None], node: ast.AST) -> bool:
    """Whether parts of what numpy gives may be whatever was in memory there."""
    if is_numpy_ufunc(function):
        return None in keywords or ("where" in keywords and "out" not in keywords)
    if (
        getattr(function, "__name__", None) != "pad"
        or str(getattr(function, "__module__", None)).partition(".")[0] != "numpy"
    ):
        return False
    if positional <= 2 and not {"mode", None} & set(keywords):
        return False
    given = (
        [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "mode")] if isinstance(node, ast.Call) else []
    )
    return not (len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value not in ("empty", b"empty"))


@cache
def _harmless_positions(function: Any) -> int:
    """How many arguments a function takes before the first that it may write to, or that lets it write."""
    if is_numpy_ufunc(function):
        return int(function.nin)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 2  # a function in C that does not say: dot(a, b, out)
    for position, parameter in enumerate(parameters):
        if parameter.name in _WRITING:
            return position
    has_more = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return 2 if has_more and function.__name__ in ("dot", "concatenate") else len(parameters) + 100 * has_more
