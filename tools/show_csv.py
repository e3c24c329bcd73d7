"""Shows the first and the last rows of a CSV file as a table, and where the file is."""

from __future__ import annotations

import csv
import sys
from collections import deque
from itertools import islice

from rich.console import Console
from rich.table import Table

HEAD = TAIL = 4


def show(path: str) -> None:
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        columns = next(rows, [])
        head = list(islice(rows, HEAD))
        tail: deque[list[str]] = deque(maxlen=TAIL)
        count = len(head)
        for row in rows:
            tail.append(row)
            count += 1

    table = Table(*columns)
    for row in head:
        table.add_row(*row)
    if count > HEAD + TAIL:
        table.add_row(*["…"] * len(columns))
    for row in tail:
        table.add_row(*row)
    console = Console()
    console.print(table)
    console.print(f"{count:,} rows in {path}", highlight=False)


if __name__ == "__main__":
    show(sys.argv[1])
