"""Objects that say themselves what a copy of them is like: a worker gets copies."""

from __future__ import annotations

import ast

from anabranch.analysis.run import Frame, Run
from anabranch.analysis.special_methods import own_way_of_copying


def mind_copies(run: Run, frame: Frame, cls: type, node: ast.AST) -> None:
    """An object that says itself what a copy of it is like may be another one in a worker."""
    own = own_way_of_copying(cls)
    if own is not None:
        run.share(frame, node, f"uses a `{cls.__name__}`, for which `{own}` says what a worker gets in its place")
