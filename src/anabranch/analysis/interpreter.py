"""The parts of an analysis put together, and its passes: it is repeated until nothing new is found."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from anabranch.analysis import (
    attributes,
    calls,
    construct,
    expressions,
    lifting,
    managers,
    per_class,
    special_calls,
    state,
    statements,
    stores,
    targets,
)
from anabranch.analysis.home import owner_of
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.values import GaveUp, Site, Thing, Value
from anabranch.errors import Location

_MOST_PASSES = 12


class Interpreter(Run):
    def __init__(self) -> None:
        super().__init__()
        lifting.forget_members()
        per_class.forget_classes()

    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        return expressions.evaluate(self, frame, node)

    def execute(self, frame: Frame, body: list[ast.stmt]) -> None:
        statements.execute(self, frame, body)

    def assign(self, frame: Frame, target: ast.AST, value: Value) -> None:
        targets.assign(self, frame, target, value)

    def load(self, frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
        return attributes.load(self, frame, value, name, node)

    def store(self, frame: Frame, value: Value, name: str, stored: Value, node: ast.AST) -> None:
        stores.store(self, frame, value, name, stored, node)

    def call(self, frame: Frame, callee: Value, args: Args, node: ast.AST) -> Value:
        return calls.call(self, frame, callee, args, node)

    def construct(self, frame: Frame, cls: type, args: Args, node: ast.AST, site: Site | None = None) -> Value:
        return construct.construct(self, frame, cls, args, node, site)

    def enter(self, frame: Frame, value: Value, node: ast.AST) -> Value:
        return managers.enter(self, frame, value, node)

    def iterate(self, frame: Frame, value: Value, node: ast.AST) -> Value:
        return state.iterate(self, frame, value, node)

    def change(self, frame: Frame, value: Value, node: ast.AST, what: str | None = None) -> None:
        state.change(self, frame, value, node, what)

    def read(self, frame: Frame, value: Value, node: ast.AST) -> None:
        state.read(self, frame, value, node)

    def ignores_order(self, callee: Value, node: ast.Call, is_ignored: bool) -> bool:
        return special_calls.ignores_order(self, callee, node, is_ignored)

    def lift(self, held: Any, origin: Any) -> Thing:
        return lifting.lift(held, origin)

    def repeat(self, one_pass: Callable[[], None]) -> None:
        """Run passes until the heap stays as it is; only what the last one reports counts."""
        try:
            for _ in range(_MOST_PASSES):
                self.shared.clear()
                self.own.clear()
                self.results.clear()
                self.active.clear()
                version = self.heap.version
                one_pass()
                self.heap.keep_what_outlives_the_call()
                if self.heap.version == version:
                    return
        except GaveUp as problem:
            if problem.cause is not None:
                raise
        except RecursionError:
            pass
        raise self._too_large()

    def _too_large(self) -> GaveUp:
        """Says where most steps were."""
        steps_of: Counter[tuple[str, Location]] = Counter()
        for home, steps in self.steps_in.items():
            if home.text is not None:  # else it is small, or none of the user's
                steps_of[owner_of(home, home.text)] += steps
        if not steps_of:
            return GaveUp()
        [((owner, where), _)] = steps_of.most_common(1)
        return GaveUp(f"most of all {owner}", where)
