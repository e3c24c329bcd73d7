"""The aggregate functions of a window: what each gives, and its exact sequential meaning.

Values are added in order of arrival, so a float sum has one defined result. `None` is skipped by everything that
computes; NaN is larger than every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from anabranch.errors import BuildError
from anabranch.graph.schema import NUMERIC, ORDERABLE, AttributeType, Schema
from anabranch.graph.values import order_value, value_key
from anabranch.operators.naming import label_of


class Accumulator(Protocol):
    """One aggregate of one window: tuples are added in order, the result is asked for when it closes."""

    def add(self, item: Any) -> None: ...

    def result(self) -> Any: ...


@dataclass(frozen=True)
class Aggregate:
    """A built-in aggregate function applied to an attribute.

    Three are the compiler's own. For the halves of a `count_distinct` there is `distinct_values`, and of many such
    lists `count_values` is the number of different ones; `arg_min` is `arg_max` for the smallest.
    """

    function: str
    attribute: str | None = None
    by: str | None = None
    ddof: int = 1

    def __str__(self) -> str:
        inner = ", ".join(str(name) for name in (self.attribute, self.by) if name)
        return f"{self.function}({inner})"

    @property
    def is_any(self) -> bool:
        """Whether the result is the attribute of a tuple of the window: it forwards a key unchanged."""
        return self.function in ("any_", "first", "last", "arg_max")

    def result_type(self, schema: Schema) -> AttributeType:
        if self.function == "count":
            return AttributeType("int")
        assert self.attribute is not None
        kind = schema[self.attribute]
        match self.function:
            case "count_distinct" | "count_values":
                return AttributeType("int")
            case "collect":
                return AttributeType("list", element=kind)
            case "distinct_values":
                return AttributeType("list", element=replace(kind, optional=False))
            case "mean" | "std":
                _require(kind, (*NUMERIC, "bool"), self)
                return AttributeType("float", optional=kind.optional)
            case "sum_":
                _require(kind, (*NUMERIC, "bool"), self)
                return AttributeType("float" if kind.kind == "float" else "int")
            case "min_" | "max_":
                _require(kind, ORDERABLE, self)
                return kind
            case "arg_max" | "arg_min":
                assert self.by is not None
                _require(schema[self.by], ORDERABLE, self)
                return kind
            case _:
                return kind

    def accumulator(self, schema: Schema) -> Accumulator:
        if self.function == "count":
            return _Count()
        assert self.attribute is not None
        position = schema.names.index(self.attribute)
        kind = schema[self.attribute]
        match self.function:
            case "any_" | "first":
                return _First(position)
            case "last":
                return _Last(position)
            case "sum_":
                return _Sum(position, kind)
            case "mean":
                return _Mean(position, kind)
            case "std":
                return _Deviation(position, self.ddof, kind)
            case "min_":
                return _Extreme(position, largest=False)
            case "max_":
                return _Extreme(position, largest=True)
            case "count_distinct":
                return _Distinct(position, kind)
            case "distinct_values":
                return _DistinctValues(position, kind)
            case "count_values":
                assert kind.element is not None
                return _CountValues(position, kind.element)
            case "collect":
                return _Collect(position)
            case "arg_max" | "arg_min":
                assert self.by is not None
                return _ArgExtreme(position, schema.names.index(self.by), largest=self.function == "arg_max")
        raise AssertionError(self.function)


@dataclass(frozen=True)
class WindowEdge:
    """The start or the end of the window, for windows by time or delta.

    For engines there is also the number of its end, in parts (`INDEX`), since it may be larger than 64 bits.
    """

    edge: str  # start | end | index_size | index_high | index_low

    def __str__(self) -> str:
        return f"window_{self.edge}()"


LOW_BITS = 62  # of the last part of the number of an end
INDEX = ("index_size", "index_high", "index_low")


def index_edges(index: int) -> dict[str, int]:
    """The number of an end as edges that each fit into 64 bits: they have the same order as the number.

    Of a number beyond 124 bits, the highest and the lowest 62 are enough to tell the windows of floats apart.
    """
    size, high = 0, index >> LOW_BITS
    if not -(1 << LOW_BITS) <= high < 1 << LOW_BITS:
        size = index.bit_length() if index > 0 else -index.bit_length()
        high = index >> (index.bit_length() - LOW_BITS)
    return dict(zip(INDEX, (size, high, index & ((1 << LOW_BITS) - 1)), strict=True))


@dataclass(frozen=True)
class UserAggregate:
    """A user's class with `add(self, t)` and `result(self)`."""

    factory: Callable[[], Accumulator]
    type: AttributeType

    def __str__(self) -> str:
        return f"{label_of(self.factory, 'aggregate')}()"


def _require(kind: AttributeType, allowed: tuple[str, ...], aggregate: Aggregate) -> None:
    if kind.kind not in allowed:
        raise BuildError(f"{aggregate} cannot be computed on type {kind}", hint=f"use it on {', '.join(allowed)}")


class _Count:
    def __init__(self) -> None:
        self.count = 0

    def add(self, item: Any) -> None:
        self.count += 1

    def result(self) -> int:
        return self.count


