"""What is consumed without regard to its order: a set may be passed through there, unless the order leaves traces.

`sorted(f(word) for word in words)` is the same however the set is ordered; it is not if `f` numbers the words.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from anabranch.analysis.heap import ANYTHING
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.state import shown
from anabranch.analysis.values import Fun, join, one


def mind_traces(run: Run, frame: Frame, node: ast.AST, step: Callable[[], object]) -> None:
    """The step, which is taken for each element of a set, may write to nothing that was there before."""
    around = Fun(frame.node, frame.home, (*frame.chain, frame.node))
    seen = join((*(frame.variables or {}).values(), *frame.targets.values())) | one(around)
    before = run.heap.sites_in_reach(seen)
    written = run.heap.writes_of(step)
    if ANYTHING in written or not before.isdisjoint(written):
        run.share(
            frame,
            node,
            f"leaves traces in the order of a set ({shown(node)}), which differs from process to process",
            "sort it first: sorted(…)",
        )
