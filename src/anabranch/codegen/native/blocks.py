"""The loop over the tuples of one input in front of state by key: block by block, what decides first.

The records of many keys are far away. A processor that works some tuples ahead has them on their way in time, but it
works ahead on guesses: whether a tuple passes a filter, and how long the search for its key is. A wrong guess undoes
what was begun. So the rows of a block that pass are collected first, without a branch; then their keys are searched
for; and what is left is a loop with little to guess in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.codegen.native.kernel import START, Kernel
from anabranch.operators.filter import Filter

_INDENT = "    "


@dataclass(frozen=True)
class Blocks:
    """The lines for a tuple, of which some are for a whole block at once."""

    choose: list[str]  # put the rows that pass into `rows`; none where all do
    search: list[str]  # put the slot of a row's key into `slots`
    body: list[str]

    def loop(self, kernel: Kernel, items: list[str]) -> list[str]:
        """The loop over all tuples; `items` is the body with all that belongs to it."""
        kernel.uses("natural")
        kernel.uses("block_of_rows")
        arrays = [name for name, is_used in (("rows", self.choose), ("slots", self.search)) if is_used]
        lines = [f"{name} = block_of_rows()" for name in arrays]
        row = "i = natural(rows[natural(pick)])" if self.choose else "i = natural(first + pick)"
        block = self.choose or [f"chosen = min(len({arrays[0]}), n - first)"]
        if self.search:
            block = [*block, "for pick in range(chosen):", *_indented([row, *self.search])]
        block = [*block, "for pick in range(chosen):", *_indented([row, *items]), "if bad or full != 0: break"]
        return [*lines, f"for first in range(max(meta[{START}], 0), n, len({arrays[0]})):", *_indented(block)]


def blocks_of(kernel: Kernel, body: list[str]) -> Blocks | None:
    """How the lines for a tuple of the only input are cut; None where nothing can be done, or gained, ahead."""
    if not any(record.is_keyed for record in kernel.records.values()):
        return None
    choose, inside = _filter_first(kernel, body)
    at = next((at for at, line in enumerate(inside) if line in kernel.lookups), None)  # indented ones are for some only
    if at is None:
        return Blocks(choose, [], inside) if choose else None
    found = kernel.lookups[inside[at]]
    taken = [f"{found.slot} = slots[natural(pick)]", f"if {found.slot} < 0: {inside[at]}  # perhaps new in this block"]
    return Blocks(choose, [f"slots[natural(pick)] = {found.ahead}"], [*inside[:at], *taken, *inside[at + 1 :]])


def _filter_first(kernel: Kernel, body: list[str]) -> tuple[list[str], list[str]]:
    """Lines that choose the rows which pass the filter that a body begins with, and the lines for those."""
    part = kernel.part
    first = part.consumers(part.inputs[0])[0]
    at = next(at for at, line in enumerate(body) if not line.startswith("# "))
    # Lines before the condition could fail, and their variables be needed later; lines behind it are for all tuples.
    is_all = body[at].startswith("if ") and all(line.startswith(_INDENT) for line in body[at + 1 :])
    if not is_all or not isinstance(part.operator(first.target).definition, Filter):
        return [], body
    condition = body[at].removeprefix("if ").removesuffix(":")
    choose = ["i = natural(i)", "rows[natural(chosen)] = i", f"chosen += np.int64({condition})"]
    lines = [*body[:at], "chosen = 0", "for i in range(first, min(first + len(rows), n)):", *_indented(choose)]
    return lines, [line.removeprefix(_INDENT) for line in body[at + 1 :]]


def _indented(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]
