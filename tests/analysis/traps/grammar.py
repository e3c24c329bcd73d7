"""Puts an effect into every expression position of every construct of the grammar, and sees it happen.

The positions are those of `ast`; the snippets only have to contain each of them. An expression is replaced by one
that does something and then gives the same value.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .effects import Effect
from .generate import Trap, fires, trial
from .probe import quiet
from .snippets import Snippet, snippets

Position = tuple[str, str]  # a class of node and a field of it that holds expressions


@dataclass(frozen=True)
class Form:
    """How an expression `E` gets an effect, where `_I` stands for the number of the trap."""

    name: str
    setting_up: str
    expression: str
    declares: str = ""  # a statement at the beginning of the operator
    reached: str = ""
    outside: str = ""
    is_nonlocal: bool = False
    emits: bool = False


_BUMP = "HITS_I = [0]\n\n\ndef bump_I(value):\n    HITS_I[0] += 1\n    return value"
_ASYNC_BUMP = "HITS_I = [0]\n\n\nasync def bump_I(value):\n    HITS_I[0] += 1\n    return value"
FORMS = (
    Form("call", _BUMP, "bump_I(E)", reached="HITS_I"),
    Form("lambda", _BUMP, "(lambda: bump_I(E))()", reached="HITS_I"),
    Form("append", "HITS_I = []", "(HITS_I.append(1), E)[1]", reached="HITS_I"),
    Form("next", "NEXT_I = itertools.count()", "(next(NEXT_I), E)[1]", reached="NEXT_I"),
    Form("clock", "", "(time.time(), E)[1]", outside="time.time"),
    Form("global", "COUNT_I = 0", "((COUNT_I := COUNT_I + 1), E)[1]", "global COUNT_I", reached="COUNT_I"),
    Form("nonlocal", "", "((count := count + 1), E)[1]", "nonlocal count", is_nonlocal=True),
    Form("await", _ASYNC_BUMP, "await bump_I(E)", reached="HITS_I"),
    Form("yield", "", "((yield t), E)[1]", emits=True),
)

# Positions that no effect can stand in, and why.
LEFT_OUT = {
    ("NamedExpr", "target"): "only a name",
    ("MatchValue", "value"): "only literals and dotted names; what dotted names call is among the generated traps",
    ("MatchMapping", "keys"): "only literals and dotted names; what dotted names call is among the generated traps",
    ("MatchClass", "cls"): "only dotted names; what they call is among the generated traps",
    ("JoinedStr", "values"): "only constants and formatted values, whose own expressions are covered",
    ("TemplateStr", "values"): "only constants and interpolations, whose own expressions are covered",
    ("FormattedValue", "format_spec"): "only a string with formatted values, whose own expressions are covered",
    ("Interpolation", "format_spec"): "only a string with formatted values, whose own expressions are covered",
    ("TypeAlias", "name"): "only a name",
    ("Expression", "body"): "not part of a function",
    ("FunctionType", "argtypes"): "a comment of types, never evaluated",
    ("FunctionType", "returns"): "a comment of types, never evaluated",
}


def positions() -> frozenset[Position]:
    """Every class of node and field of it that holds expressions, as `ast` says."""
    found = set()
    for kind in vars(ast).values():
        if isinstance(kind, type) and issubclass(kind, ast.AST) and kind.__doc__:
            fields = re.fullmatch(rf"{kind.__name__}\((.*)\)", kind.__doc__.replace("\n", " "))
            for field in fields[1].split(",") if fields else ():
                type_name, _, name = field.strip().partition(" ")
                if type_name.rstrip("*?") == "expr":
                    found.add((kind.__name__, name))
    return frozenset(found)


@dataclass(frozen=True)
class Planted:
    """A trap of the grammar: an effect in one place of a snippet; `covers` are the positions that it stands in."""

    trap: Trap
    covers: frozenset[Position]
    emits: bool


@functools.cache
def all_planted() -> tuple[Planted, ...]:
    """Every effect in every expression of every snippet, where it is allowed and seen to happen."""
    with quiet():
        return tuple(planted for snippet in snippets() for form in FORMS for planted in _planted(snippet, form))


def clean_operators() -> Iterator[Trap]:
    """The snippets without any effect: what the analysis should say is safe."""
    for snippet in snippets():
        source = _operator(snippet.with_code(snippet.code), FORMS[0], guarded=True)
        yield Trap("clean", ("", ""), "grammar", "none", "", source, "op_I", "map", False)


def _planted(snippet: Snippet, form: Form) -> Iterator[Planted]:
    tree = ast.parse(f"async def body(t):\n{textwrap.indent(snippet.code, '    ')}")
    for number, covers in enumerate(_spots(tree)):
        if covers and not covers & LEFT_OUT.keys():
            body = ast.unparse(_with_effect(tree, number, form).body[0].body)
            found = _seen_to_happen(snippet.with_code(body), form)
            if found is not None:
                pair = sorted(covers)[0]
                name = f"{pair[0]}.{pair[1]} {form.name}"
                kind = "flat_map" if form.emits else "map"
                trap = Trap(
                    name, pair, "grammar", form.name, "", found, "op_I", kind, bool(form.reached) or form.is_nonlocal
                )
                yield Planted(trap, covers, form.emits)


def _spots(tree: ast.AST) -> list[frozenset[Position]]:
    """For every node, in the order of `ast.walk`: the positions it stands in, or none where it is no expression."""
    parents = {child: (node, field) for node in ast.walk(tree) for field, child in _children(node)}
    return [_positions_of(node, parents) for node in ast.walk(tree)]


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context | ast.operator | ast.cmpop):
                yield field, child


def _positions_of(node: ast.AST, parents: dict[ast.AST, tuple[ast.AST, str]]) -> frozenset[Position]:
    """What is part of a target stands in the target's position, too."""
    if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return frozenset()
    found = []
    while isinstance(node, ast.expr):
        node, field = parents[node]
        found.append((type(node).__name__, field))
        if not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            break
    return frozenset(found)


