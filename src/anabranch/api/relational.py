"""Relational operators: `join`, `sort`, `distinct`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from anabranch.api.base import StreamBase, check_attributes, check_count, check_stream
from anabranch.api.pairing import combiner
from anabranch.api.signatures import check_takes
from anabranch.api.where import Caller, caller
from anabranch.api.windows import check_window
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import Schema
from anabranch.graph.windows import Window
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.operators.sort import Sort

if TYPE_CHECKING:
    from anabranch.api.stream import Stream

T = TypeVar("T")
R = TypeVar("R")


class RelationalOperators(StreamBase[T]):
    """Operators known from relational algebra, over windows."""

    def join(
        self,
        other: Stream[R],
        *,
        left: Window,
        right: Window,
        on: str | list[str] | tuple[str, ...] | Mapping[str, str] | None = None,
        match: Callable[[T, R], object] | None = None,
        out: Any = None,
        on_error: str = "stop",
    ) -> Stream[Any]:
        """Pairs of tuples of two streams that are in each other's windows and match.

        A tuple meets the other stream's window, oldest first, then enters its own. `on` names attributes that must
        be equal (a mapping where the names differ: `{"symbol": "sym"}`), `match` is any condition on both tuples.
        `out` is a NamedTuple filled with the two tuples or by attribute name, or a function of both.
        `ab.sliding(count=0)` keeps nothing: only arriving tuples of that side look for partners.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Order(NamedTuple):
        ...     id: int
        ...     ts: float
        >>> class Payment(NamedTuple):
        ...     id: int
        ...     amount: float
        ...     ts: float
        >>> class Paid(NamedTuple):
        ...     id: int
        ...     amount: float
        >>> orders = ab.from_items(Order, [Order(1, 0.0), Order(2, 5.0)], order_by="ts")
        >>> payments = ab.from_items(Payment, [Payment(2, 9.5, 7.0), Payment(1, 3.0, 99.0)], order_by="ts")
        >>> minute = ab.sliding(seconds=60, on="ts")
        >>> paid = orders.join(payments, left=minute, right=minute, on="id", out=Paid)
        >>> ab.run(paid.collect("out")).items("out")
        [Paid(id=2, amount=9.5)]
        """
        where = caller()
        check_stream(other, where, "the other side of join")
        schemas = (self._schema(), other._schema())
        for side, window, schema in (("left", left, schemas[0]), ("right", right, schemas[1])):
            _check_join_window(side, window, schema, where)
        left_on, right_on = _join_keys(on, *schemas, where)
        if not left_on and match is None:
            raise BuildError(
                "a join needs a condition",
                location=where.location,
                hint='add on="attribute" or match=lambda l, r: …',
            )
        if (left.per_key or right.per_key) and not left_on:
            raise BuildError("a join with per_key=True needs on=", location=where.location, hint='add on="attribute"')
        if left.is_by_time and right.is_by_time:
            _check_comparable_times(left, right, schemas, where)
        if match is not None:
            check_takes("match= of join", match, schemas, where)
        same = [name for name, twin in zip(left_on, right_on, strict=True) if name == twin]
        combine, schema = combiner("join", out, schemas, where, equal=same)
        return self._after(
            Join(left, right, left_on, right_on, match, combine),
            schema,
            where=where,
            others=[other],
            input_names=("left", "right"),
            on_error=on_error,
        )

    def sort(self, by: str | list[str] | tuple[str, ...], *, count: int) -> Stream[T]:
        """Sort within a buffer of `count` tuples: when it is full, the smallest leaves; ties by arrival.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Reading(NamedTuple):
        ...     ts: int
        >>> late = ab.from_items(Reading, [Reading(1), Reading(3), Reading(2), Reading(4)])
        >>> [r.ts for r in ab.run(late.sort("ts", count=2).collect("out")).items("out")]
        [1, 2, 3, 4]
        """
        where = caller()
        names = check_attributes(by, self._schema(), where.location, "sort", suitable="order")
        if not names:
            raise BuildError(
                "sort names no attribute", location=where.location, hint='for example .sort("ts", count=100)'
            )
        check_count(count, "sort", where)
        return self._after(Sort(names, count), self._schema(), where=where)

    def distinct(
        self, key: str | list[str] | tuple[str, ...] | None = None, *, window: Window | None = None
    ) -> Stream[T]:
        """The tuples whose key (all attributes, if none is named) did not occur before, within `window` if given.

        A sliding window looks back over what came before, a tumbling or punctuated one forgets when it ends.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Visit(NamedTuple):
        ...     user: str
        >>> visits = ab.from_items(Visit, [Visit("ann"), Visit("bob"), Visit("ann")])
        >>> ab.run(visits.distinct("user").collect("out")).items("out")
        [Visit(user='ann'), Visit(user='bob')]
        """
        where = caller()
        schema = self._schema()
        named = check_attributes(key, schema, where.location, "key= of distinct", suitable="key")
        if window is not None:
            if not isinstance(window, Window):
                raise BuildError(
                    f"window= of distinct is {shown(window)}, which is not a window",
                    location=where.location,
                    hint="use ab.sliding, ab.tumbling or ab.punctuated",
                )
            check_window(window, schema, where, "distinct")
            _check_no_slide("distinct", window, where)
            if window.per_key or window.clock == "key":
                raise BuildError(
                    "the window of distinct goes over the whole stream",
                    location=where.location,
                    hint="leave per_key= and clock= out; key= says what must be distinct",
                )
        return self._after(Distinct(named or schema.names, window), schema, where=where)


def _check_join_window(side: str, window: Any, schema: Schema, where: Caller) -> None:
    if not isinstance(window, Window) or window.shape != "sliding":
        raise BuildError(
            f"{side}= of join is what a tuple can still meet: a sliding window, not {_shown_window(window)}",
            location=where.location,
            hint='for example ab.sliding(seconds=60, on="ts") or ab.sliding(count=100)',
        )
    _check_no_slide("join", window, where)
    if window.clock == "key":
        raise BuildError(
            f'{side}= of join has clock="key", but a join has one clock for both sides',
            location=where.location,
            hint="leave clock= out",
        )
    check_window(window, schema, where, "join")


def _check_no_slide(what: str, window: Window, where: Caller) -> None:
    """What looks back over a window does so at every tuple; by count, a slide of 1 is what that is called."""
    if window.shape == "sliding" and window.slide not in (None, 1 if window.measure == "count" else None):
        raise BuildError(
            f"the window of {what} moves with every tuple, so slide= means nothing for it",
            location=where.location,
            hint="leave slide= out",
        )


def _shown_window(window: Any) -> str:
    return str(window) if isinstance(window, Window) else shown(window)


def _check_comparable_times(left: Window, right: Window, schemas: tuple[Schema, Schema], where: Caller) -> None:
    """The clock of a join is the largest time on either input, so the two must be on one scale."""
    assert left.on is not None
    assert right.on is not None
    kinds = (schemas[0][left.on].kind, schemas[1][right.on].kind)
    calendar = [kind in ("datetime", "date") for kind in kinds]
    if calendar[0] != calendar[1] or left.measure != right.measure:
        raise BuildError(
            f"the windows of join go by different times: {left}, which is {kinds[0]}, and {right}, which is {kinds[1]}",
            location=where.location,
            hint="let both go by time or both by delta, over attributes of the same kind",
        )


def _join_keys(on: Any, left: Schema, right: Schema, where: Caller) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(on, Mapping):
        left_on = check_attributes(list(on.keys()), left, where.location, "on= of join", suitable="key")
        right_on = check_attributes(list(on.values()), right, where.location, "on= of join", suitable="key")
    else:
        left_on = check_attributes(on, left, where.location, "on= of join", suitable="key")
        right_on = check_attributes(on, right, where.location, "on= of join", suitable="key")
    for one, other in zip(left_on, right_on, strict=True):
        if left[one].without_none() != right[other].without_none():
            raise BuildError(
                f"on= of join compares '{one}', which is {left[one]} in {left.name}, "
                f"with '{other}', which is {right[other]} in {right.name}",
                location=where.location,
                hint="convert one of them in a map before the join",
            )
    return left_on, right_on
