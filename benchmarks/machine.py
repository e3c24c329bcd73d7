"""What was measured on: the processor, how busy it was, and the versions of what took part."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console


def print_machine(console: Console, packages: Sequence[str]) -> None:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    cores = len(os.sched_getaffinity(0))
    console.print(f"{_processor()}, {cores} cores, load {load}, {platform.system()} {platform.release()}")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    console.print(f"Python {platform.python_version()}, {versions}")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "a processor")
