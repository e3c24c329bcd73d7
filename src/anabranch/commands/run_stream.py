"""`anabranch run --stream`: a program on what arrives, until it is stopped."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from rich.console import Console
from rich.text import Text

from anabranch.commands.consoles import plain_console
from anabranch.dataflow.result import Result
from anabranch.dataflow.tail.interrupts import shielded
from anabranch.errors import UsageError
from anabranch.graph.model import Program
from anabranch.progress import (
    StreamLine,
    print_collected,
    print_notes,
    stream_figures,
    stream_shown,
    stream_told,
    written,
)
from anabranch.start import start_program

STREAM_OPTIONS = ("checkpoint", "once", "finish", "batch_mb")
_OF_A_START = ("form", "fuse", "channels", "master", "spark_conf", "ui", "checkpoint", "once")
_BATCH_MB = 64.0


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("as a stream")
    group.add_argument("--stream", action="store_true", help="go on with what arrives, until Ctrl-C (on Spark)")
    group.add_argument("--checkpoint", metavar="FOLDER", help="what has to survive a stop or a crash; a later start "
                       "with the same folder goes on from there")  # fmt: skip
    group.add_argument("--once", action="store_true", help="process what is there now, and stop")
    group.add_argument("--finish", action="store_true", help="take what is there now as all there is: the streams end, "
                       "and so do the windows that are open")  # fmt: skip
    group.add_argument(
        "--batch-mb", metavar="MB", type=_megabytes, help=f"of a micro-batch at most; default: {_BATCH_MB:g}"
    )


def _megabytes(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of megabytes") from None


def run_stream(program: Program, options: dict[str, Any], errors: Console) -> int:
    if not options["checkpoint"]:
        raise UsageError("a stream needs a folder for its state", hint="add --checkpoint FOLDER")
    if options["once"] and options["finish"]:
        raise UsageError("--once goes on at the next start, and --finish ends for good", hint="use one of them")
    if options["engine"] != "spark":
        raise UsageError(f"the engine '{options['engine']}' runs no streams", hint="add --engine spark")
    batch_mb = _BATCH_MB if options["batch_mb"] is None else options["batch_mb"]
    is_shown = errors.is_terminal and not options["quiet"]
    line = StreamLine(program.name)
    with shielded(), ExitStack() as display:

        def starting() -> None:
            if not options["quiet"]:
                errors.print(f"{program.name}: starting Spark; Ctrl-C stops the stream")
                display.enter_context(stream_shown(errors, line) if is_shown else stream_told(errors, line))

        given = {name: options[name] for name in _OF_A_START}
        try:
            query = start_program(program, batch_mb=batch_mb, starting=starting, **given)
        except KeyboardInterrupt:
            display.close()
            errors.print("stopped before it began; start it again with the same --checkpoint")
            return 130
        line.query = query
        try:
            with display:
                result = query.finish() if options["finish"] else query.await_done()
        except KeyboardInterrupt:
            query.stop()
            errors.print(
                f"stopped: {stream_figures(query.progress)}; start it again with the same --checkpoint to go on"
            )
            return 130
        finally:
            query.stop()
    assert isinstance(result, Result)
    if is_shown:
        errors.print(Text.assemble(("✓ ", "green"), f"{program.name}   {stream_figures(query.progress)}"))
    if not options["quiet"]:
        print_notes(errors, program.name, result.metrics)
    progress = query.progress
    if is_shown and (progress.tuples_in or progress.tuples_out):  # else what is there is of earlier runs
        for each in written(program.graph, result.metrics):
            errors.print(f"  {each}")
    print_collected(plain_console(), result)
    return 0
