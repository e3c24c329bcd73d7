"""`anabranch run`: run an app, showing how far it is."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from rich.console import Console
from rich.text import Text

from anabranch.api.app import App
from anabranch.commands.app_options import channels_option, parse_app, print_command_help
from anabranch.commands.consoles import plain_console, without_notes
from anabranch.commands.generated_data import folder_for, generate_data
from anabranch.commands.run_stream import STREAM_OPTIONS, add_stream_options, run_stream
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.tail.interrupts import shielded
from anabranch.errors import UsageError
from anabranch.graph.settings import FUSIONS
from anabranch.progress import (
    figures,
    figures_so_far,
    print_collected,
    print_files,
    print_notes,
    shown,
    spark_start,
    written,
    written_so_far,
)
from anabranch.run import ENGINES, FORMS, default_engine, run

PURPOSE = "Run an app: a function with @ab.app in a Python file."
EXAMPLE = """\
example:
  anabranch run examples/mobility_fraud.py --calls calls.csv --out alerts.csv
  anabranch run examples/mobility_fraud.py --help                 what this app can be told
  anabranch run examples/mobility_fraud.py --generate 100000      makes data and runs on them
  anabranch run examples/mobility_fraud.py --calls calls/ --out alerts.csv --stream --checkpoint state/
                                                                  goes on with every file that is moved into calls/
"""

_OF_A_RUN = ("engine", "form", "fuse", "channels", "workers", "master", "spark_conf", "ui")


def run_command(given: list[str], errors: Console) -> int:
    if not given or given[0] in ("-h", "--help"):
        print_command_help("run", PURPOSE, EXAMPLE, _add_options)
        return 0 if given else 2
    with shielded():  # a signal ends it in the same way from the beginning, while the app is loaded and Spark starts
        return _run(given, errors)


def _run(given: list[str], errors: Console) -> int:
    try:
        program, options = parse_app("run", given, _add_options, partial(_generated, errors))
    except KeyboardInterrupt:
        errors.print("stopped before it began")
        raise
    options["spark_conf"] = dict(options["spark_conf"]) if options["spark_conf"] else None
    if options["stream"]:
        return run_stream(program, options, errors)
    _without_stream(options)
    metrics = Metrics()
    is_shown = errors.is_terminal and not options["quiet"]
    display: AbstractContextManager[None] = (
        shown(errors, program.name, metrics, is_on_spark=options["engine"] == "spark") if is_shown else nullcontext()
    )
    try:
        with display, without_notes(is_quiet=options["quiet"]):
            result = run(program, metrics=metrics, **{name: options[name] for name in _OF_A_RUN})
    except KeyboardInterrupt as interrupt:
        kept = written_so_far(program.graph, metrics, getattr(interrupt, "kept", {}))
        known = figures_so_far(metrics, is_on_spark=options["engine"] == "spark")
        has_begun = bool(metrics.operators)
        after = f"stopped after {known}" if has_begun else "stopped before it began"
        errors.print(f"{after}{'; what was written so far is kept' if kept else ''}")
        for line in kept:
            errors.print(f"  {line}")
        raise
    if is_shown:
        errors.print(Text.assemble(("✓ ", "green"), f"{program.name}   {figures(metrics)}"))
        started = spark_start(metrics)
        if started is not None:
            errors.print(f"  {started}")
    if not options["quiet"]:
        print_notes(errors, program.name, metrics)
    console = plain_console()
    if options["generate"] is not None:
        print_files(console, program.graph, metrics)
        console.print(f"The data are in {folder_for(program.name)}.", soft_wrap=True)
    elif is_shown:
        for line in written(program.graph, metrics):
            errors.print(f"  {line}")
    print_collected(console, result)
    return 0


def _generated(errors: Console, app: App[...], options: dict[str, Any]) -> dict[str, Any]:
    count = options["generate"]
    if count is None:
        return {}
    if errors.is_terminal and not options["quiet"]:
        errors.print(f"making data of size {count:,} in {folder_for(app.name)}")
    return generate_data(app, count)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to run it")
    group.add_argument("--generate", metavar="N", type=_size, help="make data of this size in build/, run the app on "
                       "them, and show what it writes (for files with a function 'generate')")  # fmt: skip
    group.add_argument(
        "--engine", choices=ENGINES, default=default_engine(), help="default: $ANABRANCH_ENGINE, or spark"
    )
    group.add_argument("--form", choices=FORMS, default=FORMS[0], help=f"of generated code; default: {FORMS[0]}")
    group.add_argument("--fuse", choices=FUSIONS, default=FUSIONS[0], help="which operators become one processing "
                       f"element; default: {FUSIONS[0]}")  # fmt: skip
    add_stream_options(parser)
    group.add_argument("--channels", metavar="N", type=channels_option, default="auto", help="of every parallel "
                       "region, or by region: R1=2,R2=4; or auto (default): one for each core, "
                       "of a stream on Spark four")  # fmt: skip
    group.add_argument(
        "--workers", metavar="N", type=_workers, help="of the engine multicore; default: one for each core"
    )
    spark = parser.add_argument_group("on Spark")
    spark.add_argument(
        "--master", metavar="URL", help="local[*,4] (default), local[N], spark://host:port, sc://host:port"
    )
    spark.add_argument("--spark-conf", metavar="KEY=VALUE", type=_setting, action="append", help="a setting of Spark")
    spark.add_argument("--ui", action="store_true", help="Spark's own pages about its jobs, on this machine")
    group.add_argument("--quiet", action="store_true", help="show no progress")
    group.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


def _without_stream(options: dict[str, Any]) -> None:
    for name in STREAM_OPTIONS:
        if options[name]:
            raise UsageError(f"--{name.replace('_', '-')} is for streams", hint="add --stream")


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form key=value")
    return name, value


def _size(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None


def _workers(text: str) -> int:
    number = _size(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not 1 or more")
    return number
