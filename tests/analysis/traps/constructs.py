"""Every syntax that can call a special method, as small texts in which `x` is the object and `K` its class."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from .texts import read_pieces

THEN = "# then"  # what stands before it only sets up


@dataclass(frozen=True)
class Construct:
    """A few statements with the object in them. `kind` is the node's class, or the qualified name of what is called."""

    kind: str
    code: str
    apart: str = ""  # the same, where the setting up has to stand apart for the probe

    def text(self) -> str:
        """The construct as a function of the object, which says where the setting up is over."""
        code = self.apart or self.code
        code = code if THEN in code else f"{THEN}\n{code}"
        return "def run(x):\n" + textwrap.indent(code.replace(THEN, "begin()"), "    ")


_OPERATORS = ["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"]
_COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]

_ASYNC = "async def go():\n{body}\ntry:\n    go().send(None)\nexcept StopIteration:\n    pass"


def syntax_constructs() -> Iterator[Construct]:
    for kind, text in read_pieces("syntax.txt"):
        code = text
        if text.startswith("ASYNC "):
            code = _ASYNC.format(body=textwrap.indent(text.removeprefix("ASYNC "), "    "))
        yield Construct(kind, code)
    for sign in _OPERATORS:
        for code in (f"x {sign} 1", f"1 {sign} x", f"x {sign} x", f"x {sign} 'a'", f"[1] {sign} x", f"1.5 {sign} x"):
            yield Construct("BinOp", code)
        yield Construct("AugAssign", f"x {sign}= 1")
        yield Construct("AugAssign", f"y = x\ny {sign}= x")
        yield Construct("AugAssign", f"y = 1\ny {sign}= x")
    for sign in _COMPARISONS:
        for code in (f"x {sign} 1", f"1 {sign} x", f"x {sign} x", f"(1, x) {sign} (1, 2)", f"[x] {sign} [1]"):
            yield Construct("Compare", code)
