"""The example `tweet_cep` against an answer computed here, by looking back from every tweet, from the same file."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.tweets import tweets as generated
from examples.data.tweets_xml import write_tweets_xml
from examples.tweet_cep import tweet_cep

COUNT = 100_000
HEADER = "author,tag,since,until\n"


def answer(lines: list[str], length: int = 5) -> str:
    """What the app must write for these tweets: who has had a tag in a multiple of `length` tweets in a row."""
    history: dict[str, list[tuple[datetime, list[str]]]] = {}
    rows = [HEADER]
    for line in lines:
        author = content(line, "screen_name")
        ts = datetime.fromisoformat(content(line, "created_at"))
        tags = re.findall(r"#(\w+)", content(line, "text").casefold())
        tweets = history.setdefault(author, [])
        if tweets and ts <= tweets[-1][0]:
            continue  # it came late, or again
        tweets.append((ts, tags))
        for place, tag in enumerate(tags):
            if tag in tags[:place]:
                continue
            in_a_row = next((n for n in range(len(tweets)) if tag not in tweets[-1 - n][1]), len(tweets))
            if in_a_row % length == 0:
                rows.append(f"{author},{tag},{tweets[-length][0].isoformat()},{ts.isoformat()}\n")
    return "".join(rows)


def content(line: str, element: str) -> str:
    found = re.search(f"<{element}>(.*?)</{element}>", line)
    assert found is not None
    return html.unescape(found[1])


def element(author: str, text: str, second: int) -> str:
    user = f"<user><screen_name>{author}</screen_name></user>"
    return f"<status><created_at>2010-07-07T00:00:{second:02}Z</created_at><text>{text}</text>{user}</status>"


def sprees(tmp_path: Path, *texts: str, **parameters: int) -> list[str]:
    """The tags and times of the sprees when one author writes these tweets, one each second."""
    lines = [element("ann", text, second) for second, text in enumerate(texts)]
    return [row.removeprefix("ann,") for row in rows_written(tmp_path, lines, **parameters)]


def rows_written(tmp_path: Path, lines: list[str], **parameters: int) -> list[str]:
    tweets, out = tmp_path / "tweets.xml", tmp_path / "sprees.csv"
    tweets.write_text("\n".join(lines), encoding="utf-8")
    ab.run(tweet_cep(tweets=str(tweets), out=str(out), **parameters))
    return [row.replace("2010-07-07T00:00:", "").replace("+00:00", "") for row in out.read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def tweets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tweets") / "tweets.xml"
    write_tweets_xml(path, COUNT, seed=7)
    return path


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(tweets: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "sprees.csv"

    ab.run(tweet_cep(tweets=str(tweets), out=str(out)), engine=engine)

    expected = answer(lines_of(tweets))
    assert 100 < expected.count("\n") < COUNT * 0.05, "sprees are rare, but there are enough for a test"
    assert out.read_text() == expected


def test_five_tweets_in_a_row_with_the_same_tag_are_a_spree(tmp_path: Path) -> None:
    assert sprees(tmp_path, "#a", "x #A y", "#b #a", "#a #a", "#a!") == ["a,00,04"]


def test_a_tweet_without_the_tag_breaks_the_row(tmp_path: Path) -> None:
    assert sprees(tmp_path, "#a", "#a", "#a", "#ab", "#a", "#a", "#a") == []


def test_a_spree_may_begin_inside_another_of_another_tag(tmp_path: Path) -> None:
    assert sprees(tmp_path, "#a", "#a #b", "#a #b", "#b", "#b", length=3) == ["a,00,02", "b,01,03"]


def test_two_tags_that_come_to_five_at_once_are_two_sprees_in_order_of_the_text(tmp_path: Path) -> None:
    assert sprees(tmp_path, "#a #b", "#a #b", "#b #a", length=3) == ["b,00,02", "a,00,02"]


def test_after_a_spree_the_count_begins_anew(tmp_path: Path) -> None:
    assert sprees(tmp_path, *["#a"] * 7, length=3) == ["a,00,02", "a,03,05"]


def test_every_author_has_a_row_of_their_own(tmp_path: Path) -> None:
    lines = [element("bob" if second % 2 else "ann", "#a", second) for second in range(8)]

    assert rows_written(tmp_path, lines, length=4) == ["ann,a,00,06", "bob,a,01,07"]


def test_a_tweet_that_comes_again_or_late_neither_counts_nor_breaks_the_row(tmp_path: Path) -> None:
    seconds = [(1, "#a"), (2, "#a"), (2, "#a"), (0, "no tag"), (3, "#a")]
    lines = [element("ann", text, second) for second, text in seconds]

    assert rows_written(tmp_path, lines, length=3) == ["ann,a,01,03"]


def test_what_xml_escapes_is_text_again(tmp_path: Path) -> None:
    assert sprees(tmp_path, "&#35;a&amp;b", "&lt;3&#10;#a", "<![CDATA[#a]]>", length=3) == ["a,00,02"]


def test_a_truncated_file_is_reported_with_its_last_line_and_what_came_before_is_written(
    tweets: Path, tmp_path: Path
) -> None:
    broken, out = tmp_path / "tweets.xml", tmp_path / "sprees.csv"
    lines = lines_of(tweets)[:20_000]
    broken.write_text("\n".join([*lines, lines[0][:80]]), encoding="utf-8")

    with pytest.raises(ab.OperatorError, match="operator 'parse' failed: ParseError") as caught:
        ab.run(tweet_cep(tweets=str(broken), out=str(out)))

    assert isinstance(caught.value.cause, ElementTree.ParseError)
    assert caught.value.item == (20_001, lines[0][:80]), "the number of the line, and its text"
    assert lines[0][:40] in str(caught.value)
    expected = answer(lines)
    assert expected.count("\n") > 20
    assert Path(f"{out}.partial").read_text() == expected


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("<status><text>#a</text></status>", "a tweet needs user/screen_name, text and created_at"),
        ("", "ParseError: no element found"),
        ("<status></user>", "ParseError: mismatched tag"),
        (element("ann", "#a", 61), "ValueError"),
    ],
)
def test_a_corrupted_tweet_stops_the_run_and_is_shown(bad: str, problem: str, tweets: Path, tmp_path: Path) -> None:
    with pytest.raises(ab.OperatorError, match=problem) as caught:
        rows_written(tmp_path, [*lines_of(tweets)[:100], bad, "never read"])

    assert (caught.value.operator, caught.value.item) == ("parse", (101, bad))


def test_a_line_that_is_no_text_is_reported_by_file_and_line(tweets: Path, tmp_path: Path) -> None:
    broken = tmp_path / "tweets.xml"
    lines = tweets.read_bytes().splitlines()[:200]
    lines[122] = b"<status><text>caf\xe9</text></status>"
    broken.write_bytes(b"\n".join(lines))

    with pytest.raises(ab.SourceError, match="not valid UTF-8: byte 0xe9 at position 18 of line 123") as caught:
        ab.run(tweet_cep(tweets=str(broken), out=str(tmp_path / "sprees.csv")))

    assert caught.value.where == f"{broken}:123"


# The tweets -----------------------------------------------------------------------------------------------------


def test_an_element_holds_its_tweet(tweets: Path) -> None:
    some = [(at, tweet) for at, tweet in enumerate(generated(COUNT, 7)) if at < 500]
    lines = lines_of(tweets)

    assert len(lines) == COUNT
    assert any("\n" in tweet.text for _, tweet in some)
    for at, tweet in some:
        status = ElementTree.fromstring(lines[at])
        assert status.findtext("id") == str(tweet.id)
        assert status.findtext("created_at") == tweet.ts
        assert status.findtext("user/screen_name") == tweet.author
        assert status.findtext("text") == tweet.text


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_tweets_xml(tmp_path / "new" / "tweets.xml", count)

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_completed_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tweets.xml"
    path.write_text("before")
    monkeypatch.setattr("examples.data.tweets_xml._element", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_tweets_xml(path, 10)

    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("tweets.xml", "before")]


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tweets.xml"
    command = [sys.executable, "-m", "examples.data.tweets_xml", "--count", "100", "--out", str(path)]

    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)

    assert len(lines_of(path)) == 100
