"""Finding the app in a user's file, and its parameters among the options of the command."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import sys
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.api.app import App
from anabranch.errors import AnabranchError, Location, UsageError, in_words, shown
from anabranch.graph.model import Program
from anabranch.operators.failures import user_line


@dataclass(frozen=True)
class Parameter:
    """A parameter of an app, as an option of the command."""

    name: str
    type: Any  # str, int, float, bool, Path, or an Enum
    choices: tuple[Any, ...]
    is_required: bool
    default: Any
    help: str

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    def convert(self, text: str) -> Any:
        if isinstance(self.type, type) and issubclass(self.type, enum.Enum):
            return self.type[text]
        return self.type(text)


def load_app(target: str, command: str = "run") -> App[...]:
    """The app that `file.py` or `file.py:name` stands for."""
    file, separator, name = target.partition(":") if not Path(target).exists() else (target, "", "")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        problem = "there is no such file" if path.suffix == ".py" else "it is not a Python file"
        raise UsageError(
            f"{file} is not the file of an app: {problem}",
            hint=f"the app's file comes first: anabranch {command} app.py --param value",
        )
    apps = apps_of_file(path)
    if separator:
        if name not in apps:
            raise UsageError(f"{file} has no app named '{name}'", hint=f"its apps: {', '.join(apps) or 'none'}")
        return apps[name]
    if not apps:
        raise UsageError(f"{file} has no app", hint="put @ab.app above the function that builds the program")
    if len(apps) > 1:
        raise UsageError(f"{file} has several apps: {', '.join(apps)}", hint=f"say which: {file}:{next(iter(apps))}")
    return next(iter(apps.values()))


def apps_of_file(path: Path) -> dict[str, App[...]]:
    """The apps a file defines itself, not those it imports, by name."""
    module = _import(path)
    found = [value for value in vars(module).values() if type(value) is App]  # asks nothing of other objects
    return {app.name: app for app in found if app.fn.__module__ == module.__name__}


def _import(path: Path) -> types.ModuleType:
    """Run the user's file as a module of its own name, with its folder on the path as `python file.py` has it."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"app_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except AnabranchError:
        raise
    except SyntaxError as problem:
        where = Location(problem.filename or str(path), problem.lineno or 1)
        raise UsageError(
            f"{path} is not valid Python: {problem.msg} in line {problem.lineno}", location=where
        ) from problem
    except (Exception, SystemExit) as problem:
        raise in_user_code(f"{path} could not be loaded", problem) from problem
    return module


def build(app: App[...], arguments: dict[str, Any]) -> Program:
    """Call the app; a mistake in the user's own code is shown as theirs."""
    try:
        return app(**arguments)
    except AnabranchError:
        raise
    except (Exception, SystemExit) as problem:
        raise in_user_code(f"app '{app.name}' could not be built", problem) from problem


def in_user_code(what: str, problem: BaseException) -> UsageError:
    """An exception of the user's own code, shown at their line."""
    return UsageError(f"{what}: {in_words(problem)}", location=user_line(problem.__traceback__))


def _in_words(annotation: Any) -> str:
    return shown(annotation) if type(annotation) is type else str(annotation)


def parameters_of(app: App[...]) -> list[Parameter]:
    try:
        hints = typing.get_type_hints(app.fn)
    except NameError as problem:
        raise UsageError(
            f"an annotation of app '{app.name}' cannot be resolved: {problem}", location=app.location
        ) from None
    helps = _described(inspect.getdoc(app.fn) or "")
    found = []
    for parameter in app.signature.parameters.values():
        is_required = parameter.default is inspect.Parameter.empty
        default = None if is_required else parameter.default
        annotation = hints.get(parameter.name, type(default) if default is not None else str)
        kind, choices = _option_type(annotation)
        if kind is None:
            raise UsageError(
                f"parameter '{parameter.name}' of app '{app.name}' cannot become an option: {_in_words(annotation)}",
                location=app.location,
                hint="use str, int, float, bool, Path, Literal or an Enum",
            )
        found.append(Parameter(parameter.name, kind, choices, is_required, default, helps.get(parameter.name, "")))
    return found


def _option_type(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type to convert an option's text to, and the values it may have; (None, ()) where there is none."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        present = [argument for argument in arguments if argument is not type(None)]
        return _option_type(present[0]) if len(present) == 1 else (None, ())
    if origin is typing.Literal and len({type(argument) for argument in arguments}) == 1:
        return type(arguments[0]), arguments
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return annotation, tuple(annotation.__members__)
    if annotation in (str, int, float, bool) or (isinstance(annotation, type) and issubclass(annotation, Path)):
        return annotation, ()
    return None, ()


def _described(docstring: str) -> dict[str, str]:
    """Lines such as `calls: the file to read` in a docstring, by parameter."""
    found = {}
    for line in docstring.splitlines():
        name, separator, text = line.strip().partition(":")
        if separator and name.isidentifier() and text.strip():
            found[name] = text.strip()
    return found
