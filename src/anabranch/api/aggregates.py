"""The aggregate functions a window can compute, by the names users write."""

from __future__ import annotations

from anabranch.operators.aggregates import Aggregate, WindowEdge


def any_(attribute: str) -> Aggregate:
    """An attribute that is the same in the whole window, such as its key.

    >>> import anabranch as ab
    >>> ab.any_("user")
    Aggregate(function='any_', attribute='user', by=None, ddof=1)
    """
    return Aggregate("any_", attribute)


def first(attribute: str) -> Aggregate:
    """The attribute of the tuple that arrived first.

    >>> import anabranch as ab
    >>> str(ab.first("ts"))
    'first(ts)'
    """
    return Aggregate("first", attribute)


def last(attribute: str) -> Aggregate:
    """The attribute of the tuple that arrived last.

    >>> import anabranch as ab
    >>> str(ab.last("ts"))
    'last(ts)'
    """
    return Aggregate("last", attribute)


def count() -> Aggregate:
    """The number of tuples.

    >>> import anabranch as ab
    >>> str(ab.count())
    'count()'
    """
    return Aggregate("count")


def sum_(attribute: str) -> Aggregate:
    """The sum of an attribute, added up in order of arrival; `None` is skipped.

    >>> import anabranch as ab
    >>> str(ab.sum_("price"))
    'sum_(price)'
    """
    return Aggregate("sum_", attribute)


def min_(attribute: str) -> Aggregate:
    """The smallest value; `None` is skipped, NaN counts as the largest number.

    >>> import anabranch as ab
    >>> str(ab.min_("price"))
    'min_(price)'
    """
    return Aggregate("min_", attribute)


def max_(attribute: str) -> Aggregate:
    """The largest value; `None` is skipped, NaN counts as the largest number.

    >>> import anabranch as ab
    >>> str(ab.max_("price"))
    'max_(price)'
    """
    return Aggregate("max_", attribute)


def mean(attribute: str) -> Aggregate:
    """The arithmetic mean; `None` is skipped.

    >>> import anabranch as ab
    >>> str(ab.mean("price"))
    'mean(price)'
    """
    return Aggregate("mean", attribute)


def std(attribute: str, *, ddof: int = 1) -> Aggregate:
    """The standard deviation: of a sample, or of a population with `ddof=0`; NaN where too few tuples came.

    >>> import anabranch as ab
    >>> str(ab.std("price"))
    'std(price)'
    """
    return Aggregate("std", attribute, ddof=ddof)


def count_distinct(attribute: str) -> Aggregate:
    """The number of different values; `None` is not counted.

    >>> import anabranch as ab
    >>> str(ab.count_distinct("user"))
    'count_distinct(user)'
    """
    return Aggregate("count_distinct", attribute)


def collect(attribute: str) -> Aggregate:
    """All values as a list, in order of arrival.

    >>> import anabranch as ab
    >>> str(ab.collect("user"))
    'collect(user)'
    """
    return Aggregate("collect", attribute)


def arg_max(attribute: str, by: str) -> Aggregate:
    """The attribute of the tuple with the largest `by`; the first of equals.

    >>> import anabranch as ab
    >>> str(ab.arg_max("user", by="score"))
    'arg_max(user, score)'
    """
    return Aggregate("arg_max", attribute, by)


def window_start() -> WindowEdge:
    """Where the window begins, for windows by time or delta.

    >>> import anabranch as ab
    >>> str(ab.window_start())
    'window_start()'
    """
    return WindowEdge("start")


def window_end() -> WindowEdge:
    """Where the window ends, itself no longer included, for windows by time or delta.

    >>> import anabranch as ab
    >>> str(ab.window_end())
    'window_end()'
    """
    return WindowEdge("end")
