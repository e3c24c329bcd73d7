"""The example `pagerank` against a replay in plain Python, exactly and in order, and against networkx."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.links import write_links
from examples.pagerank import pagerank

COUNT = 20_000
TOLERANCE = 1e-4

Links = list[tuple[int, int]]


def answer(
    links: Links, damping: float = 0.85, tolerance: float = TOLERANCE, rounds: int = 100
) -> tuple[list[tuple[int, float]], int]:
    """The pages with their ranks, as the app must write them, and the number of rounds it takes."""
    row: dict[int, list[int]] = {}
    ranks: dict[int, float] = {}
    for page, to in dict.fromkeys(links):
        row.setdefault(page, []).append(to)
        ranks |= {new: 0.0 for new in (page, to) if new not in ranks}
    got = dict.fromkeys(ranks, 0.0)
    n = len(ranks)
    for done in itertools.count():
        missing = 1.0 - sum(got.values())
        before, ranks = ranks, {page: (1.0 - damping) / n + damping * (got[page] + missing / n) for page in ranks}
        if max(abs(ranks[page] - before[page]) for page in ranks) * n < tolerance or done == rounds:
            return sorted(ranks.items(), key=lambda item: (-item[1], item[0])), done
        got = dict.fromkeys(ranks, 0.0)
        for page, rank in ranks.items():
            for to in row.get(page, []):
                got[to] += rank / len(row[page])
    raise AssertionError


def as_csv(ranks: list[tuple[int, float]]) -> str:
    return "page,rank\n" + "".join(f"{page},{rank}\n" for page, rank in ranks)


def read(path: Path) -> Links:
    with path.open(newline="") as file:
        return [(int(row["page"]), int(row["to"])) for row in csv.DictReader(file)]


def read_ranks(path: Path) -> dict[int, float]:
    with path.open(newline="") as file:
        return {int(row["page"]): float(row["rank"]) for row in csv.DictReader(file)}


def write(path: Path, links: Links) -> None:
    path.write_text("page,to\n" + "".join(f"{page},{to}\n" for page, to in links))


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("links") / "links.csv"
    write_links(path, COUNT, seed=7)
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_that_of_a_replay_in_order(links: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "ranks.csv"

    result = ab.run(pagerank(links=str(links), out=str(out)), engine=engine)

    expected, rounds = answer(read(links))
    assert 10 < rounds < 100, "the ranks converge, but not at once"
    assert out.read_text() == as_csv(expected)
    # The first round brings the links, and every round after it a rank for each page.
    assert result.metrics["Assemble"].received == len(expected) * (rounds + 1)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_hundred_thousand_links_give_what_a_replay_gives(tmp_path: Path, engine: str) -> None:
    links, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    write_links(links, 100_000, seed=11)

    ab.run(pagerank(links=str(links), out=str(out)), engine=engine)

    assert out.read_text() == as_csv(answer(read(links))[0])


@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_the_ranks_are_those_of_networkx(tmp_path: Path, damping: float) -> None:
    links, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    write_links(links, 2_000, seed=5)
    graph = nx.DiGraph(read(links))
    assert any(degree == 0 for _, degree in graph.out_degree()), "some pages have no links"

    ab.run(pagerank(links=str(links), out=str(out), damping=damping, tolerance=1e-9))

    ranks = read_ranks(out)
    expected = nx.pagerank(graph, alpha=damping, tol=1e-13, max_iter=1000)
    assert ranks == pytest.approx(expected, rel=1e-6)
    assert sum(ranks.values()) == pytest.approx(1.0, abs=1e-12)


def test_it_stops_after_the_given_number_of_rounds_though_the_ranks_still_change(links: Path, tmp_path: Path) -> None:
    out = tmp_path / "ranks.csv"

    result = ab.run(pagerank(links=str(links), out=str(out), rounds=3))

    expected, rounds = answer(read(links), rounds=3)
    assert rounds == 3
    assert out.read_text() == as_csv(expected)
    assert result.metrics["Assemble"].received == len(expected) * 4


def test_without_any_round_all_pages_are_equal_and_in_order_of_their_numbers(tmp_path: Path) -> None:
    links, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    write(links, [(30, 10), (10, 20), (20, 40)])

    ab.run(pagerank(links=str(links), out=str(out), rounds=0))

    assert out.read_text() == "page,rank\n10,0.25\n20,0.25\n30,0.25\n40,0.25\n"


def test_one_link_from_a_page_that_ranks_high_is_worth_more_than_one_from_a_page_that_does_not(tmp_path: Path) -> None:
    links, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    write(links, [(fan, 1) for fan in range(10, 20)] + [(1, 2), (19, 3)])

    ab.run(pagerank(links=str(links), out=str(out)))

    assert list(read_ranks(out))[:3] == [1, 2, 3]


def test_a_link_that_is_on_a_page_twice_counts_once(links: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    web = list(dict.fromkeys(read(links)))[:500]
    write(tmp_path / "links.csv", web)
    write(tmp_path / "repeated.csv", [*web, *web[::3]])

    ab.run(pagerank(links=str(tmp_path / "links.csv"), out=str(once)))
    ab.run(pagerank(links=str(tmp_path / "repeated.csv"), out=str(twice)))

    assert once.read_text() == twice.read_text()


def test_no_links_make_no_ranks(tmp_path: Path) -> None:
    links, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    write(links, [])

    ab.run(pagerank(links=str(links), out=str(out)))

    assert out.read_text() == "page,rank\n"


def test_a_truncated_file_is_reported_by_its_last_line_and_nothing_is_ranked(links: Path, tmp_path: Path) -> None:
    broken, out = tmp_path / "links.csv", tmp_path / "ranks.csv"
    lines = links.read_text().splitlines()[:1000]
    broken.write_text("\n".join([*lines, "7071"]))

    with pytest.raises(ab.SourceError, match="2 cells expected, got 1") as caught:
        ab.run(pagerank(links=str(broken), out=str(out)))

    assert caught.value.where == f"{broken}:1001"
    assert not out.exists(), "the first round never came to its end"


def test_a_corrupted_cell_is_reported_by_file_line_and_column(links: Path, tmp_path: Path) -> None:
    broken = tmp_path / "links.csv"
    lines = links.read_text().splitlines()
    lines[123] = lines[123].replace(",", ",0x")
    broken.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match=r"column 'to': '0x\d+' is not an int") as caught:
        ab.run(pagerank(links=str(broken), out=str(tmp_path / "ranks.csv")))

    assert caught.value.where == f"{broken}:124"


# The links ------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_links_and_another_seed_others(links: Path, tmp_path: Path) -> None:
    again, other = tmp_path / "again.csv", tmp_path / "other.csv"
    write_links(again, COUNT, seed=7)
    write_links(other, COUNT, seed=8)

    assert again.read_bytes() == links.read_bytes()
    assert other.read_bytes() != links.read_bytes()


@pytest.mark.parametrize("count", [1, 9, 250_001])
def test_there_are_as_many_links_as_were_asked_for(count: int, tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    write_links(path, count, seed=1)

    assert len(read(path)) == count


def test_few_pages_are_linked_to_by_many_some_are_not_crawled_and_some_links_occur_twice(links: Path) -> None:
    rows = read(links)
    linked = Counter(to for _, to in rows)
    linking = Counter(page for page, _ in rows)
    popular = sorted(linked.values(), reverse=True)[: len(linked) // 100]

    assert sum(popular) > COUNT * 0.1, "a hundredth of the pages gets far more than a hundredth of the links"
    assert max(linking.values()) > 4 * COUNT / len(linking)
    assert 0.03 < len(linked.keys() - linking.keys()) / len(linked) < 0.3
    assert COUNT * 0.005 < COUNT - len(set(rows)) < COUNT * 0.2


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_links(tmp_path / "new" / "links.csv", count)

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_completed_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "links.csv"
    path.write_text("before")
    monkeypatch.setattr("examples.data.links._numbers", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_links(path, 10)

    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("links.csv", "before")]


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    command = [sys.executable, "-m", "examples.data.links", "--count", "100", "--out", str(path)]

    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)

    assert len(read(path)) == 100
