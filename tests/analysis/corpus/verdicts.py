"""What the analyser says of an operator of the corpus, held against the truth.

`python -m tests.analysis.corpus.verdicts` lists everything it says too much or too little of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.schema import schema_of

from .alone import alone
from .registry import SELECTIVITIES, STATES, Entry

EMITS = {"map": "one", "filter": "predicate", "flat_map": "many", "process": "many", "for_each": "value"}


@dataclass(frozen=True)
class Verdict:
    """The analyser's findings in the words of the register, for the operator as it is keyed."""

    state: str
    selectivity: str
    forwards: tuple[tuple[str, str], ...]
    at_punctuation: bool
    at_end: bool
    reasons: tuple[str, ...]


def verdict_of(entry: Entry) -> Verdict:
    """The verdict on the operator as a program of its own."""
    with alone(entry) as program:
        findings = _findings(program)
    return Verdict(
        _state(entry, findings),
        findings.selectivity.value,
        (*findings.forwards, *(pair for pair in findings.forwards_if_key if pair[1] in entry.keyed)),
        findings.emits_at_punctuation,
        findings.emits_at_end,
        tuple(map(str, (*findings.shared, *findings.own))),
    )


def _findings(entry: Entry) -> Any:
    read, written = schema_of(entry.input), schema_of(entry.output) if entry.output else None
    if entry.is_class:
        return analyze_operator(entry.operator, inputs={"process": read}, output=written)
    return analyze_function(entry.operator, input=read, output=written, emits=EMITS[entry.kind])


def _state(entry: Entry, findings: Any) -> str:
    """Design, section 3: an unkeyed operator that emits at the end is stateful, whatever it keeps."""
    if findings.shared:
        return "stateful"
    if entry.keyed:
        return "partitioned"
    return "stateful" if findings.own or findings.emits_at_end else "stateless"


def too_bold(entry: Entry, verdict: Verdict) -> list[str]:
    """What the verdict allows and the truth does not. Any of this makes a program wrong."""
    wrong = []
    if STATES.index(verdict.state) > STATES.index(entry.state):
        wrong.append(f"{verdict.state}, in truth {entry.state}")
    if entry.kind == "for_each":
        return wrong
    if SELECTIVITIES.index(verdict.selectivity) > SELECTIVITIES.index(entry.selectivity):
        wrong.append(f"selectivity {verdict.selectivity}, in truth {entry.selectivity}")
    for out, read in verdict.forwards:
        if entry.forwards.get(out) != read:
            wrong.append(f"forwards {out} from {read}, in truth from {entry.forwards.get(out, 'nothing')}")
    if entry.at_end and not verdict.at_end:
        wrong.append("emits nothing at the end, in truth it does")
    if entry.at_punctuation and not verdict.at_punctuation:
        wrong.append("emits nothing at punctuations, in truth it does")
    return wrong


def too_timid(entry: Entry, verdict: Verdict) -> list[str]:
    """What the truth allows and the verdict does not. This only costs speed."""
    missed = []
    if STATES.index(verdict.state) < STATES.index(entry.state):
        missed.append(f"{verdict.state}, in truth {entry.state}: {'; '.join(verdict.reasons)}")
    counts = entry.kind != "for_each" and not entry.at_punctuation  # what punctuations emit may be counted in
    if counts and SELECTIVITIES.index(verdict.selectivity) < SELECTIVITIES.index(entry.selectivity):
        missed.append(f"selectivity {verdict.selectivity}, in truth {entry.selectivity}")
    return missed


def missed_forwards(entry: Entry, verdict: Verdict) -> list[str]:
    """Attributes that are forwarded, which the verdict does not say."""
    return [f"{out} from {read}" for out, read in entry.forwards.items() if (out, read) not in verdict.forwards]


def report(entries: Iterable[Entry]) -> str:
    lines: dict[str, list[str]] = {"UNSAFE": [], "FAILED": [], "TIMID": [], "FORWARDING MISSED": []}
    for entry in entries:
        mark = "trap " if entry.trap else "clean"
        try:
            verdict = verdict_of(entry)
        except Exception as problem:
            lines["FAILED"].append(f"{mark} {entry.id}: {type(problem).__name__}: {problem}")
            continue
        lines["UNSAFE"] += [f"{mark} {entry.id} ({entry.why}): {wrong}" for wrong in too_bold(entry, verdict)]
        lines["TIMID"] += [f"{mark} {entry.id} ({entry.why}): {missed}" for missed in too_timid(entry, verdict)]
        if missed := missed_forwards(entry, verdict):
            lines["FORWARDING MISSED"].append(f"{mark} {entry.id}: {', '.join(missed)}")
    return "\n".join(
        f"{title}: {len(found)}\n" + "".join(f"  {line}\n" for line in found) for title, found in lines.items()
    )


if __name__ == "__main__":
    from .worlds import load_all

    print(report(load_all()))
