"""`--generate`: an app runs on data that the function `generate` in its own file makes.

    def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]

writes data of the given size into a folder, and returns what the app has to be told to use them, by parameter.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anabranch.api.app import App
from anabranch.errors import AnabranchError, Location, UsageError, shown
from anabranch.load import in_user_code, parameters_of

SIGNATURE = "def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]"


def folder_for(app_name: str) -> Path:
    """Where the data of an app go: the same place every time, so that they do not pile up."""
    return Path("build") / app_name


def generate_data(app: App[...], count: int) -> dict[str, Any]:
    """Make the data of an app; the parameters that lead to them."""
    generate = _generator_of(app)
    folder = folder_for(app.name)
    # Generators are imported by their full names (examples.data.calls), as `python -m` does from the folder above.
    above = str(Path(app.location.file).resolve().parent.parent)
    if above not in sys.path:
        sys.path.append(above)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parameters = generate(count, folder)
    except (ValueError, OSError) as problem:  # a size that makes no sense, a disk that is full: said in plain words
        raise UsageError(f"no data can be made: {problem}") from problem
    except AnabranchError:
        raise
    except Exception as problem:
        raise in_user_code(f"'generate' of app '{app.name}' failed", problem) from problem
    return _checked(parameters, app, generate)


def _generator_of(app: App[...]) -> Callable[[int, Path], Any]:
    generate = app.fn.__globals__.get("generate")
    if not inspect.isfunction(generate) or generate.__module__ != app.fn.__module__:
        raise UsageError(
            f"app '{app.name}' has no data of its own: there is no function 'generate' in its file",
            location=app.location,
            hint=SIGNATURE,
        )
    return generate


def _checked(parameters: object, app: App[...], generate: Callable[..., Any]) -> dict[str, Any]:
    where = Location(generate.__code__.co_filename, generate.__code__.co_firstlineno)
    if not isinstance(parameters, dict):
        raise UsageError(
            f"'generate' must return the parameters of app '{app.name}', but returned {shown(parameters)}",
            location=where,
            hint='for example: return {"calls": str(folder / "calls.csv")}',
        )
    for name in parameters:
        if name not in app.signature.parameters:
            raise UsageError(
                f"'generate' returned '{name}', which is no parameter of app '{app.name}'",
                location=where,
                hint=f"its parameters: {', '.join(app.signature.parameters) or 'none'}",
            )
    types = {parameter.name: parameter for parameter in parameters_of(app)}
    return {name: types[name].convert(value) if isinstance(value, str) else value for name, value in parameters.items()}
