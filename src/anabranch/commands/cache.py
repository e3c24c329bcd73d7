"""`anabranch cache`: the folder that keeps generated code from one run to the next."""

from __future__ import annotations

from rich.console import Console
from rich.filesize import decimal

from anabranch.codegen import cache_folder
from anabranch.commands.consoles import plain_console
from anabranch.commands.parsers import Parser
from anabranch.graph.phrases import counted

PURPOSE = """\
Show the folder that keeps generated code and what numba compiled of it, so that the next run need not wait for it.
It can be cleared at any time; what is needed is made again."""
EXAMPLE = f"""\
example:
  anabranch cache
  anabranch cache --clear
  {cache_folder.VARIABLE}=/scratch/cache anabranch run app.py      keeps it in another folder
"""


def cache_command(given: list[str], errors: Console) -> int:
    parser = Parser(
        prog="anabranch cache",
        description=PURPOSE,
        epilog=EXAMPLE,
    )
    parser.add_argument("--clear", action="store_true", help="remove everything that is in it")
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
    options = parser.parse_args(given)
    console = plain_console(soft_wrap=True)
    for line in _unusable():
        console.print(line)
    for folder in cache_folder.lasting_folders():
        found = cache_folder.entries(folder)
        size = counted(len(found), "module") + f", {decimal(sum(entry.size for entry in found))}"
        if options.clear:
            cache_folder.clear(folder)
        console.print(f"{folder}: {size}{' removed' if options.clear else ''}")
    return 0


def _unusable() -> list[str]:
    wanted = cache_folder.wanted_folder()
    if wanted is None:
        return ["There is no home folder to keep generated code in."]
    problem = cache_folder.problem_with(wanted)
    return [f"{wanted} cannot be used: {problem}."] if problem is not None else []
