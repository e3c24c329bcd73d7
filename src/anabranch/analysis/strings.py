"""The names that stand in a text as strings: by them, functions reach attributes that they do not name."""

from __future__ import annotations

import ast
import re

from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import walk

_strings: dict[SourceText, frozenset[str]] = {}


def words_in_strings(text: SourceText) -> frozenset[str]:
    """What texts may name: "fit", or "model.fit"."""
    if text not in _strings:
        found = {
            word
            for node in walk(text.tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if re.fullmatch(r"[\w.]+", node.value)
            for word in node.value.split(".")
        }
        _strings[text] = frozenset(found)
    return _strings[text]
