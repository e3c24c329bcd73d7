"""Where stores happen: in place if nothing that can fail is left on the way, and else at the end of the tuple.

Until then a tuple can be given back as if it had never been seen.
"""

from __future__ import annotations

import re

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
        if any(_can_fail(lines[later]) for later in _after(lines, end, level)):
            unsettled.append(_content(TALLY, line))
            lines[at] = f"{' ' * level}{unsettled[-1]} += 1"
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
            lines.append(f"{indent}{_content(TALLY, line)} += 1")
            continue
        if not _is(COMMIT, line):
            lines.append(line)
            continue
        number = int(_content(COMMIT, line))
        if any(_can_fail(body[later]) for later in _after(body, at + 1, _depth(line))):
            begin.append(f"commit_{number} = False")
            lines.append(f"{indent}commit_{number} = True")
            end += [f"if commit_{number}:", *(f"    {each}" for each in commits[number] or ["pass"])]
            continue
        if any(_can_fail(body[earlier]) for earlier in _before(body, at)):
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


def _after(body: list[str], start: int, level: int) -> list[int]:
    """The lines from `start` on that may run after one of this depth: not other branches of the ifs around it."""
    found, skipped = [], -1
    for later in range(start, len(body)):
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
