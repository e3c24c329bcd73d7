"""The Python form of generated code: one loop over rows whose body is the depth-first traversal."""

from __future__ import annotations

from anabranch.analysis.program import look_at_program
from anabranch.codegen.part import Part
from anabranch.codegen.python.element import PythonElement
from anabranch.codegen.python.state import BegunOperator

__all__ = ["BegunOperator", "PythonElement", "python_form"]


def python_form(part: Part, *, origins: bool = False, tracks_changes: bool = False) -> PythonElement:
    """The processing element that runs a part in the Python form."""
    with look_at_program(part.graph, thoroughly=False):
        return PythonElement(part, origins=origins, tracks_changes=tracks_changes)
