"""Every row of the table that says what a program means has a file here that names it and quotes it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROWS = [
    "several sources",
    "the end",
    "feedback",
    "values",
    "time",
    "sliding windows",
    "`aggregate(group_by=)`",
    "`join`",
    "`merge_by(a)`",
    "`barrier`",
    "`sort(count=n)`",
    "memory",
    "errors",
]


@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_named_by_a_file_with_tests(row: str) -> None:
    found = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        docstring = ast.get_docstring(module) or ""
        has_tests = any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in module.body)
        if docstring.startswith("The row") and f'"{row}"' in docstring and has_tests:
            found.append(path.name)
    assert len(found) == 1
