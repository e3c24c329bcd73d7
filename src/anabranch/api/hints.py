"""What a user may tell the compiler: `declare` overrides an analysis, `ranges` chooses how a key is routed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from anabranch.api.where import caller
from anabranch.errors import BuildError, Location
from anabranch.operators.process import RangeKey

F = TypeVar("F", bound=Callable[..., Any])

_STATES = ("stateless", "partitioned", "stateful")
_SELECTIVITIES = ("1:1", "1:[0,1]", "1:[0,inf)")


@dataclass(frozen=True)
class Declaration:
    """An override of what the compiler would find by itself, with the reason for it."""

    because: str
    state: str | None = None
    selectivity: str | None = None
    forwards: tuple[tuple[str, str], ...] | None = None
    location: Location | None = None


def declare(
    *,
    because: str,
    state: Literal["stateless", "partitioned", "stateful"] | None = None,
    selectivity: Literal["1:1", "1:[0,1]", "1:[0,inf)"] | None = None,
    forwards: Sequence[str] | Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Tell the compiler what it cannot see. It is believed, so a reason is asked for; `explain` prints it.

    `forwards` names attributes that leave as they came, or maps output names to input names.

    >>> import anabranch as ab
    >>> @ab.declare(state="stateless", because="the C library keeps nothing between calls")
    ... def score(text): ...
    """
    where = caller().location
    if not isinstance(because, str) or not because.strip():
        raise BuildError(
            "declare needs a reason",
            location=where,
            hint='say why it holds: because="the cache never changes results"',
        )
    if state is not None and state not in _STATES:
        raise BuildError(f"state={state!r} is unknown", location=where, hint=f"use one of {', '.join(_STATES)}")
    if selectivity is not None and selectivity not in _SELECTIVITIES:
        raise BuildError(
            f"selectivity={selectivity!r} is unknown",
            location=where,
            hint=f"use one of {', '.join(_SELECTIVITIES)}",
        )
    pairs = None
    if forwards is not None:
        forwards = [forwards] if isinstance(forwards, str) else forwards
        items = forwards.items() if isinstance(forwards, Mapping) else [(name, name) for name in forwards]
        pairs = tuple(sorted((str(out), str(into)) for out, into in items))
    declaration = Declaration(because.strip(), state, selectivity, pairs, where)

    def attach(target: F) -> F:
        target.__anabranch_declared__ = declaration  # type: ignore[attr-defined]  # read by the analysis
        return target

    return attach


def ranges(attribute: str, bounds: Sequence[Any]) -> RangeKey:
    """A key that is routed by ranges of its values instead of by hash; the result is the same.

    Values below the first bound go to one channel, those from it up to the next to another, and so on.

    >>> import anabranch as ab
    >>> ab.ranges("price", [10.0, 100.0])
    RangeKey(attribute='price', bounds=(10.0, 100.0))
    """
    listed = tuple(bounds)
    try:
        is_rising = all(one < other for one, other in itertools.pairwise(listed))
    except TypeError:
        is_rising = False
    if not listed or not is_rising:
        raise BuildError(
            f"the bounds of ranges are {list(listed)}, not one or more values in rising order",
            location=caller().location,
            hint='for example ab.ranges("price", [10.0, 100.0])',
        )
    return RangeKey(attribute, listed)
