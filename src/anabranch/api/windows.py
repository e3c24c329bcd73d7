"""Windows: `tumbling`, `sliding`, `punctuated`, and what is computed over them."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from anabranch.api.base import StreamBase, check_attributes, check_output_name
from anabranch.api.columns import aggregate_columns
from anabranch.api.signatures import checked_schema
from anabranch.api.where import Caller, caller
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import Schema
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.windows import Axis

if TYPE_CHECKING:
    from anabranch.api.stream import Stream

T = TypeVar("T")
U = TypeVar("U")
Number = int | float
Clock = Literal["stream", "key"]

_SECONDS = {
    "milliseconds": Fraction(1, 1000),
    "seconds": Fraction(1),
    "minutes": Fraction(60),
    "hours": Fraction(3600),
    "days": Fraction(86400),
}


def tumbling(
    *,
    count: int | None = None,
    milliseconds: Number | None = None,
    seconds: Number | None = None,
    minutes: Number | None = None,
    hours: Number | None = None,
    days: Number | None = None,
    delta: Number | None = None,
    on: str | None = None,
    clock: Clock = "stream",
) -> Window:
    """Windows that follow each other without overlap: by `count`, by time, or by `delta` of an attribute.

    Windows by time and delta start at multiples of their length. `on` names the attribute that is the time: a
    datetime, a date, or a number of seconds. `clock="key"` lets every key close its windows by its own time.

    >>> import anabranch as ab
    >>> ab.tumbling(minutes=10, on="ts")
    Window(tumbling(time 600, on ts))
    >>> ab.tumbling(count=100)
    Window(tumbling(count 100))
    """
    units = {
        "milliseconds": milliseconds,
        "seconds": seconds,
        "minutes": minutes,
        "hours": hours,
        "days": days,
    }
    return _window("tumbling", count, units, delta, None, on, clock, per_key=False)


def sliding(
    *,
    count: int | None = None,
    milliseconds: Number | None = None,
    seconds: Number | None = None,
    minutes: Number | None = None,
    hours: Number | None = None,
    days: Number | None = None,
    delta: Number | None = None,
    slide: Number | timedelta | None = None,
    on: str | None = None,
    clock: Clock = "stream",
    per_key: bool = False,
) -> Window:
    """Windows that overlap: a new one every `slide`, in the unit of the length.

    By count: after every `slide` tuples (1 unless said otherwise), over the last `count`. By time and delta: a
    window ends at every multiple of `slide`. In a join there is no slide: the window is what a tuple can still
    meet; `per_key` then keeps the last `count` of every value of `on=`.

    >>> import anabranch as ab
    >>> ab.sliding(seconds=60, slide=10, on="ts")
    Window(sliding(time 60, slide 10, on ts))
    >>> ab.sliding(count=5)
    Window(sliding(count 5, slide 1))
    """
    units = {
        "milliseconds": milliseconds,
        "seconds": seconds,
        "minutes": minutes,
        "hours": hours,
        "days": days,
    }
    return _window("sliding", count, units, delta, slide, on, clock, per_key=per_key)


def punctuated() -> Window:
    """Windows that end where the stream has a punctuation, made by `.punctuate`.

    >>> import anabranch as ab
    >>> ab.punctuated()
    Window(punctuated)
    """
    return Window("punctuated", "punctuation")


def _window(
    shape: Literal["tumbling", "sliding"],
    count: int | None,
    units: dict[str, Number | None],
    delta: Number | None,
    slide: Number | timedelta | None,
    on: str | None,
    clock: Clock,
    *,
    per_key: bool,
) -> Window:
    where = caller().location
    given = {name: amount for name, amount in units.items() if amount is not None}
    measures = [name for name, amount in (("count", count), ("delta", delta)) if amount is not None]
    if len(measures) + bool(given) != 1:
        listed = " and ".join(f"{name}=" for name in [*measures, *given])
        raise BuildError(
            f"a {shape} window has one length, but is given {listed or 'none'}",
            location=where,
            hint=f'for example ab.{shape}(count=100) or ab.{shape}(seconds=10, on="ts")',
        )
    if on is not None and not isinstance(on, str):
        raise BuildError(f"on= names one attribute, but is {shown(on)}", location=where, hint='for example on="ts"')
    if clock not in ("stream", "key"):
        raise BuildError(f"clock={clock!r} is unknown", location=where, hint='use clock="stream" or clock="key"')
    for name, amount in {**given, "count": count, "delta": delta, "slide": slide}.items():
        _check_amount(name, amount, where, zero_allowed=name == "count" and shape == "sliding")
    measure: Literal["count", "time", "delta"] = "count" if count is not None else "time" if given else "delta"
    if measure == "count":
        for name, is_given in (("on=", on is not None), ("clock=", clock != "stream")):
            if is_given:
                raise BuildError(
                    f"a window by count has no time, so {name} means nothing for it",
                    location=where,
                    hint=f"leave {name} out, or give the length in seconds, minutes, …",
                )
        length, unit = Fraction(count or 0), Fraction(1)
    else:
        if on is None:
            raise BuildError(
                f"a window by {measure} needs to know the attribute it goes by",
                location=where,
                hint=f'name it, for example on="{"ts" if measure == "time" else "price"}"',
            )
        if per_key:
            raise BuildError("per_key= is for windows by count", location=where, hint="leave per_key= out")
        unit = _SECONDS[next(iter(given))] if measure == "time" else Fraction(1)
        amounts = given if measure == "time" else {"delta": delta}
        length = sum(
            (_exact(amount) * _SECONDS.get(name, Fraction(1)) for name, amount in amounts.items()),
            Fraction(0),
        )
    if measure == "count" and slide is not None and not isinstance(slide, int):
        raise BuildError(f"slide={slide!r} is not a whole number of tuples", location=where)
    if measure == "delta" and isinstance(slide, timedelta):
        raise BuildError(f"slide={slide!r} is a time, but the window goes by delta", location=where)
    moved: Fraction | None = None
    if isinstance(slide, timedelta):
        moved = Fraction(slide // timedelta(microseconds=1), 1_000_000)
    elif slide is not None:
        moved = _exact(slide) * unit
    elif measure == "count" and shape == "sliding":
        moved = Fraction(1)
    return Window(shape, measure, length, moved, on, clock, per_key)


def _exact(amount: Any) -> Fraction:
    """0.1 seconds means a tenth, not the nearest binary fraction."""
    return Fraction(str(amount))


def _check_amount(name: str, amount: Any, where: Any, *, zero_allowed: bool) -> None:
    if amount is None or (name == "slide" and isinstance(amount, timedelta) and amount > timedelta(0)):
        return
    is_number = isinstance(amount, int | float) and not isinstance(amount, bool) and amount == amount
    if not is_number or amount < 0 or (amount == 0 and not zero_allowed) or amount == float("inf"):
        raise BuildError(f"{name}={amount!r} is not a positive number", location=where)
    if name == "count" and not isinstance(amount, int):
        raise BuildError(f"count={amount!r} is not a whole number of tuples", location=where)


class WindowOperators(StreamBase[T]):
    """Cutting a stream into windows."""

    def window(
        self, window: Window, *, key: str | list[str] | tuple[str, ...] | None = None, late: str | None = None
    ) -> WindowedStream[T]:
        """Cut the stream into windows, with `key` one sequence of windows per value of the key.

        A tuple whose windows have all closed is late: dropped and counted, or sent to the output that `late` names.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Click(NamedTuple):
        ...     user: str
        ...     ts: int
        >>> class Clicks(NamedTuple):
        ...     user: str
        ...     clicks: int
        >>> clicks = ab.from_items(Click, [Click("ann", 1), Click("bob", 2), Click("ann", 3), Click("ann", 11)])
        >>> per_user = clicks.window(ab.tumbling(seconds=10, on="ts"), key="user").aggregate(Clicks, clicks=ab.count())
        >>> ab.run(per_user.collect("out")).items("out")
        [Clicks(user='ann', clicks=2), Clicks(user='bob', clicks=1), Clicks(user='ann', clicks=1)]
        """
        where = caller()
        if not isinstance(window, Window):
            raise BuildError(
                f"{shown(window)} is not a window",
                location=where.location,
                hint="use ab.tumbling, ab.sliding or ab.punctuated",
            )
        schema = self._schema()
        names = check_attributes(key, schema, where.location, "key= of window", suitable="key")
        check_window(window, schema, where, "window")
        if window.per_key:
            raise BuildError(
                "per_key= is for the windows of a join", location=where.location, hint="give window a key= instead"
            )
        if window.length == 0 and window.shape != "punctuated":
            raise BuildError(
                "a window of no tuples has nothing to aggregate", location=where.location, hint="use count=1 or more"
            )
        if window.clock == "key" and not names:
            raise BuildError('clock="key" needs a key', location=where.location, hint='add key="…"')
        if window.shape == "sliding" and window.slide is None:
            raise BuildError(
                "a sliding window by time needs to know how far it moves",
                location=where.location,
                hint="add slide=, in the unit of its length",
            )
        if late is not None and not window.is_by_time:
            raise BuildError(
                "only windows by time or delta have late tuples", location=where.location, hint="leave late= out"
            )
        if late is not None:
            check_output_name(late, where)
        return WindowedStream(self, window, names, late)


def check_window(window: Window, schema: Schema, where: Caller, what: str) -> None:
    """The attribute a window goes by must exist, and its lengths must fit the attribute's type."""
    if window.on is None:
        return
    suitable = "time" if window.measure == "time" else "number"
    check_attributes(window.on, schema, where.location, f"on= of {what}", suitable=suitable)
    with where.blamed():
        Axis(window, schema)


