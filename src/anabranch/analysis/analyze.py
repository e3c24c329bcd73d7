"""The properties of a user's function or operator class, each with its reason."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

from anabranch.analysis import arithmetic
from anabranch.analysis.counts import ANY, Count
from anabranch.analysis.declared import declaration_of, with_declaration
from anabranch.analysis.entry import (
    definite_attributes,
    location_of,
    other_input,
    receive,
    replaced_at_once,
    root_frame,
)
from anabranch.analysis.findings import Findings
from anabranch.analysis.forwarding import Pairs, forwarded
from anabranch.analysis.interpreter import Interpreter
from anabranch.analysis.modules import moment
from anabranch.analysis.origins import Given
from anabranch.analysis.program import look_at_code
from anabranch.analysis.protocols import touch
from anabranch.analysis.reasons import forwards_reason, selectivity_reason, sorted_reasons, state_reason
from anabranch.analysis.run import Args, Frame
from anabranch.analysis.selectivity import emissions_of
from anabranch.analysis.state import drain
from anabranch.analysis.values import NONE, NOTHING, UNKNOWN, GaveUp, Place, Sent, Site, Tup, Value, one
from anabranch.errors import Location
from anabranch.graph.properties import Reason, Selectivity
from anabranch.graph.schema import Schema

Emits = Literal["one", "predicate", "many", "value"]

_ENDS = ("punctuation", "finish")


def analyze_function(fn: Any, *, input: Schema, output: Schema | None, emits: Emits) -> Findings:
    """The properties of a function that gets a tuple: of `map`, `filter`, `flat_map`, or a helper's state."""
    where = location_of(fn)
    try:
        with look_at_code(fn):
            findings = _function(fn, input, output, emits, where)
    except (GaveUp, RecursionError) as problem:
        findings = _too_large(problem, where, output, emits)
    except Exception as problem:  # whatever is wrong with the analysis must not make a program unsafe, or fail
        findings = _unknown(f"its analysis failed ({type(problem).__name__}: {problem})", where, output, emits)
    return with_declaration(findings, declaration_of(fn), [input], output)


def _function(fn: Any, input: Schema, output: Schema | None, emits: Emits, where: Location | None) -> Findings:
    run = Interpreter()
    root = root_frame(fn, where)
    further = tuple(other_input(run, n) for n in range(_further_arguments(fn)))
    result = emitted = NOTHING
    node = ast.Constant(None)

    def one_pass() -> None:
        nonlocal result, emitted
        args = Args(()) if _takes_nothing(fn) else Args((receive(run, root, input), *further))  # nothing: a source's
        result = run.call(root, one(run.lift(fn, Given("the function"))), args, node)
        if emits == "predicate":
            arithmetic.truth(run, root, result, node)
        elif emits == "value":
            touch(run, root, result, node)
        emitted = _emitted(run, root, result, emits == "many", node)

    run.repeat(one_pass)
    pairs: tuple[Pairs, Pairs] | None = None
    if emits == "predicate":
        selectivity = Selectivity.AT_MOST_ONE
        same = frozenset((name, name) for name in input.names if name not in run.changed_inputs)
        pairs = same, same
    elif emits == "one":
        may_be_missing = bool(result & (NONE | UNKNOWN))
        selectivity = Selectivity.AT_MOST_ONE if may_be_missing else Selectivity.EXACTLY_ONE
    else:
        selectivity = _selectivity(emissions_of(run, result), emitted)
    if output is not None and emits in ("one", "many"):
        pairs = forwarded(emitted, output, input, run.changed_inputs)
    return _findings(run, where, selectivity, pairs, False, False, emits)


def _takes_nothing(fn: Any) -> bool:
    try:
        return not inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return False


