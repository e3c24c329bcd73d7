"""Where stores happen: in place if nothing that can fail is left on the way, and else at the end of the tuple.

Until then a tuple can be given back as if it had never been seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from anabranch.codegen.native.kernel import COMMIT, TALLY


def with_late_tallies(body: list[str]) -> tuple[list[str], list[str]]:
    """The body with each tally at the end of its block, where the tuple is certain to have happened.

    Where it is not even then, the tuple is counted at once; the counters of these are named, to be set back.
    """
    lines = list(body)
    unsettled: list[str] = []
    for at in reversed([at for at, line in enumerate(body) if _is(TALLY, line)]):
        line, level = body[at], _depth(body[at])
        end = next((later for later in range(at + 1, len(lines)) if _depth(lines[later]) < level), len(lines))
        if _some_can_fail(lines, range(end, len(lines)), level):
            unsettled.append(_content(TALLY, line).partition(" ")[0])
            lines[at] = " " * level + _content(TALLY, line)
        else:
            lines.insert(end, line)
            del lines[at]
    return lines, list(dict.fromkeys(unsettled))


def with_commits(body: list[str], commits: list[list[str]], leave: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The body with its commits; what they need before it, and what is left to do behind it."""
    begin: list[str] = []
    lines: list[str] = []
    end: list[str] = []
    for at, line in enumerate(body):
        indent = line[: _depth(line)]
        check = [f"{indent}if bad or full != 0:", *(f"{indent}    {each}" for each in leave)]
        if _is(TALLY, line):
            is_first = not _is(TALLY, body[at - 1]) or _depth(body[at - 1]) != _depth(line)
            lines += check if is_first and any(map(_can_fail, body[:at])) else []
            lines.append(indent + _content(TALLY, line))
            continue
        if not _is(COMMIT, line):
            lines.append(line)
            continue
        number = int(_content(COMMIT, line))
        if _some_can_fail(body, range(at + 1, len(body)), _depth(line)):
            begin.append(f"commit_{number} = False")
            lines.append(f"{indent}commit_{number} = True")
            end += [f"if commit_{number}:", *(f"    {each}" for each in commits[number] or ["pass"])]
            continue
        if _some_can_fail(body, range(at - 1, -1, -1), _depth(line)):
            lines += check
        lines += [indent + each for each in commits[number] or ["pass"]]
    if any(_can_fail(line) for line in body):
        end = ["if bad or full != 0:", *(f"    {each}" for each in leave), *end]
    return begin, lines, end


def _is(mark: str, line: str) -> bool:
    return line.lstrip().startswith(mark)


def _content(mark: str, line: str) -> str:
    return line.strip().removeprefix(mark)


def _can_fail(line: str) -> bool:
    return re.search(r"\bbad \|=|\bfull = ", line) is not None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_alternative(line: str) -> bool:
    return line.lstrip().startswith(("else:", "elif "))


def _some_can_fail(body: list[str], places: Iterable[int], level: int) -> bool:
    """Whether a line can fail that runs together with one of depth `level`: not in other branches of the ifs around it.

    `places` lead away from that line, forwards or backwards.
    """
    skipped = -1  # the depth of an alternative whose block is passed over
    for at in places:
        line = body[at]
        depth = _depth(line)
        if 0 <= skipped < depth or (depth == skipped and _is_alternative(line)):
            continue
        skipped = depth if depth < level and _is_alternative(line) else -1
        level = min(level, depth)
        if skipped < 0 and _can_fail(line):
            return True
    return False
