"""How long the compiler takes to explain a program: `python -m benchmarks.explain`.

Every operator has code of its own, so that nothing is analysed only once and then remembered.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anabranch as ab

SIZES = (60, 500)
REPEATS = 5
MANY = 10_000_000  # so many tuples that native code pays: whether it can be had is looked at too

HEADER = """
from typing import Iterator, NamedTuple
import anabranch as ab

class Item(NamedTuple):
    k: int
    l: int
    value: float
"""

KINDS = (
    """
def step_{n}(item: Item) -> Item:
    scaled = item.value * {n}.5
    return item._replace(value=scaled if scaled > 0 else -scaled)
""",
    """
def step_{n}(item: Item) -> bool:
    return item.value > {n} and item.k % {n} != 1
""",
    """
class Step{n}:
    def __init__(self) -> None:
        self.count = {n}
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        if self.last is not None and item.value != self.last.value:
            self.count += 1
            yield item._replace(value=item.value - self.last.value + self.count)
        self.last = item
""",
)
CALLS = (".map(step_{n})", ".filter(step_{n})", '.process(Step{n}, key="{key}")')


def program_of(size: int, folder: Path) -> ab.Program:
    """A chain of `size` operators, each with a function or class of its own, whose keys change now and then."""
    definitions, calls = [], []
    for n in range(2, size):
        kind = n % len(KINDS)
        definitions.append(KINDS[kind].format(n=n))
        calls.append(CALLS[kind].format(n=n, key="kl"[n // 30 % 2]))
    source = "ab.from_items(Item, [Item(1, 2, 3.0)])"
    body = f"@ab.app\ndef program() -> None:\n    ({source}\n        " + "\n        ".join(calls)
    path = folder / f"program_{size}.py"
    path.write_text(HEADER + "".join(definitions) + "\n" + body + '\n        .collect("out"))\n')
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    built: ab.Program = module.program()
    return built


def main() -> None:
    figures: dict[str, float] = {}
    print(f"{'operators':>10} {'what':<22} {'median s':>9} {'min':>7} {'max':>7}")
    for size in SIZES:
        taken: dict[str, list[float]] = {"explained": [], "drawn": []}
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as folder:
                program = program_of(size, Path(folder))
                start = time.perf_counter()
                explanation = ab.explain(program, expect=MANY)
                str(explanation)
                taken["explained"].append(time.perf_counter() - start)
                start = time.perf_counter()
                explanation.to_svg()
                taken["drawn"].append(time.perf_counter() - start)
        for what, seconds in taken.items():
            median = statistics.median(seconds)
            print(f"{size:>10} {what:<22} {median:>9.2f} {min(seconds):>7.2f} {max(seconds):>7.2f}")
            figures[f"{what}_{size}_seconds"] = round(median, 3)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
