"""`anabranch examples`: the apps in the folder `examples`, with a line on what each does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from anabranch.commands.consoles import plain_console
from anabranch.commands.parsers import Parser
from anabranch.errors import AnabranchError, UsageError
from anabranch.load import apps_of_file

FOLDER = Path("examples")
PURPOSE = "List the apps in the folder 'examples', with a line on what each does."
EXAMPLE = """\
example:
  anabranch examples
  anabranch run examples/mobility_fraud.py --generate 100000      makes data and runs on them
"""


def examples_command(given: list[str], errors: Console) -> int:
    parser = Parser(
        prog="anabranch examples",
        description=PURPOSE,
        epilog=EXAMPLE,
    )
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
    parser.parse_args(given)
    files = sorted(FOLDER.glob("*.py"), key=_by_number)
    if not files:
        raise UsageError(
            f"there are no examples here: {Path.cwd()} has no folder '{FOLDER}' with apps in it",
            hint="go to the project's own folder, and run the command there",
        )
    listed = [entry for path in files for entry in _listed(path)]
    width = max(len(target) for target, _ in listed)
    console = plain_console(soft_wrap=True)
    for target, summary in listed:
        console.print(Text.assemble(target.ljust(width + 2), summary))
    console.print(f"\nTo run one on data made for it: anabranch run {FOLDER}/NAME.py --generate 100000")
    return 0


def _by_number(path: Path) -> list[tuple[str, int]]:
    """An order in which q2 comes before q15."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path.stem)]


def _listed(path: Path) -> Iterator[tuple[str, Text]]:
    """The apps of a file; a file that cannot be loaded, or has none, is listed with the reason."""
    try:
        apps = apps_of_file(path)
    except AnabranchError as problem:
        yield str(path), Text(problem.message, style="red")
        return
    if not apps:
        yield str(path), Text("it has no app", style="red")
    for app in apps.values():
        target = str(path) if len(apps) == 1 else f"{path}:{app.name}"
        yield target, Text(app.summary)
