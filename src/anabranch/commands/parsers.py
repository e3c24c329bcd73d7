"""Reads the options of a command, and says what is wrong with a call as every error is said."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import Any, NoReturn

_UNKNOWN = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """One whose help is shown as it is written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}\n  try: {self._hint(message)}\n")

    def _hint(self, message: str) -> str:
        """The option that was meant, where one is spelled much like it; else where they all stand."""
        unknown = message.removeprefix(_UNKNOWN).split() if message.startswith(_UNKNOWN) else []
        known = [option for action in self._actions for option in action.option_strings]
        for word in unknown:
            near = get_close_matches(word.partition("=")[0], known, 1, 0.7) if word.startswith("--") else []
            if near:
                return f"{near[0]} in place of {word.partition('=')[0]}"
        return f"{self.prog} --help"
