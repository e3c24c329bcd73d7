"""A measurement that needs a process of its own: a module of the benchmark, which prints JSON as its last line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def ask(module: str, *arguments: str, **variables: str) -> Any:
    """What the module answers; what it complains about is shown."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment(**variables), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def environment(**variables: str) -> dict[str, str]:
    """That of this process, where the same modules are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
