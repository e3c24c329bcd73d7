"""`@ab.app`: a function that builds a program, whose parameters become options of the command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec

from anabranch.api.draft import Draft, building, freeze_app
from anabranch.api.where import caller
from anabranch.errors import BuildError, Location, shown
from anabranch.graph.model import Program

P = ParamSpec("P")


class App(Generic[P]):
    """A program to be: calling it with its parameters builds the `Program`."""

    def __init__(self, fn: Callable[P, object]) -> None:
        functools.update_wrapper(self, fn)
        self.fn = fn
        self.name: str = fn.__name__
        self.location = Location(fn.__code__.co_filename, fn.__code__.co_firstlineno)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Program:
        draft = Draft(self.name, self.location)
        with building(draft, caller().location):
            self.fn(*args, **kwargs)
        graph = freeze_app(draft)
        return Program(graph, self.location, self._bound(args, kwargs))

    def _bound(self, args: Any, kwargs: Any) -> tuple[tuple[str, Any], ...]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.items())

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.fn) or "").partition("\n")[0]

    def __repr__(self) -> str:
        return f"<App {self.name}{self.signature}>"


def app(fn: Callable[P, object]) -> App[P]:
    """Make a function an app: every source, operator and sink it calls belongs to the program it builds.

    Its parameters become options of `anabranch run file.py`; a call gives the `Program`.

    >>> import anabranch as ab
    >>> from typing import NamedTuple
    >>> class Reading(NamedTuple):
    ...     value: float
    >>> @ab.app
    ... def hot(limit: float = 30.0):
    ...     readings = ab.from_items(Reading, [Reading(20.0), Reading(40.0)])
    ...     readings.filter(lambda r: r.value > limit).collect("hot")
    >>> ab.run(hot(limit=10.0)).items("hot")
    [Reading(value=20.0), Reading(value=40.0)]
    """
    if not inspect.isfunction(fn):
        raise BuildError(
            f"@ab.app is for functions, not for {shown(fn)}",
            location=caller().location,
            hint="put it above a function that builds a program",
        )
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise BuildError(
                f"app '{fn.__name__}' takes '{parameter}', which cannot become an option of the command",
                location=caller().location,
                hint="name every parameter, with a default where there is one",
            )
    return App(fn)
