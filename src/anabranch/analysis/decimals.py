"""Decimals are rounded by a context that each thread has for itself."""

from __future__ import annotations

import ast
from decimal import Decimal

from anabranch.analysis.lifting import CONTAINERS, members
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.program import program_around
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.values import Atom, Const, Value, one

_CONTEXT_WORDS = ("getcontext", "setcontext", "DefaultContext")


def mind_decimals(run: Run, frame: Frame, given: Value, node: ast.AST) -> None:
    """A function of a library that gets decimals may compute with them."""
    for thing in run.heap.reachable(given):
        held = members(thing) if isinstance(thing, Const) and type(thing.object) in CONTAINERS else one(thing)
        if any(isinstance(each, Atom) and each.type is Decimal for each in held):
            mind_the_context(run, frame, node)
            return


def mind_the_context(run: Run, frame: Frame, node: ast.AST) -> None:
    """Computing with decimals is the same everywhere as long as nobody sets a context."""
    for namespace in program_around(namespace_of(frame.home.namespace)):
        for word in _CONTEXT_WORDS:
            if word in namespace.strays.words or any(word in text.text for text in namespace.texts):
                run.share(
                    frame,
                    node,
                    f"computes with Decimal while the program uses decimal.{word}, which each thread has for itself",
                    "use decimal.Context explicitly: context.divide(a, b)",
                )
                return
