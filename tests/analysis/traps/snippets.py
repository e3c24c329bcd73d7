"""Bodies of operators that together contain every construct of the grammar, each evaluated when the operator runs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from .texts import read_pieces


@dataclass(frozen=True)
class Snippet:
    """Statements of an operator of a tuple `t`; `around` is what makes a coroutine of them and runs it."""

    code: str
    around: str = "BODY"

    def with_code(self, code: str) -> str:
        return self.around.replace("BODY", textwrap.indent(code, "    ") if self.around != "BODY" else code)


_ASYNC = """async def go():
BODY
try:
    go().send(None)
except StopIteration:
    pass"""


def snippets() -> Iterator[Snippet]:
    for version, code in read_pieces("snippets.txt"):
        if sys.version_info >= tuple(map(int, version.split("."))):
            is_async = code.startswith("ASYNC ")
            yield Snippet(code.removeprefix("ASYNC "), _ASYNC) if is_async else Snippet(code)
