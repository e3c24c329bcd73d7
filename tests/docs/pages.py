"""How a page of the documentation is read: its fenced blocks, its links, its headings.

The conventions of our pages:

- The `python` blocks of a page run in order, in one module and one empty folder. A `text` block directly below
  one is exactly what it prints.
- A `python` block whose first line is a comment with the name of a file (`# rises.py`) is saved under that name,
  and run as a module of its own.
- A `console` block is a dialogue: lines that begin with `$ ` are commands, those below each are what it prints.
  A line `…` stands for lines that are left out. The folder has a copy of `examples`.
- A `python signature` block lists calls; their parameters and defaults are those of the code.
- `sh` blocks are for the reader alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))

_FENCE = re.compile(r"^```(.*)$")
_LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text, the line of the page it begins at, and the block directly below."""

    kind: str
    text: str
    line: int
    below: Block | None = None

    @property
    def file_name(self) -> str | None:
        """The name a block asks to be saved under."""
        match = re.match(r"# (\w+\.py)\n", self.text)
        return match[1] if match else None

    @property
    def printed(self) -> str | None:
        return self.below.text if self.below is not None and self.below.kind == "text" else None

    @property
    def dialogue(self) -> list[tuple[str, str]]:
        """Commands and what each prints."""
        parts = re.split(r"^\$ (.+)\n", self.text, flags=re.MULTILINE)
        assert not parts[0], f"line {self.line}: a console block begins with a command"
        return list(zip(parts[1::2], parts[2::2], strict=True))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        end = next(number for number in range(at + 1, len(lines)) if lines[number] == "```")
        text = "".join(f"{line}\n" for line in lines[at + 1 : end])
        found.append(Block(fence[1].strip(), text, at + 2))
        at = end + 1
    return [_with_block_below(block, found[index + 1 :], lines) for index, block in enumerate(found)]


def _with_block_below(block: Block, later: list[Block], lines: list[str]) -> Block:
    end = block.line + block.text.count("\n")  # the line of the closing fence, counted from 1
    if later and not any(line.strip() for line in lines[end : later[0].line - 2]):
        return Block(block.kind, block.text, block.line, later[0])
    return block


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    return [one or other for one, other in _LINK.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """The names that headings can be linked by, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
