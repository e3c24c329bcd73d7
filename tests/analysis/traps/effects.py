"""What a trap does in a special method: each effect makes it matter in which process, and how often, it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Effect:
    """Texts with `_I` for the number of the trap. `reached` is what is changed, where that can be reached by name."""

    name: str
    setting_up: str
    statement: str
    number: str
    reached: str = ""
    outside: str = ""  # the function outside of the program that is called


EFFECTS = (
    Effect("list", "HITS_I = [0]", "HITS_I[0] += 1", "(HITS_I[0] % 2 + 1)", "HITS_I"),
    Effect("dict", "SEEN_I = {}", "SEEN_I[len(SEEN_I)] = 1", "(len(SEEN_I) % 2 + 1)", "SEEN_I"),
    Effect("global", "COUNT_I = 0", "global COUNT_I\nCOUNT_I += 1", "(COUNT_I % 2 + 1)", "COUNT_I"),
    Effect(
        "class", "class Shared_I:\n    count = 0", "Shared_I.count += 1", "(Shared_I.count % 2 + 1)", "Shared_I.count"
    ),
    Effect("count", "NEXT_I = itertools.count()", "hit = next(NEXT_I)", "(hit % 2 + 1)", "NEXT_I"),
    Effect("clock", "", "hit = time.time()", "(int(hit) % 2 + 1)", outside="time.time"),
    Effect("random", "", "hit = random.random()", "(int(hit * 2) + 1)", outside="random.random"),
    Effect("file", "", "with open(os.devnull, 'a') as log:\n    log.write('x')", "1", outside="open"),
)
NO_EFFECT = Effect("none", "", "", "1")


@contextmanager
def watching(module: dict[str, Any], effect: Effect) -> Iterator[Callable[[], bool]]:
    """While a trap runs: whether its effect has happened."""
    if effect.outside:
        calls: list[int] = []
        with _replaced(module, effect.outside, calls):
            yield lambda: bool(calls)
    else:
        before = repr(eval(effect.reached, module))
        yield lambda: repr(eval(effect.reached, module)) != before


class _Counting:
    """A module, one function of which counts its calls."""

    def __init__(self, module: Any, name: str, calls: list[int]) -> None:
        self._module, self._name, self._calls = module, name, calls

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            self._calls.append(1)
        return getattr(self._module, name)


@contextmanager
def _replaced(module: dict[str, Any], function: str, calls: list[int]) -> Iterator[None]:
    owner, _, name = function.rpartition(".")
    if owner:
        real = module[owner]
        module[owner] = _Counting(real, name, calls)
        try:
            yield
        finally:
            module[owner] = real
    else:

        def counting(*args: Any, **more: Any) -> Any:
            calls.append(1)
            return open(*args, **more)

        module[name] = counting
        try:
            yield
        finally:
            del module[name]
