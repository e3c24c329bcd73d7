"""What stops a stream in Spark, in words, with what to do: it went on up to a commit, and that is still there."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from anabranch.dataflow.streams.sealed_files import BEGIN_ANEW, MAKE_ROOM
from anabranch.engines.spark.session.spark_errors import JAVA_HAS_GONE, SparkError, spark_error
from anabranch.errors import in_words, shortened

_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_DAMAGED = re.compile(
    r"[Cc]hecksum|[Ii]ncomplete log file|[Mm]alformed|[Cc]orrupt|CANNOT_LOAD_|CANNOT_READ_|STATE_STORE|_CHECKPOINT"
    r"|log file|batch \d+ (?:does not|doesn't) exist|the checkpoint is damaged"
)
_CAUSE = re.compile(r"Caused by: (?:[\w.$]+: )?(.+)")
_START_AGAIN = "start the stream again: it goes on where it was"


def stream_error(problem: BaseException, checkpoint: Path) -> SparkError:
    """The error of a stream of which Spark says that it has failed."""
    error = spark_error(problem)
    everything = in_words(problem)
    if JAVA_HAS_GONE in error.message:
        return SparkError(error.message, hint=_START_AGAIN)
    if _FULL.search(everything):
        folder, remedy = _fullest(checkpoint)
        return SparkError(f"{folder}: the disk is full, and Spark cannot write there", hint=remedy)
    if error.hint is None and _DAMAGED.search(everything):
        said = error.message.removeprefix("Spark failed: ")
        causes = _CAUSE.findall(everything)
        if causes and said.startswith("An error occurred while calling"):
            said = shortened(causes[-1].strip())
        return SparkError(f"{checkpoint}: Spark cannot use its part of the checkpoint: {said}", hint=BEGIN_ANEW)
    return error


def _fullest(checkpoint: Path) -> tuple[Path, str]:
    """Spark writes to the checkpoint, and to the temporary folder first: the one of them that has less room."""
    temporary = Path(tempfile.gettempdir())
    try:
        is_checkpoint = _room(checkpoint) <= _room(temporary)
    except OSError:
        is_checkpoint = True
    if is_checkpoint:
        return checkpoint, MAKE_ROOM
    return temporary, f"set TMPDIR to a folder on another disk; or {MAKE_ROOM}"


def _room(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
