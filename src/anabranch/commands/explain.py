"""`anabranch explain`: what the compiler makes of an app, as text, JSON, a drawing or a page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from anabranch.commands.app_options import channels_option, parse_app, print_command_help
from anabranch.commands.consoles import plain_console
from anabranch.errors import AnabranchError, UsageError
from anabranch.explain import PLANNED_ENGINES, Explanation, explain
from anabranch.graph.format import why_not_lines
from anabranch.graph.phrases import is_partitioned_into_regions, why_sequential
from anabranch.graph.settings import FUSIONS
from anabranch.operators.formats.addresses import scheme_of, without_secrets
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
    asked = {name: options[name] for name in ("stage", "engine", "channels", "form", "fuse", "expect", "stream")}
    explanation = explain(program, **asked)
    sequential = _not_parallel(explanation, options["require_parallel"])
    if options["json"] or options["code"] or options["svg"] or options["html"]:
        _write(explanation, options["json"], options["code"], options["svg"], options["html"])
    else:
        _print_text(explanation)
    for name in sequential:
        _print_why_not(explanation, name, errors)
    return 1 if sequential else 0


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to show")
    group.add_argument("--stage", metavar="NAME", help="what is known after this stage of the compiler: build, "
                       "properties, regions, joints, ordering, layout, fuse, forms or weigh, "
                       "the last and the default")  # fmt: skip
    group.add_argument("--channels", metavar="N", type=channels_option, default="auto", help="regions with this "
                       "many channels: 4, or for each: R1=4,R2=2")  # fmt: skip
    group.add_argument("--engine", choices=PLANNED_ENGINES, default=PLANNED_ENGINES[0], help="whose plan to show; "
                       f"default: {PLANNED_ENGINES[0]}")  # fmt: skip
    group.add_argument(
        "--stream", action="store_true", help="the plan of a stream, as `anabranch run --stream` begins it"
    )
    group.add_argument("--expect", metavar="N", type=int, help="plan for so many tuples (default: what the sources "
                       "look like)")  # fmt: skip
    group.add_argument("--fuse", choices=FUSIONS, default=FUSIONS[0], help="which operators become one function; "
                       f"default: {FUSIONS[0]}")  # fmt: skip
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
    light = explanation.plan.light  # safe in channels, where there are more of them or more is done for a tuple
    return [each for each in dict.fromkeys(required) if not explanation.is_parallel(each) and each not in light]


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
    if scheme_of(str(path)) is not None:
        raise UsageError(f"{without_secrets(str(path))}: is an address", hint="name a file")
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


def _print_text(explanation: Explanation) -> None:
    console = plain_console()
    if not console.is_terminal:
        sys.stdout.write(explanation.to_text(_WIDTH))
        return
    text = Text(explanation.to_text(max(60, min(console.width, 120))))
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