def _further_arguments(fn: Any) -> int:
    """How many arguments a function needs beyond the tuple: the other side of a join's `match`, say."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return 0
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return max(len(needed) - 1, 0)


def _emitted(run: Interpreter, root: Frame, result: Value, is_many: bool, node: ast.AST) -> Value:
    """The tuples among a result; looking at them reads whatever they hold."""
    tuples = frozenset(t for t in result if isinstance(t, Tup) and (hasattr(t.type, "_fields") or t.type is Sent))
    rest = result - tuples - NONE
    emitted = tuples | (drain(run, root, rest, node) if is_many else rest)
    touch(run, root, frozenset(t for t in emitted if isinstance(t, Tup)), node)
    return emitted


def _selectivity(count: Count, emitted: Value) -> Selectivity:
    if any(isinstance(thing, Tup) and thing.type is Sent for thing in emitted):
        count = Count(0, count.most)  # what goes to one output is missing at the others
    return count.selectivity


def analyze_operator(cls_or_partial: Any, *, inputs: Mapping[str, Schema | None], output: Schema | None) -> Findings:
    """The properties of an operator class with a method per input, and `punctuation` and `finish` if it has them.

    A method without a schema gets no tuple, such as `result` of an aggregate.
    """
    where = location_of(cls_or_partial)
    try:
        with look_at_code(cls_or_partial):
            findings = _operator(cls_or_partial, inputs, output, where)
    except (GaveUp, RecursionError) as problem:
        findings = _too_large(problem, where, output, "many")
    except Exception as problem:  # as above
        findings = _unknown(f"its analysis failed ({type(problem).__name__}: {problem})", where, output, "many")
    findings = with_declaration(findings, declaration_of(cls_or_partial), list(inputs.values()), output)
    _remembered[cls_or_partial] = moment(), tuple(inputs.items()), findings
    return findings


_Remembered = tuple[tuple[int, int], tuple[tuple[str, Schema | None], ...], Findings]
_remembered: WeakKeyDictionary[Any, _Remembered] = WeakKeyDictionary()


def shared_effects(cls_or_partial: Any, inputs: Mapping[str, Schema | None]) -> Findings:
    """Findings whose `shared` and `declared` are right, whatever is emitted: those of before where nothing changed."""
    with look_at_code(cls_or_partial):
        known = _remembered.get(cls_or_partial)
        if known is not None and known[:2] == (moment(), tuple(inputs.items())):
            return known[2]
        return analyze_operator(cls_or_partial, inputs=inputs, output=None)


def _operator(
    factory: Any, inputs: Mapping[str, Schema | None], output: Schema | None, where: Location | None
) -> Findings:
    run = Interpreter()
    cls = factory
    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    while isinstance(cls, functools.partial):
        given = Given("an argument of functools.partial, which all instances share")
        positional = (*(one(run.lift(value, given)) for value in cls.args), *positional)
        keywords = (*((name, one(run.lift(value, given))) for name, value in cls.keywords.items()), *keywords)
        cls = cls.func
    root = root_frame(factory, where)
    node = ast.Constant(None)
    site = Site(Place.OWN, "self")
    if isinstance(cls, type):
        run.definite = definite_attributes(cls)
        run.replaced_at_once = replaced_at_once(cls, inputs)
    results: dict[str, Value] = {}
    emitted: dict[str, Value] = {}

    def one_pass() -> None:
        run.is_initialising = True
        args = Args(positional, tuple(dict(keywords).items()))
        if isinstance(cls, type):
            instance = run.construct(root, cls, args, node, site)
        else:
            instance = run.call(root, one(run.lift(cls, None)), args, node)
        run.is_initialising = False
        for name in (*inputs, *_ENDS):
            if name in _ENDS and isinstance(cls, type) and not _has_method(run, cls, site, name):
                continue
            method = run.load(root, instance, name, node)
            schema = inputs.get(name)
            given = Args((receive(run, root, schema),)) if schema is not None else Args()
            results[name] = run.call(root, method, given, node) if method else UNKNOWN
            emitted[name] = _emitted(run, root, results[name], True, node)

    run.repeat(one_pass)
    counts = [emissions_of(run, results[name]) for name in inputs]
    total = counts[0] if counts else ANY
    for count in counts[1:]:
        total |= count
    selectivity = _selectivity(total, frozenset().union(*(emitted[name] for name in inputs)))
    pairs = _common_pairs(emitted, inputs, output, run.changed_inputs)
    may_emit = {name: name in results and emissions_of(run, results[name]).most > 0 for name in _ENDS}
    findings = _findings(run, where, selectivity, pairs, may_emit["finish"], may_emit["punctuation"], "many")
    return replace(findings, is_silent=total.most == 0)


def _has_method(run: Interpreter, cls: type, site: Site, name: str) -> bool:
    """As the engine asks: of the class, of the instance, or by `__getattr__`."""
    return hasattr(cls, name) or name in run.heap.attributes(site) or hasattr(cls, "__getattr__")


def _common_pairs(
    emitted: Mapping[str, Value], inputs: Mapping[str, Schema | None], output: Schema | None, changed: set[str]
) -> tuple[Pairs, Pairs] | None:
    """What holds for the emissions of every method."""
    if output is None:
        return None
    always: Pairs | None = None
    with_key: Pairs | None = None
    for name, value in emitted.items():
        found = forwarded(value, output, inputs.get(name), changed)
        if found is None:
            continue
        always = found[0] if always is None else always & found[0]
        with_key = found[1] if with_key is None else with_key & found[1]
    if always is None or with_key is None:
        return None
    # A stored value must fit the attribute's type on every input it may have come from.
    kept = frozenset(
        (out, into)
        for out, into in with_key
        if all(s and into in s and s[into].without_none() == output[out].without_none() for s in inputs.values())
    )
    return always, kept


def _findings(
    run: Interpreter,
    where: Location | None,
    selectivity: Selectivity,
    pairs: tuple[Pairs, Pairs] | None,
    at_end: bool,
    at_punctuation: bool,
    emits: Emits,
) -> Findings:
    shared, own = sorted_reasons(run.shared), sorted_reasons(run.own)
    forwards, with_key = (tuple(sorted(p)) for p in pairs) if pairs is not None else ((), ())
    reasons: list[Reason] = [*shared, *own] or [state_reason(where)]
    if emits != "value":
        reasons.append(selectivity_reason(selectivity, emits, where))
        reasons.append(forwards_reason(forwards, with_key, where))
    return Findings(shared, own, selectivity, forwards, with_key, at_end, at_punctuation, False, tuple(reasons))


def _too_large(problem: Exception, where: Location | None, output: Schema | None, emits: Emits) -> Findings:
    """The reason stands at what led too far, where that is known."""
    why = "it is too large to be followed"
    if not isinstance(problem, GaveUp) or problem.cause is None:
        return _unknown(why, where, output, emits)
    hint = 'make that smaller, or say what the operator is: @ab.declare(…, because="…")'
    return _unknown(f"{why}, {problem.cause}", problem.where or where, output, emits, hint)


_DECLARE = 'say what it is: @ab.declare(…, because="…")'


def _unknown(why: str, where: Location | None, output: Schema | None, emits: Emits, hint: str = _DECLARE) -> Findings:
    """What allows least."""
    reason = Reason("state", f"what it does is not known: {why}", where, hint)
    selectivity = Selectivity.AT_MOST_ONE if emits in ("predicate", "one") else Selectivity.UNBOUNDED
    same = tuple((name, name) for name in output.names) if emits == "predicate" and output is not None else ()
    is_class = emits == "many"
    return Findings((reason,), (), selectivity, same, same, is_class, is_class, False, (reason,))
