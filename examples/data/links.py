"""The links of a web, as `examples/pagerank.py` reads them.

    python -m examples.data.links --count 1000000 --out links.csv --seed 7

The links come page by page, as a crawler finds them. The first pages are portals with many links; most pages have few.
Few pages are linked to by many, many by few. Some are linked to, but have not been crawled: nothing is known of their
links. Now and then a page links to itself, or to another page twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from examples.data.shared import blocks, check_size, command, csv_files, trait, uniform

COLUMNS = {"page": pa.int64(), "to": pa.int64()}
BYTES_PER_LINK = 14
LINKS_PER_PAGE = 8  # on average
NOT_CRAWLED = 0.15  # of all pages are known from links only
NEARBY = 0.5  # of the links lead to a page of the same site
SITE = 20  # pages
TWICE = 0.01  # of the links are those before again
TO_ITSELF = 0.001


def write_links(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` links to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_LINK)
    with csv_files([Path(path)], COLUMNS) as (file,):
        for first, size in blocks(count):
            file.write(_links(first, size, count, seed))


def _links(first: int, size: int, count: int, seed: int) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    crawled = max(count // LINKS_PER_PAGE, 2)
    known = int(crawled / (1 - NOT_CRAWLED)) + 1
    # The crawler gets faster and faster: it begins with the pages that have the most links.
    number = first + np.arange(size)
    page = ((number / count) ** 1.5 * crawled).astype(np.int64)

    popular = (draw(0) ** 4 * known).astype(np.int64)
    nearby = np.minimum(page // SITE * SITE + (SITE * draw(1)).astype(np.int64), known - 1)
    to = np.where(draw(2) < NEARBY, nearby, popular)
    to = np.where(draw(3) < TO_ITSELF, page, to)
    begins = np.where((draw(4) < TWICE) & (page == np.roll(page, 1)), 0, np.arange(size))
    to = to[np.maximum.accumulate(begins)]
    return {"page": _numbers(page, seed), "to": _numbers(to, seed)}


def _numbers(page: np.ndarray, seed: int) -> np.ndarray:
    """The number of a page, which says nothing about the page."""
    return page * 1000 + (1000 * trait(page, seed, 20)).astype(np.int64)


if __name__ == "__main__":
    command("examples.data.links", "Write the links of a web as CSV.", "links.csv", write_links)
