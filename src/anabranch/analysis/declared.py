"""What a user declared with `@ab.declare` instead of leaving it to the analysis."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from anabranch.analysis.findings import Findings
from anabranch.errors import BuildError, Location
from anabranch.graph.properties import Reason, Selectivity
from anabranch.graph.schema import Schema


def declaration_of(target: Any) -> Any:
    """The override on a function or class, also under functools.partial, a method or a callable instance."""
    while isinstance(target, functools.partial):
        target = target.func
    # A subclass does other things than its base, so nothing is inherited.
    for holder in (target, getattr(target, "__func__", None), vars(type(target)).get("__call__"), type(target)):
        found = getattr(holder, "__dict__", {}).get("__anabranch_declared__")
        if found is not None:
            return found
    return None


def with_declaration(
    findings: Findings, declared: Any, inputs: Sequence[Schema | None], output: Schema | None
) -> Findings:
    """The findings with the declared properties in place of those found; the reasons say so."""
    if declared is None:
        return findings
    reasons = list(findings.reasons)
    result = replace(findings, declared=declared)
    because = f"declared, because {declared.because}"
    if declared.state is not None:
        reasons = [r for r in reasons if r.about != "state"]
        reasons.insert(0, Reason("state", f"{declared.state}: {because}", declared.location))
        if declared.state == "stateless":
            result = replace(result, shared=(), own=())
        elif declared.state == "partitioned":
            own = findings.own or (Reason("state", f"keeps state in its own instance: {because}", declared.location),)
            result = replace(result, shared=(), own=own)
        else:
            result = replace(result, shared=(reasons[0], *findings.shared))
    if declared.selectivity is not None:
        reasons = [r for r in reasons if r.about != "selectivity"]
        reasons.append(Reason("selectivity", f"{declared.selectivity}: {because}", declared.location))
        result = replace(result, selectivity=Selectivity(declared.selectivity))
    if declared.forwards is not None:
        pairs = _pairs(declared.forwards)
        if output is not None:
            _check(pairs, [schema for schema in inputs if schema is not None], output, declared.location)
        shown = ", ".join(out if out == into else f"{out} (from {into})" for out, into in pairs) or "nothing"
        reasons = [r for r in reasons if r.about != "forwards"]
        reasons.append(Reason("forwards", f"{shown}: {because}", declared.location))
        result = replace(result, forwards=pairs, forwards_if_key=tuple(sorted({*pairs, *findings.forwards_if_key})))
    return replace(result, reasons=tuple(reasons))


def _pairs(forwards: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(forwards, Mapping):
        return tuple(sorted((str(out), str(into)) for out, into in forwards.items()))
    return tuple(sorted((item, item) if isinstance(item, str) else (str(item[0]), str(item[1])) for item in forwards))


def _check(pairs: Sequence[tuple[str, str]], inputs: Sequence[Schema], output: Schema, where: Location | None) -> None:
    """What is forwarded must be an attribute of every input and of the output, of the same type."""
    for out, into in pairs:
        for schema, name in ((output, out), *((schema, into) for schema in inputs)):
            if name not in schema.names:
                raise BuildError(
                    f"declare(forwards=…) names '{name}', which {schema.name} does not have",
                    location=where,
                    hint=f"its attributes are {', '.join(schema.names)}",
                )
        for schema in inputs:
            if schema[into].without_none() != output[out].without_none():
                raise BuildError(
                    f"declare(forwards=…) says that '{out}' of {output.name} ({output[out]}) is '{into}' of "
                    f"{schema.name} ({schema[into]}), but their types differ",
                    location=where,
                    hint="name only what leaves as it came",
                )
