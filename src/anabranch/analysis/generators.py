"""Generators that analysed code makes: what they are given by `send`, and what `yield` then is inside of them."""

from __future__ import annotations

import ast
from types import GeneratorType

from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.state import shown
from anabranch.analysis.values import NONE, FunctionNode, Obj, Thing, Value, join

_SENT = "<sent>"


def generator_of(run: Run, node: FunctionNode) -> Value:
    """What a call of a generator function gives."""
    return run.make(GeneratorType, (node, "generator"))


def received(run: Run, frame: Frame) -> Value:
    """What a `yield` of the function that is being followed may evaluate to."""
    made = generator_of(run, frame.node)
    return NONE | join(run.heap.attribute(thing.site, _SENT) for thing in made if isinstance(thing, Obj))


def send(run: Run, frame: Frame, receiver: Thing, args: Args, node: ast.AST) -> Value:
    """`generator.send(value)`: it goes on, and is another one afterwards."""
    if not isinstance(receiver, Obj) or receiver.type is not GeneratorType:
        return run.unknown(frame, node, f"calls {shown(node)}, which goes on with a generator that others may have")
    made_by = receiver.site.label[0] if isinstance(receiver.site.label, tuple) else None
    if not isinstance(made_by, ast.AST) or any(isinstance(n, ast.YieldFrom) for n in ast.walk(made_by)):
        return run.unknown(frame, node, f"calls {shown(node)}, which a generator hands on to another")
    run.change(frame, frozenset({receiver}), node)
    run.heap.put_attribute(receiver.site, _SENT, join(args.all))
    return run.heap.held(receiver.site)
