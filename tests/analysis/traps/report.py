"""What the analysis calls safe and is not: `python -m tests.analysis.traps.report [FILE]` lists it."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from .ask import called_safe, claimed_selectivities
from .generate import Trap, make_traps
from .grammar import all_planted


def report(traps: Sequence[Trap]) -> Iterator[str]:
    unsafe = called_safe(traps)
    grouped = defaultdict(list)
    for trap in unsafe:
        grouped[trap.pair[::-1]].append(trap)
    yield f"{len(unsafe)} of {len(traps)} traps are called safe, {len(grouped)} pairs"
    yield "by special method: " + ", ".join(
        f"{name} {n}" for name, n in Counter(t.pair[1] for t in unsafe).most_common()
    )
    for (method, kind), some in sorted(grouped.items()):
        of = sum(trap.pair == (kind, method) for trap in traps)
        places = ", ".join(sorted({trap.place for trap in some}))
        bases = ", ".join(sorted({trap.base for trap in some}))
        yield f"{method} by {kind}: {len(some)} of {of}; {places}; {bases}"
    for (method, kind), some in sorted(grouped.items()):
        yield f"\n--- {method} by {kind}\n{_shortest(some)}"


def _shortest(traps: Sequence[Trap]) -> str:
    source = min(traps, key=lambda trap: len(trap.source)).source
    return "\n".join(line for line in source.replace("_I", "").splitlines() if line.strip())


def report_emissions() -> Iterator[str]:
    emitting = [one.trap for one in all_planted() if one.emits]
    claimed = claimed_selectivities(emitting)
    bold = [trap for trap, claim in zip(emitting, claimed, strict=True) if claim != "1:[0,inf)"]
    yield f"{len(bold)} of {len(emitting)} operators are said to emit fewer tuples than they do"
    for pair in sorted({trap.pair for trap in bold}):
        yield f"\n--- {pair}\n{_shortest([trap for trap in bold if trap.pair == pair])}"


if __name__ == "__main__":
    lines = ["GRAMMAR", *report([one.trap for one in all_planted() if not one.emits])]
    lines += ["\nEMISSIONS", *report_emissions(), "\nTRAPS", *report(make_traps())]
    with open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout as out:
        print("\n".join(lines), file=out)
