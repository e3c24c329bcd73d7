"""Conclusions in words."""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.errors import Location
from anabranch.graph.properties import Reason, Selectivity

_SELECTIVITY = {
    Selectivity.EXACTLY_ONE: "emits exactly one tuple on every path",
    Selectivity.AT_MOST_ONE: "emits at most one tuple on every path",
    Selectivity.UNBOUNDED: "may emit several tuples, or their number is not known",
}


def sorted_reasons(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """In the order of the text, whatever the order in which they were found."""
    return tuple(sorted(reasons, key=lambda r: (r.location or Location("", 0), r.text)))


def state_reason(where: Location | None) -> Reason:
    return Reason("state", "keeps nothing from one tuple to the next and shares nothing", where)


def selectivity_reason(selectivity: Selectivity, emits: str, where: Location | None) -> Reason:
    text = "keeps a tuple or drops it" if emits == "predicate" else _SELECTIVITY[selectivity]
    hint = None
    if selectivity is Selectivity.UNBOUNDED:
        hint = "yield outside of loops, at most once on every path"
    return Reason("selectivity", text, where, hint)


def forwards_reason(
    forwards: tuple[tuple[str, str], ...], with_key: tuple[tuple[str, str], ...], where: Location | None
) -> Reason:
    also = tuple(pair for pair in with_key if pair not in forwards)
    text = f"copies {_listed(forwards)} from its input unchanged" if forwards else "copies no attribute unchanged"
    if also:
        text += f"; {_listed(also)} too where the key holds it"
    hint = None if forwards else "build each output from the input's attributes: Out(t.key, …) or t._replace(…)"
    return Reason("forwards", text, where, hint)


def _listed(pairs: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"`{out}`" if out == into else f"`{out}` (from `{into}`)" for out, into in pairs)
