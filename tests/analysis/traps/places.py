"""Where the object of a trap lives, and how the operator around the construct is written."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

from .constructs import THEN


@dataclass(frozen=True)
class Place:
    """Texts, in which `OBJECT` is the expression that makes the object, `BODY` the construct, `_I` the trap's number.

    `expression` is what the construct calls the object, or how the operator makes it; `style` is how the class gets its
    special method.
    """

    name: str
    setting_up: str
    expression: str
    operator: str
    kind: str = "map"
    style: str = "own"


_MAP = """def op_I(t):
BODY
    return t"""
_FILTER = """def op_I(t):
BODY
    return True"""
_FLAT_MAP = """def op_I(t):
BODY
    return [t]"""
_CLOSURE = """def make_I():
    held = OBJECT

    def operate(t):
BODYBODY
        return t

    return operate


op_I = make_I()"""
_DEFAULT = """def op_I(t, x=OBJECT):
BODY
    return t"""
_KEYED = """class op_I:
    def __init__(self):
        self.x = OBJECT

    def process(self, t):
BODYBODY
        yield t"""
_KEYED_LOCAL = """class op_I:
    def process(self, t):
BODYBODY
        yield t"""

PLACES = (
    Place("local", "", "x = OBJECT", _MAP),
    Place("global", "X_I = OBJECT", "X_I", _FILTER, kind="filter"),
    Place("closure", "", "held", _CLOSURE),
    Place("default", "", "x", _DEFAULT),
    Place("class attribute", "class Holder_I:\n    x = OBJECT", "Holder_I.x", _FLAT_MAP, kind="flat_map"),
    Place("per key", "", "self.x", _KEYED, kind="process"),
    Place("local in a keyed operator", "", "x = OBJECT", _KEYED_LOCAL, kind="process"),
    Place("global in a keyed operator", "X_I = OBJECT", "X_I", _KEYED_LOCAL, kind="process"),
    Place("inherited", "", "x = OBJECT", _FLAT_MAP, kind="flat_map", style="inherited"),
    Place("mixin", "", "x = OBJECT", _MAP, style="mixin"),
    Place("inherited, per key", "", "self.x", _KEYED, kind="process", style="inherited"),
)


def body_at(place: Place, code: str, guarded: bool) -> str:
    """The construct as the body of an operator, indented once."""
    code = re.sub(rf"^ *{THEN}\n", "", code, flags=re.MULTILINE)
    lines = ""
    if place.expression.startswith("x = "):
        lines = place.expression + "\n"
    elif place.expression != "x":
        if _binds_object(code):
            lines = f"x = {place.expression}\n"
        else:
            code = _with_object(code, place.expression)
    if guarded:
        code = f"try:\n{textwrap.indent(code, '    ')}\nexcept Exception:\n    pass"
    return textwrap.indent(lines + code, "    ")


def _binds_object(code: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == "x" and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(ast.parse(code))
    )


def _with_object(code: str, expression: str) -> str:
    """The code with another expression for the object."""
    tree = ast.parse(code)
    return ast.unparse(ast.fix_missing_locations(_Rename(ast.parse(expression, mode="eval").body).visit(tree)))


class _Rename(ast.NodeTransformer):
    def __init__(self, expression: ast.expr) -> None:
        self.expression = expression

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.expression if node.id == "x" else node
