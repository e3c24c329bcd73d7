"""How what a user's function returns or yields becomes emissions on ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anabranch.errors import PlainProblem, shown
from anabranch.graph.model import Operator
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Emission


@dataclass(frozen=True)
class To:
    """A tuple on its way to a named output: what `ab.to` makes."""

    output: str
    item: Any


def to(output: str, item: Any) -> To:
    """Send a tuple to a named output: `yield ab.to("alerts", Alert(...))`.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> class Sort:
    ...     def process(self, r: Reading):
    ...         yield ab.to("high" if r.value > 10 else "low", r)
    >>> readings = ab.from_items(Reading, [Reading(3.0), Reading(30.0)])
    >>> sorted_ = readings.process(Sort, outputs={"high": Reading, "low": Reading})
    >>> ab.run(sorted_.outputs.high.collect("high")).items("high")
    [Reading(value=30.0)]
    """
    return To(output, item)


def each_emission(result: Any, operator: Operator) -> Iterator[Emission]:
    """A result may be nothing, one tuple, or an iterable of tuples; each may be addressed with `ab.to`."""
    if result is None:
        return
    if isinstance(result, To) or hasattr(result, "_fields"):
        yield routed(result, operator)
        return
    try:
        items = iter(result)
    except TypeError:
        raise ValueProblem(f"a tuple, several, or None expected, got {shown(result)}") from None
    for item in items:
        yield routed(item, operator)


def routed(item: Any, operator: Operator) -> Emission:
    if isinstance(item, To):
        if item.output in output_names(operator):
            return operator.output(item.output), item.item
        names = ", ".join(output_names(operator))
        raise PlainProblem(f"there is no output {item.output!r}; the outputs are {names}")
    if not operator.has_main_output:
        raise PlainProblem("it has only named outputs: say which one, with ab.to(name, tuple)")
    return 0, item


def output_names(operator: Operator) -> list[str]:
    """The outputs that tuples can be addressed to; dead letters are the engine's own."""
    return [port.name for port in operator.outputs if port.name != "dead_letter"]
