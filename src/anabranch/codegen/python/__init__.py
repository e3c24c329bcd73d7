"""The Python form of generated code: one loop over rows whose body is the depth-first traversal."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.analysis.modules import held_world
from anabranch.codegen.part import Part
from anabranch.codegen.python.element import BegunOperator, PythonElement

__all__ = ["BegunOperator", "PythonElement", "python_form"]


def python_form(
    part: Part,
    *,
    origins: bool = False,
    tracks_changes: bool = False,
    begun: Mapping[str, BegunOperator] | None = None,
) -> PythonElement:
    """The processing element that runs a part in the Python form, perhaps from what another form has begun."""
    with held_world(thoroughly=False):
        return PythonElement(part, origins=origins, tracks_changes=tracks_changes, begun=begun)