def _with_effect(tree: ast.Module, number: int, form: Form) -> ast.Module:
    copied = copy.deepcopy(tree)
    wanted = next(itertools.islice(ast.walk(copied), number, None))
    effect = ast.parse(form.expression.replace("_I", "_9"), mode="eval").body
    effect = _Put(wanted).visit(effect)
    return _Replace(wanted, effect).visit(copied)


class _Put(ast.NodeTransformer):
    """Puts an expression in the place of `E`."""

    def __init__(self, expression: ast.AST) -> None:
        self.expression = expression

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.expression if node.id == "E" else node


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def _seen_to_happen(body: str, form: Form) -> str | None:
    """The source of an operator with that body, if it can be compiled and has the effect."""
    for guarded in (False, True):
        source = _operator(body.replace("_9", "_I"), form, guarded)
        try:
            has_fired, has_raised = _fires(source, form)
        except SyntaxError:
            return None
        if not has_fired:
            return None
        if not has_raised:
            return source
    return None


def _operator(body: str, form: Form, guarded: bool) -> str:
    if guarded:
        body = f"try:\n{textwrap.indent(body, '    ')}\nexcept Exception:\n    pass"
    lines = f"{form.declares}\n{body}" if form.declares else body
    lines += "\nyield t" if form.emits else "\nreturn t"
    if form.is_nonlocal:
        inside = textwrap.indent(
            f"count = 0\ndef operate(t):\n{textwrap.indent(lines, '    ')}\nreturn operate", "    "
        )
        return f"def make_I():\n{inside}\nop_I = make_I()\n"
    return f"{form.setting_up}\n\n\ndef op_I(t):\n{textwrap.indent(lines, '    ')}\n"


_CELL = "op_I.__closure__[op_I.__code__.co_freevars.index('count')].cell_contents"


def _fires(source: str, form: Form) -> tuple[bool, bool]:
    if form.emits:
        return _emits_more(source)
    reached = _CELL if form.is_nonlocal else form.reached
    effect = Effect(form.name, "", "", "", reached, form.outside)
    try:
        return fires(source, "map", effect)
    except (NameError, AttributeError, TypeError):  # no closure, so nothing is written
        return False, False


def _emits_more(source: str) -> tuple[bool, bool]:
    names = trial(source)
    has_raised, most = False, 0
    for value in range(3):
        try:
            most = max(most, len(list(names["op_I"](names["T"](value % 2, float(value))))))
        except Exception:
            has_raised = True
    return most > 1, has_raised
