"""What every command that takes an app has in common: finding it, and its parameters as options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from anabranch.api.app import App
from anabranch.commands.parsers import Parser
from anabranch.errors import UsageError
from anabranch.graph.model import Program
from anabranch.graph.settings import Channels
from anabranch.load import Parameter, build, load_app, parameters_of

OwnOptions = Callable[[argparse.ArgumentParser], None]
"""Adds the options of the command itself, in groups of their own."""
MoreArguments = Callable[[App[...], dict[str, Any]], dict[str, Any]]
"""Arguments for the app that follow from the command's own options; what the user gives wins over them."""


def print_command_help(command: str, purpose: str, epilog: str, own_options: OwnOptions) -> None:
    """Help for a command without an app."""
    parser = _parser(command, None, purpose, epilog)
    parser.add_argument("target", metavar="app.py[:name]", help="the file of the app")
    own_options(parser)
    parser.print_help()


def parse_app(
    command: str, given: list[str], own_options: OwnOptions, more_arguments: MoreArguments | None = None
) -> tuple[Program, dict[str, Any]]:
    """The program that the arguments of a command describe, and the values of the command's own options."""
    target = given[0]
    if target.startswith("-"):
        raise UsageError(
            f"the app's file comes first, before {target}", hint=f"anabranch {command} app.py --param value"
        )
    app = load_app(target, command)
    parser = _parser(command, target, app.summary, "")
    parser.add_argument("target", help=argparse.SUPPRESS)
    parameters = parameters_of(app)
    group = parser.add_argument_group("parameters of the app") if parameters else parser
    own_options(parser)
    for parameter in parameters:
        _add_parameter(group, parameter, app.name)
    options = vars(parser.parse_args(given))
    arguments = {
        name.removeprefix("parameter_"): value for name, value in options.items() if name.startswith("parameter_")
    }
    if more_arguments is not None:
        arguments = more_arguments(app, options) | arguments
    missing = [each.option for each in parameters if each.is_required and each.name not in arguments]
    if missing:
        parser.error(f"the following arguments are required: {', '.join(missing)}")
    return build(app, arguments), options


def channels_option(text: str) -> Channels:
    """The type of `--channels`: `4`, `R1=4,R2=2` or `auto`."""
    if text == "auto":
        return "auto"
    try:
        if "=" not in text:
            return int(text)
        return {name.strip(): int(number) for name, _, number in (each.partition("=") for each in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number, not R1=4,R2=2, and not auto") from None


def _parser(command: str, target: str | None, purpose: str, epilog: str) -> argparse.ArgumentParser:
    shown_target = target or "app.py[:name]"
    return Parser(
        prog=f"anabranch {command} {shown_target}",
        usage=f"anabranch {command} {shown_target} [options]",
        description=purpose,
        epilog=epilog,
    )


def _add_parameter(group: Any, parameter: Parameter, app_name: str) -> None:
    notes = "required" if parameter.is_required else f"default: {parameter.default}"
    help_text = f"{parameter.help} ({notes})" if parameter.help else notes
    common: dict[str, Any] = {
        "dest": f"parameter_{parameter.name}",
        "default": argparse.SUPPRESS,
        "help": help_text.replace("%", "%%"),
    }
    try:
        if parameter.type is bool:
            group.add_argument(parameter.option, action=argparse.BooleanOptionalAction, **common)
        else:
            choices = [str(choice) for choice in parameter.choices] or None
            metavar = "|".join(choices) if choices else parameter.type.__name__.upper()
            group.add_argument(parameter.option, metavar=metavar, type=_converter(parameter), **common)
    except argparse.ArgumentError:
        raise UsageError(
            f"parameter '{parameter.name}' of app '{app_name}' is an option of the command itself",
            hint=f"rename it, for example to '{parameter.name}_'",
        ) from None


def _converter(parameter: Parameter) -> Callable[[str], Any]:
    choices = [str(choice) for choice in parameter.choices]

    def convert(text: str) -> Any:
        if choices and text not in choices:
            raise argparse.ArgumentTypeError(f"'{text}' is not one of {', '.join(choices)}")
        try:
            return parameter.convert(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is no {parameter.type.__name__}") from None

    return convert
