"""`anabranch explain`: what the compiler makes of an app, as text, JSON, a drawing or a page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from anabranch.commands.app_options import channels_option, parse_app, print_command_help
from anabranch.commands.consoles import plain_console
from anabranch.errors import AnabranchError, UsageError
from anabranch.explain import Explanation, explain
from anabranch.graph.format import why_not_lines
from anabranch.graph.phrases import is_partitioned_into_regions, why_sequential
from anabranch.operators.formats.atomic_file import AtomicFile, writing_to
from anabranch.run import FORMS

PURPOSE = "Show what an app is made of, what of it runs in parallel, and why the rest does not."
EXAMPLE = """\
example:
  anabranch explain examples/mobility_fraud.py
  anabranch explain examples/mobility_fraud.py --channels 4 --svg fraud.svg
  anabranch explain examples/mobility_fraud.py --code                        the functions that are generated
  anabranch explain examples/mobility_fraud.py --require-parallel Speed      fails if Speed is not parallel
"""
_WIDTH = 100


def explain_command(given: list[str], errors: Console) -> int:
    if not given or given[0] in ("-h", "--help"):
        print_command_help("explain", PURPOSE, EXAMPLE, _add_options)
        return 0 if given else 2
    program, options = parse_app("explain", given, _add_options)
    explanation = explain(program, stage=options["stage"], channels=options["channels"], form=options["form"])
    if options["on_spark"]:
        _must_have_layout(explanation, options)
    sequential = _not_parallel(explanation, options["require_parallel"])
    if options["json"] or options["code"] or options["svg"] or options["html"]:
        _write(explanation, options["json"], options["code"], options["svg"], options["html"])
    else:
        _print_text(explanation, is_on_spark=options["on_spark"])
    for name in sequential:
        _print_why_not(explanation, name, errors)
    return 1 if sequential else 0


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to show")
    group.add_argument("--stage", metavar="NAME", help="what is known after this stage of the compiler: build, "
                       "properties, regions, joints, ordering, order_keys, fuse or generate, "
                       "the last and the default")  # fmt: skip
    group.add_argument("--channels", metavar="N", type=channels_option, default="auto", help="draw regions with this "
                       "many channels: 4, or for each: R1=4,R2=2")  # fmt: skip
    group.add_argument("--on-spark", action="store_true", help="also how it is laid out on Spark")
    group.add_argument("--form", choices=FORMS, default=FORMS[0], help=f"of generated code; default: {FORMS[0]}")
    group.add_argument("--code", action="store_true", help="the generated code instead of text")
    group.add_argument("--json", action="store_true", help="JSON instead of text")
    group.add_argument("--svg", metavar="FILE", help="write a drawing (- for standard output)")
    group.add_argument("--html", metavar="FILE", help="write a page with a drawing and tables (- likewise)")
    group.add_argument("--require-parallel", metavar="NAME", nargs="+", action="extend", default=[],
                       help="exit with 1 unless these operators are in parallel regions")  # fmt: skip
    group.add_argument("--debug", action="store_true", help="show the whole traceback of an error")


def _not_parallel(explanation: Explanation, required: list[str]) -> list[str]:
    if required and not is_partitioned_into_regions(explanation.plan):
        raise UsageError(
            f"after the stage '{explanation.stage}' it is not decided yet what is parallel",
            hint="leave out --stage, or name 'regions' or a later one",
        )
    return [name for name in dict.fromkeys(required) if not explanation.is_parallel(name)]


def _must_have_layout(explanation: Explanation, options: dict[str, Any]) -> None:
    """Before anything is printed or written."""
    if explanation.stage != "generate":
        raise UsageError(f"after the stage '{explanation.stage}' nothing can be laid out", hint="leave out --stage")
    for other in ("json", "code", "svg", "html"):
        if options[other]:
            raise UsageError(f"--on-spark adds to the text, and --{other} prints none", hint="call it once for each")


def _as_text(explanation: Explanation, width: int, is_on_spark: bool) -> str:
    """What `str()` of it says, or that and the layout."""
    text = explanation.to_text(width)
    if not is_on_spark:
        return text
    from anabranch.engines.spark.runs.explaining import as_text as layout_as_text

    return text + layout_as_text(explanation.plan, explanation.channels, width)


# Output ----------------------------------------------------------------------------------------------------------


def _write(explanation: Explanation, is_json: bool, is_code: bool, svg: str | None, html: str | None) -> None:
    if [is_json, is_code, svg == "-", html == "-"].count(True) > 1:
        raise UsageError("only one of --json, --code, --svg - and --html - can go to standard output")
    files: list[tuple[str | None, Callable[[], str]]] = [(svg, explanation.to_svg), (html, explanation.to_html)]
    for path, made in files:
        if path is not None and path != "-":
            _write_file(Path(path), made())
    if is_json:
        print(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False))
    if is_code:
        _print_code(explanation.to_code())
    for path, made in files:
        if path == "-":
            sys.stdout.write(made())


def _write_file(path: Path, text: str) -> None:
    """Complete or not at all, whatever was there before."""
    file = AtomicFile(path)
    try:
        with writing_to(path):
            file.place.write_text(text, encoding="utf-8")
        file.commit()
    except AnabranchError:
        file.discard()
        raise


def _print_code(code: str) -> None:
    console = plain_console()
    if not console.is_terminal:
        sys.stdout.write(code)
        return
    console.print(Syntax("", "python", theme="ansi_dark").highlight(code), soft_wrap=True, end="")


def _print_text(explanation: Explanation, *, is_on_spark: bool) -> None:
    console = plain_console()
    if not console.is_terminal:
        sys.stdout.write(_as_text(explanation, _WIDTH, is_on_spark))
        return
    text = Text(_as_text(explanation, max(60, min(console.width, 120)), is_on_spark))
    text.highlight_regex(r"(?m)^[A-Z][A-Za-z ]+$", "bold")
    text.highlight_regex(r"\bR\d+( ×\d+)?\b", "cyan")
    text.highlight_regex(r"[╔╥╫╨╚║]|\[(split|merge|shuffle|parallel source|parallel sink|region)\]", "cyan")
    text.highlight_regex(r"(?m)^ +try: .*$", "green")
    text.highlight_regex(r"(?m)^ +│ .*$", "dim")
    console.print(text, soft_wrap=True, end="")


def _print_why_not(explanation: Explanation, name: str, errors: Console) -> None:
    errors.print(Text.assemble(("error: ", "bold red"), f"'{name}' is not parallel"))
    operator = explanation.plan.graph.operator(name)
    for line in why_not_lines(why_sequential(explanation.plan, operator), _WIDTH):
        errors.print(Text(line), soft_wrap=True)
