"""What tests of generated code ask for by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that a test does not share with others; it is empty at first."""
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def watched() -> Iterator[Any]:
    """What is generated while tuples flow. Programs must not reach the guard, which sets a hook for the process."""
    from tests.nothing_generated import watching

    with watching() as found:
        yield found
