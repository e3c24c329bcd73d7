"""How many tuples leave for each that arrives: the smallest and largest number of emissions over all paths.

Paper 000, section 3.2: emissions are counted along each path; one in a loop makes the number unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from anabranch.analysis.counts import ANY, ONE, ZERO, Count, exactly
from anabranch.analysis.run import Run
from anabranch.analysis.syntax import children
from anabranch.analysis.values import Atom, FunctionNode, Obj, Sent, Thing, Tup, Value


def elements_of(run: Run, thing: Thing) -> Count:
    """How many elements iterating over a thing gives."""
    match thing:
        case Tup(items=items):
            return exactly(len(items))
        case Obj(site=site):
            return run.heap.count(site) or ANY
        case _:
            return ANY


def emissions_of(run: Run, value: Value) -> Count:
    """How many tuples a result stands for: None is none, a NamedTuple is one, an iterable has its elements."""
    result: Count | None = None
    for thing in value:
        match thing:
            case Atom(type=kind) if kind is type(None):
                count = ZERO
            case Tup(type=kind) if hasattr(kind, "_fields") or kind is Sent:
                count = ONE
            case _:
                count = elements_of(run, thing)
        result = count if result is None else result | count
    return result if result is not None else ZERO


def emissions_on_paths(run: Run, node: FunctionNode) -> Count:
    """How often a generator function yields, whichever path it takes; paths that end in an error do not count."""
    if isinstance(node, ast.Lambda):
        return _expression(run, node.body)
    ends = _block(run, node.body, ZERO)
    return _either([ends.next, ends.returned]) or ZERO


@dataclass(frozen=True)
class _Ends:
    """How many emissions there were when a statement was left in each way; None where it is not left so."""

    next: Count | None = None
    returned: Count | None = None
    broken: Count | None = None
    continued: Count | None = None
    raised: Count | None = None

    def or_(self, other: _Ends, with_next: bool = True) -> _Ends:
        return _Ends(
            _either([self.next, other.next]) if with_next else other.next,
            _either([self.returned, other.returned]),
            _either([self.broken, other.broken]),
            _either([self.continued, other.continued]),
            _either([self.raised, other.raised]),
        )


def _either(counts: Iterable[Count | None]) -> Count | None:
    result: Count | None = None
    for count in counts:
        if count is not None:
            result = count if result is None else result | count
    return result


def _block(run: Run, body: list[ast.stmt], before: Count) -> _Ends:
    ends = _Ends(next=before)
    for statement in body:
        if ends.next is None:
            break
        ends = ends.or_(_statement(run, statement, ends.next), with_next=False)
    return ends


def _statement(run: Run, node: ast.stmt, before: Count) -> _Ends:
    if any(map(_contains_yield, _in_odd_places(node))):
        return _Ends(next=ANY, returned=ANY, broken=ANY, continued=ANY, raised=ANY)
    match node:
        case ast.Expr(value=ast.Yield(value=value)):
            # Whatever fails does so before the tuple leaves.
            start = before + _expressions(run, [value] if value else [])
            return _Ends(next=start + ONE, raised=start)
        case ast.If(test=test, body=body, orelse=orelse):
            start = before + _expression(run, test)
            ends = _block(run, body, start).or_(_block(run, orelse, start))
            return ends.or_(_Ends(raised=before | start))
        case ast.For(iter=iterable, body=body, orelse=orelse):
            start = before + _expression(run, iterable)
            return _loop(run, body, orelse, start, is_endless=False)
        case ast.While(test=test, body=body, orelse=orelse):
            is_endless = isinstance(test, ast.Constant) and bool(test.value)
            start = before + _expression(run, test).repeated() + _expression(run, test)
            return _loop(run, body, orelse, start, is_endless)
        case ast.Try() | ast.TryStar():
            return _try(run, node, before)
        case ast.With(items=items, body=body):
            start = before + _expressions(run, [item.context_expr for item in items])
            ends = _block(run, body, start)
            # Leaving the block may swallow an error.
            return ends.or_(_Ends(next=ends.raised, raised=before | start))
        case ast.Match(subject=subject, cases=cases):
            start = before + _expression(run, subject)
            ends = _Ends(raised=before | start)
            for case in cases:
                guarded = start + (_expression(run, case.guard) if case.guard else ZERO)
                ends = ends.or_(_block(run, case.body, guarded))
            is_exhaustive = any(_is_irrefutable(case) for case in cases)
            return ends if is_exhaustive else ends.or_(_Ends(next=start))
        case ast.Return(value=value):
            after = before + _expressions(run, [value] if value else [])
            return _Ends(returned=after, raised=None if value is None else before | after)
        case ast.Raise():
            return _Ends(raised=before + _expressions(run, [e for e in (node.exc, node.cause) if e]))
        case ast.Break():
            return _Ends(broken=before)
        case ast.Continue():
            return _Ends(continued=before)
        case ast.Pass() | ast.Global() | ast.Nonlocal():
            return _Ends(next=before)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return _Ends(next=before, raised=before)
        case ast.AsyncFor() | ast.AsyncWith():
            return _Ends(next=ANY, returned=ANY, raised=ANY)
        case _:
            inner = _expressions(run, [n for n in children(node) if isinstance(n, ast.expr)])
            return _Ends(next=before + inner, raised=before | (before + inner))


def _in_odd_places(node: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that may emit, though nobody would let them: what is counted there is anything."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        case ast.ClassDef():
            return [node]
        case ast.For(target=target):
            return [target]
        case ast.With(items=items):
            return [item.optional_vars for item in items if item.optional_vars is not None]
        case ast.Try(handlers=handlers):
            return [handler.type for handler in handlers if handler.type is not None]
        case ast.TryStar(handlers=handlers):
            return [*handlers]  # several of them may run
        case ast.Match(cases=cases):
            return [part for case in cases for part in (case.pattern, case.guard) if part is not None]
        case ast.AnnAssign(annotation=annotation):
            return [annotation]
        case _:
            return []


def _loop(run: Run, body: list[ast.stmt], orelse: list[ast.stmt], start: Count, is_endless: bool) -> _Ends:
    once = _block(run, body, ZERO)
    again = _either([once.next, once.continued])
    rounds = again.repeated() if again is not None else ZERO
    left = start + rounds

    def after(count: Count | None) -> Count | None:
        return None if count is None else left + count

    exhausted = None if is_endless else left
    finished = _block(run, orelse, exhausted) if exhausted is not None else _Ends()
    return finished.or_(
        _Ends(next=after(once.broken), returned=after(once.returned), raised=_either([after(once.raised), left]))
    )


def _try(run: Run, node: ast.Try | ast.TryStar, before: Count) -> _Ends:
    tried = _block(run, node.body, before)
    ends = _Ends(None, tried.returned, tried.broken, tried.continued, tried.raised)
    if tried.next is not None:
        ends = ends.or_(_block(run, node.orelse, tried.next))
    for handler in node.handlers:
        if tried.raised is not None:
            ends = ends.or_(_block(run, handler.body, tried.raised))
    if not node.finalbody:
        return ends
    result = _Ends()
    for field in ("next", "returned", "broken", "continued", "raised"):
        count: Count | None = getattr(ends, field)
        if count is not None:
            final = _block(run, node.finalbody, count)
            left = _Ends(**{field: final.next})
            result = result.or_(left).or_(_Ends(None, final.returned, final.broken, final.continued, final.raised))
    return result


def _is_irrefutable(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


_yielding: dict[ast.AST, bool] = {}


def _contains_yield(node: ast.AST) -> bool:
    known = _yielding.get(node)
    if known is None:
        known = isinstance(node, ast.Yield | ast.YieldFrom) or any(map(_contains_yield, children(node)))
        _yielding[node] = known
    return known


def _expressions(run: Run, nodes: list[ast.expr]) -> Count:
    total = ZERO
    for node in nodes:
        total += _expression(run, node)
    return total


def _expression(run: Run, node: ast.AST) -> Count:
    if not _contains_yield(node):
        return ZERO
    match node:
        case ast.Yield(value=value):
            return (_expression(run, value) if value else ZERO) + ONE
        case ast.YieldFrom(value=value):
            return _expression(run, value) + run.counts.get(node, ANY)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _expression(run, test) + (_expression(run, body) | _expression(run, orelse))
        case ast.BoolOp(values=[first, *others]):
            total = _expression(run, first)
            for other in others:
                total += ZERO | _expression(run, other)
            return total
        case ast.Lambda(args=args):
            return _expression(run, args)  # defaults; what its body yields, it yields itself
        case ast.Compare(left=left, comparators=[first, *others]):
            total = _expression(run, left) + _expression(run, first)
            for other in others:
                total += ZERO | _expression(run, other)
            return total
        case _:
            total = ZERO
            for child in children(node):
                total += _expression(run, child)
            return total
