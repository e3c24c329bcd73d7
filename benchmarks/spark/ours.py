"""Runs of our programs in a host: on Spark, and nowhere else."""

from __future__ import annotations

from typing import Any

import anabranch as ab


def run(session: Any, *program: Any, **options: Any) -> ab.Result:
    """A program, or the sinks of one."""
    result = ab.run(*program, engine="spark", spark=session, **options)
    stayed = [note for note in result.metrics.notes if "in the driver" in note]
    assert not stayed, f"not all of it ran on Spark: {stayed}"
    return result
