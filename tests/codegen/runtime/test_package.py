"""What compiled code can import, and what it costs to have it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anabranch.codegen import runtime


@pytest.mark.parametrize("name", runtime.__all__)
def test_every_name_that_is_offered_exists(name: str) -> None:
    assert getattr(runtime, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'find9'"):
        runtime.find9  # noqa: B018


def test_numba_is_imported_only_when_native_code_is() -> None:
    check = "import anabranch, anabranch.codegen.runtime, sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