class WindowedStream(Generic[T]):
    """A stream cut into windows; `aggregate` makes it a stream again."""

    def __init__(self, stream: StreamBase[T], window: Window, key: tuple[str, ...], late: str | None) -> None:
        self._stream = stream
        self._window = window
        self._key = key
        self._late = late

    def __repr__(self) -> str:
        return f"<{self._stream!r} in windows {self._window}>"

    def aggregate(
        self,
        out: type[U],
        *,
        group_by: str | list[str] | tuple[str, ...] | None = None,
        on_error: str = "stop",
        **columns: Any,
    ) -> Stream[U]:
        """One tuple of type `out` when a window closes; with `group_by`, one per group, by first arrival.

        Every attribute of `out` is given an aggregate; those named like a key or group attribute may be left out. A
        class with `add(self, t)` and `result(self)` is an aggregate of your own.

        >>> import anabranch as ab
        >>> from typing import NamedTuple
        >>> class Trade(NamedTuple):
        ...     symbol: str
        ...     price: float
        >>> class Range(NamedTuple):
        ...     symbol: str
        ...     low: float
        ...     spread: float
        >>> class Spread:
        ...     def __init__(self):
        ...         self.prices: list[float] = []
        ...     def add(self, t: Trade) -> None:
        ...         self.prices.append(t.price)
        ...     def result(self) -> float:
        ...         return max(self.prices) - min(self.prices)
        >>> trades = ab.from_items(Trade, [Trade("A", 5.0), Trade("B", 1.0), Trade("A", 7.5)])
        >>> ranges = trades.window(ab.tumbling(count=3)).aggregate(
        ...     Range, group_by="symbol", low=ab.min_("price"), spread=Spread)
        >>> ab.run(ranges.collect("out")).items("out")
        [Range(symbol='A', low=5.0, spread=2.5), Range(symbol='B', low=1.0, spread=0.0)]
        """
        where = caller()
        schema = self._stream._schema()
        target = checked_schema(out, where)
        groups = check_attributes(group_by, schema, where.location, "group_by= of aggregate", suitable="key")
        resolved = aggregate_columns(columns, target, schema, (*self._key, *groups), self._window, where)
        late = [(self._late, schema)] if self._late is not None else []
        return self._stream._after(
            WindowAggregate(self._window, resolved, self._key, groups, self._late),
            target,
            where=where,
            on_error=on_error,
            outputs=late,
            unpunctuated=[name for name, _ in late],
        )