class _First:
    def __init__(self, position: int) -> None:
        self.position = position
        self.has_value = False
        self.value: Any = None

    def add(self, item: Any) -> None:
        if not self.has_value:
            self.has_value = True
            self.value = item[self.position]

    def result(self) -> Any:
        return self.value


class _Last:
    def __init__(self, position: int) -> None:
        self.position = position
        self.value: Any = None

    def add(self, item: Any) -> None:
        self.value = item[self.position]

    def result(self) -> Any:
        return self.value


class _Sum:
    def __init__(self, position: int, kind: AttributeType) -> None:
        self.position = position
        self.total: Any = 0.0 if kind.kind == "float" else 0
        self.count = 0

    def add(self, item: Any) -> None:
        value = item[self.position]
        if value is not None:
            self.total += value
            self.count += 1

    def result(self) -> Any:
        return self.total


class _Mean(_Sum):
    def result(self) -> Any:
        return self.total / self.count if self.count else None


SCALED = 2.0**-600  # so much smaller, no square of a distance and no sum of these is beyond the range of floats


def add_to_spread(value: float, count: int, mean: float, squares: float, scale: float) -> tuple[float, float, float]:
    """Mean, squares of distances and scale with one more value, which is the `count`th, by Welford's recurrence.

    From the first square that is beyond the range of floats on, all is multiplied by a power of two, the scale, which
    changes no digit of it.
    """
    scaled = value * scale
    distance = scaled - mean
    new_mean = mean + distance / count
    new_squares = squares + distance * (scaled - new_mean)
    if not math.isfinite(new_squares) and math.isfinite(value) and math.isfinite(squares):
        return add_to_spread(value, count, mean * SCALED, squares * SCALED * SCALED, scale * SCALED)
    return new_mean, new_squares, scale


class _Deviation:
    """Standard deviation in one pass over the values, so that it has one defined result."""

    def __init__(self, position: int, ddof: int, kind: AttributeType) -> None:
        self.position = position
        self.ddof = ddof
        self.optional = kind.optional
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.scale = 1.0

    def add(self, item: Any) -> None:
        value = item[self.position]
        if value is None:
            return
        self.count += 1
        self.mean, self.squares, self.scale = add_to_spread(value, self.count, self.mean, self.squares, self.scale)

    def result(self) -> Any:
        if self.count == 0 and self.optional:
            return None
        if self.count <= self.ddof:
            return math.nan
        return math.sqrt(self.squares / (self.count - self.ddof)) / self.scale


class _Extreme:
    """The first of the smallest or of the largest values."""

    def __init__(self, position: int, *, largest: bool) -> None:
        self.position = position
        self.largest = largest
        self.value: Any = None

    def add(self, item: Any) -> None:
        value = item[self.position]
        if value is None:
            return
        if self.value is None:
            self.value = value
            return
        new, old = order_value(value), order_value(self.value)
        if (new > old) if self.largest else (new < old):
            self.value = value

    def result(self) -> Any:
        return self.value


class _ArgExtreme:
    """An attribute of the first tuple with the largest or smallest `by`; a tuple without `by` comes last."""

    def __init__(self, position: int, by: int, *, largest: bool) -> None:
        self.position = position
        self.by = by
        self.largest = largest
        self.has_value = False
        self.best: Any = None
        self.value: Any = None

    def add(self, item: Any) -> None:
        rank = item[self.by]
        if not self.has_value or (rank is not None and (self.best is None or self._is_better(rank))):
            self.has_value = True
            self.best = rank
            self.value = item[self.position]

    def _is_better(self, rank: Any) -> bool:
        new, old = order_value(rank), order_value(self.best)
        return bool(new > old) if self.largest else bool(new < old)

    def result(self) -> Any:
        return self.value


class _Distinct:
    def __init__(self, position: int, kind: AttributeType) -> None:
        self.position = position
        self.kind = kind
        self.key = value_key(kind)
        self.seen: set[Any] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        """The key is a function, which cannot be pickled."""
        return type(self), (self.position, self.kind), {"seen": self.seen}

    def add(self, item: Any) -> None:
        value = item[self.position]
        if value is not None:
            self.seen.add(self.key(value))

    def result(self) -> int:
        return len(self.seen)


class _CountValues(_Distinct):
    """The same of lists of values."""

    def add(self, item: Any) -> None:
        self.seen.update(map(self.key, item[self.position]))


class _DistinctValues:
    """The first of all values that are the same."""

    def __init__(self, position: int, kind: AttributeType) -> None:
        self.position = position
        self.kind = kind
        self.key = value_key(kind)
        self.seen: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _DistinctValues, (self.position, self.kind), {"seen": self.seen}

    def add(self, item: Any) -> None:
        value = item[self.position]
        if value is not None:
            self.seen.setdefault(self.key(value), value)

    def result(self) -> list[Any]:
        return list(self.seen.values())


class _Collect:
    def __init__(self, position: int) -> None:
        self.position = position
        self.values: list[Any] = []

    def add(self, item: Any) -> None:
        self.values.append(item[self.position])

    def result(self) -> list[Any]:
        return self.values
