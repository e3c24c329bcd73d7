"""The temporary folder of a run: for rows and states that are large (`spooling.py`), and reports (`task_progress.py`).

Where workers see another file system than the driver, nothing of theirs is in it: rows travel whole, and nothing is
known of tasks until they end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from anabranch.errors import RunError

_MOST_TRIES = 20
_BETWEEN = 0.25  # seconds


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder for as long as a run goes on."""
    try:
        folder = tempfile.mkdtemp(prefix="anabranch-")
    except OSError as problem:
        raise RunError(f"there is no room for temporary files: {problem}", hint="set TMPDIR to a folder") from None
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    """Tasks of a run that was broken off go on for a moment, and may write while the folder is being removed."""
    for _ in range(_MOST_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(_BETWEEN)
