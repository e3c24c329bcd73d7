"""The command `anabranch`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from rich.console import Console
from rich.text import Text

from anabranch import __version__
from anabranch.api.where import caller
from anabranch.commands.cache import cache_command
from anabranch.commands.consoles import plain_console
from anabranch.commands.examples import examples_command
from anabranch.commands.explain import explain_command
from anabranch.commands.parsers import Parser
from anabranch.commands.run import run_command
from anabranch.errors import AnabranchError, UsageError

EXAMPLE = """\
example:
  anabranch run examples/mobility_fraud.py --calls calls.csv --out alerts.csv
  anabranch run examples/mobility_fraud.py --generate 100000   the same on data made for it
  anabranch run examples/mobility_fraud.py --help      what this app can be told
  anabranch explain examples/mobility_fraud.py         what of it runs in parallel, and why the rest does not
"""

COMMANDS: dict[str, tuple[Callable[[list[str], Console], int], str]] = {
    "run": (run_command, "run an app"),
    "explain": (explain_command, "show what the compiler makes of an app"),
    "examples": (examples_command, "list the examples"),
    "cache": (cache_command, "show or clear the folder of generated code"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, 1 for an error, 2 for a wrong call, 130 for Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    errors = plain_console(stderr=True, soft_wrap=True)
    is_debug = "--debug" in given
    try:
        return _dispatch(given, errors)
    except AnabranchError as error:
        if is_debug:
            raise
        if error.location is not None and error.location.file == caller().location.file:
            error.location = None  # that is who called us: a few lines that an installer wrote
        errors.print(Text.assemble(("error: ", "bold red"), str(error)))
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is no one to tell
        return 1


def _dispatch(given: list[str], errors: Console) -> int:
    parser = Parser(
        prog="anabranch",
        description="Ordered stream programs, run with exactly the same tuples in exactly the same order.",
        epilog=EXAMPLE,
    )
    parser.add_argument("--version", action="version", version=f"anabranch {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, (_, purpose) in COMMANDS.items():
        commands.add_parser(name, help=purpose, add_help=False)
    if not given:
        parser.print_help()
        return 0
    _must_be_a_command(given[0])
    known, rest = parser.parse_known_args(given)
    if known.command is None:
        parser.print_help()
        return 2
    run, _ = COMMANDS[known.command]
    return run(rest, errors)


def _must_be_a_command(word: str) -> None:
    if word.startswith("-") or word in COMMANDS:
        return
    near = get_close_matches(word, COMMANDS, 1)
    if word.partition(":")[0].endswith(".py"):
        hint = f"anabranch run {word}"
    else:
        hint = f"anabranch {near[0]}" if near else f"use one of {', '.join(COMMANDS)}; anabranch --help says more"
    raise UsageError(f"there is no command '{word}'", hint=hint)


def command() -> NoReturn:
    """The entry point of the console script."""
    sys.exit(main())


if __name__ == "__main__":
    command()
