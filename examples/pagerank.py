"""The most important pages of a web: PageRank, as a loop that runs in rounds.

Make a web, and rank its pages:

    python -m examples.data.links --count 100000 --out links.csv
    anabranch run examples/pagerank.py --links links.csv --out ranks.csv

This is the kernel "PageRank" of Schneider et al., "Safe Data Parallelism for General Streaming". Each round multiplies
the ranks of all pages with the matrix of links. The rows of the matrix are spread over parallel channels; between two
rounds the new ranks are put together in one place.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Link(NamedTuple):
    page: int
    to: int


class Entry(NamedTuple):
    """What enters the loop, and what comes around: first the links, and then, in every round, a rank for each page."""

    page: int
    to: int | None  # where the page links to, in the first round
    rank: float


class Share(NamedTuple):
    """What a page gets from one that links to it; added up, from all."""

    page: int
    amount: float


class Rank(NamedTuple):
    page: int
    rank: float


def as_entry(link: Link) -> Entry:
    return Entry(link.page, link.to, 0.0)


def highest_first(rank: Rank) -> tuple[float, int]:
    return -rank.rank, rank.page


class Multiply:
    """A page shares its rank equally among those it links to. Its links are its row of the matrix."""

    def __init__(self) -> None:
        self.links: list[int] = []

    def process(self, entry: Entry) -> Iterator[Share]:
        if entry.to is not None:
            self.links.append(entry.to)
            # Nothing to share yet, but both pages are known from now on.
            yield Share(entry.page, 0.0)
            yield Share(entry.to, 0.0)
        else:
            for to in self.links:
                yield Share(to, entry.rank / len(self.links))


class Add:
    """What a page got in this round."""

    def __init__(self) -> None:
        self.page = 0
        self.amount = 0.0

    def process(self, share: Share) -> None:
        self.page = share.page
        self.amount += share.amount

    # A punctuation stands at the end of every round.
    def punctuation(self) -> Share:
        amount, self.amount = self.amount, 0.0
        return Share(self.page, amount)


class Assemble:
    """Makes the next ranks of what the pages got, and decides whether there is another round.

    All ranks together are 1. Whatever is missing from that at the end of a round, pages without links did not pass on,
    or there were no ranks yet: every page gets the same part of it.
    """

    def __init__(self, damping: float, tolerance: float, rounds: int) -> None:
        self.damping = damping
        self.tolerance = tolerance
        self.rounds_left = rounds
        self.ranks: dict[int, float] = {}
        self.amounts: dict[int, float] = {}

    def process(self, share: Share) -> None:
        self.amounts[share.page] = share.amount

    def punctuation(self) -> Iterator[Entry | ab.To]:
        pages = len(self.amounts)
        missing = 1.0 - sum(self.amounts.values())
        largest_change = 0.0
        for page, amount in self.amounts.items():
            rank = (1.0 - self.damping) / pages + self.damping * (amount + missing / pages)
            largest_change = max(largest_change, abs(rank - self.ranks.get(page, 0.0)))
            self.ranks[page] = rank
        if largest_change * pages < self.tolerance or self.rounds_left == 0:
            ranks = [Rank(page, rank) for page, rank in self.ranks.items()]
            for ranked in sorted(ranks, key=highest_first):
                yield ab.to("ranks", ranked)
        else:
            self.rounds_left -= 1
            for page, rank in self.ranks.items():
                yield Entry(page, None, rank)


@ab.app
def pagerank(
    links: str = "links.csv",
    out: str = "ranks.csv",
    damping: float = 0.85,
    tolerance: float = 1e-4,
    rounds: int = 100,
) -> None:
    """Rank the pages of a web by the ranks of the pages that link to them.

    links: a CSV file of links between pages
    out: where to write the ranks, the highest first
    damping: how much of its rank a page passes on
    tolerance: the ranks are final when none changes by more than this part of the average rank
    rounds: after this many rounds they are final in any case
    """

    def rank(loop: ab.Stream[Entry]) -> tuple[ab.Stream[Rank], ab.Stream[Entry]]:
        sums = loop.process(Multiply, key="page").process(Add, key="page")
        # What is emitted here goes around; the ranks leave the loop. A round for which nothing is emitted ends it.
        entries = sums.process(partial(Assemble, damping, tolerance, rounds), outputs={"ranks": Rank})
        return entries.outputs.ranks, entries

    # The same link may be on a page twice.
    ab.read_csv(links, Link).distinct().map(as_entry).feedback(rank, rounds=True).write_csv(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.links import write_links

    write_links(folder / "links.csv", count, seed)
    return {"links": str(folder / "links.csv"), "out": str(folder / "ranks.csv")}
