"""Where stores happen: in place if nothing that can fail is left on the way, and else at the end of the tuple.

Until then a tuple can be given back as if it had never been seen.
"""

from __future__ import annotations

import re

from anabranch.codegen.native.kernel import COMMIT


def with_commits(body: list[str], commits: list[list[str]], leave: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The body with its commits; what they need before it, and what is left to do behind it."""
    begin: list[str] = []
    lines: list[str] = []
    end: list[str] = []
    for at, line in enumerate(body):
        if not line.lstrip().startswith(COMMIT):
            lines.append(line)
            continue
        number = int(line.strip().removeprefix(COMMIT))
        indent = line[: len(line) - len(line.lstrip())]
        if any(_can_fail(body[later]) for later in _behind(body, at)):
            begin.append(f"commit_{number} = False")
            lines.append(f"{indent}commit_{number} = True")
            end += [f"if commit_{number}:", *(f"    {each}" for each in commits[number] or ["pass"])]
            continue
        if any(_can_fail(body[earlier]) for earlier in _before(body, at)):
            lines += [f"{indent}if bad or full != 0:", *(f"{indent}    {each}" for each in leave)]
        lines += [indent + each for each in commits[number] or ["pass"]]
    if any(_can_fail(line) for line in body):
        end = ["if bad or full != 0:", *(f"    {each}" for each in leave), *end]
    return begin, lines, end


def _can_fail(line: str) -> bool:
    return re.search(r"\bbad \|=|\bfull = ", line) is not None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_alternative(line: str) -> bool:
    return line.lstrip().startswith(("else:", "elif "))


def _behind(body: list[str], at: int) -> list[int]:
    """The lines that may run after a line: not those of the other branches of the ifs around it."""
    found, level, skipped = [], _depth(body[at]), -1
    for later in range(at + 1, len(body)):
        depth = _depth(body[later])
        if 0 <= skipped < depth:
            continue
        skipped = -1
        if depth < level:
            level = depth
            if _is_alternative(body[later]):
                skipped = depth
                continue
        found.append(later)
    return found


def _before(body: list[str], at: int) -> list[int]:
    """The lines that may have run before a line."""
    found, level, skipped = [], _depth(body[at]), -1
    for earlier in range(at - 1, -1, -1):
        depth = _depth(body[earlier])
        if 0 <= skipped < depth:
            continue
        if depth == skipped and _is_alternative(body[earlier]):
            continue
        skipped = -1
        if depth < level:
            level = depth
            if _is_alternative(body[earlier]):
                skipped = depth
                continue
        found.append(earlier)
    return found
