"""The example `tweet_nlp` against an answer computed here, letter by letter, from the same file."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.tweets import write_tweets
from examples.tweet_nlp import tweet_nlp

COUNT = 20_000
HEADER = "tweet,word,length,times,frequency\n"


def answer(lines: list[str], shortest: int = 1) -> str:
    """What the app must write for these tweets."""
    rows = [HEADER]
    for line in lines:
        tweet = json.loads(line)
        words = words_of(tweet["text"])
        for word, times in Counter(words).items():
            if len(word) >= shortest:
                rows.append(f"{tweet['id']},{word},{len(word)},{times},{times / len(words)}\n")
    return "".join(rows)


def words_of(text: str) -> list[str]:
    """Without regular expressions: what is no word is cut out, long runs are cut short, the rest is split."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    kept, at = [], 0
    while at < len(text):
        if text.startswith(("http://", "https://"), at) and text[at : at + 9].split("//")[1].strip():
            at += len(list(itertools.takewhile(lambda sign: not sign.isspace(), text[at:])))
            kept.append(" ")
        elif text[at] == "@" and is_word_sign(text[at + 1 : at + 2]):
            at += 1 + len(list(itertools.takewhile(is_word_sign, text[at + 1 :])))
            kept.append(" ")
        else:
            kept.append(text[at])
            at += 1
    short = "".join(
        sign * (min(n, 2) if is_word_sign(sign) else n)
        for sign, n in ((sign, len(list(run))) for sign, run in itertools.groupby(kept))
    )
    words, word = [], ""
    for sign, following in zip(short, [*short[1:], " "], strict=True):
        if is_letter(sign) or (word and sign in "'-" and is_letter(word[-1]) and is_letter(following)):
            word += sign
        elif word:
            words.append(word)
            word = ""
    return [*words, word] if word else words


def is_word_sign(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def is_letter(sign: str) -> bool:
    return sign.isalnum() and not sign.isdecimal()


def words_written(text: str, tmp_path: Path, **parameters: int) -> list[str]:
    """The rows for one tweet, without its number."""
    tweets, out = tmp_path / "tweets.jsonl", tmp_path / "words.csv"
    tweets.write_text(json.dumps({"id": 1, "text": text}))
    ab.run(tweet_nlp(tweets=str(tweets), out=str(out), **parameters))
    return [line.removeprefix("1,") for line in out.read_text().splitlines()[1:]]


@pytest.fixture(scope="module")
def tweets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tweets") / "tweets.jsonl"
    write_tweets(path, COUNT, seed=7)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(tweets: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "words.csv"

    ab.run(tweet_nlp(tweets=str(tweets), out=str(out)), engine=engine)

    expected = answer(tweets.read_text().splitlines())
    assert expected.count("\n") > 8 * COUNT, "one tweet becomes many words"
    assert out.read_text() == expected


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_hundred_thousand_tweets_give_the_answer_in_order(tmp_path: Path, engine: str) -> None:
    tweets, out = tmp_path / "tweets.jsonl", tmp_path / "words.csv"
    write_tweets(tweets, 100_000, seed=11)

    ab.run(tweet_nlp(tweets=str(tweets), out=str(out), shortest=4), engine=engine)

    assert out.read_text() == answer(tweets.read_text().splitlines(), shortest=4)


def test_a_word_is_counted_however_it_is_written(tmp_path: Path) -> None:
    assert words_written("So sOo SOOO sooooo \uff53\uff4f Straße STRASSE", tmp_path) == [
        "so,2,2,0.2857142857142857",
        "soo,3,3,0.42857142857142855",
        "strasse,7,2,0.2857142857142857",
    ]


def test_links_mentions_numbers_and_signs_are_no_words(tmp_path: Path) -> None:
    text = "@ann_b see http://bit.ly/Ab?c=d&e #WorldCup 2010!!! don’t... ☕ well-known - ok's'"

    assert words_written(text, tmp_path) == [
        "see,3,1,0.2",
        "worldcup,8,1,0.2",
        "don't,5,1,0.2",
        "well-known,10,1,0.2",
        "ok's,4,1,0.2",
    ]


@pytest.mark.parametrize("text", ["", " \n ", "123 @ann https://t.co/x !!!"])
def test_a_tweet_without_words_gives_nothing(text: str, tmp_path: Path) -> None:
    assert words_written(text, tmp_path) == []


def test_short_words_are_left_out_but_count_for_the_frequency(tmp_path: Path) -> None:
    assert words_written("a to tea a", tmp_path, shortest=3) == ["tea,3,1,0.25"]


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    tweets: Path, tmp_path: Path
) -> None:
    broken, out = tmp_path / "tweets.jsonl", tmp_path / "words.csv"
    lines = tweets.read_text().splitlines()
    broken.write_text("\n".join(lines[:500]) + "\n" + lines[500][:60])

    with pytest.raises(ab.SourceError, match="not valid JSON") as caught:
        ab.run(tweet_nlp(tweets=str(broken), out=str(out)))

    assert caught.value.where == f"{broken}:501"
    assert Path(f"{out}.partial").read_text() == answer(lines[:500])


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"id":"20000000017","text":"a number as text"}', "member 'id': int expected"),
        (b'{"id":20000000017}', "'text'.*missing"),
        (b'{"id":20000000017,"text":"caf\xe9"}', "not valid UTF-8: byte 0xe9"),
        (b"\x00\x01\x02", "not valid JSON"),
    ],
)
def test_a_corrupted_line_is_reported_by_file_and_line(bad: bytes, problem: str, tweets: Path, tmp_path: Path) -> None:
    broken = tmp_path / "tweets.jsonl"
    lines = tweets.read_bytes().splitlines()[:200]
    lines[122] = bad
    broken.write_bytes(b"\n".join(lines))

    with pytest.raises(ab.SourceError, match=problem) as caught:
        ab.run(tweet_nlp(tweets=str(broken), out=str(tmp_path / "words.csv")))

    assert caught.value.where == f"{broken}:123"


# The tweets -----------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_tweets_and_another_seed_others(tweets: Path, tmp_path: Path) -> None:
    again, other = tmp_path / "again.jsonl", tmp_path / "other.jsonl"
    write_tweets(again, COUNT, seed=7)
    write_tweets(other, COUNT, seed=8)

    assert again.read_bytes() == tweets.read_bytes()
    assert other.read_bytes() != tweets.read_bytes()


@pytest.mark.parametrize("count", [1, 7, 1_000, 2_001])
def test_there_are_as_many_tweets_as_were_asked_for(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tweets.jsonl"
    monkeypatch.setattr("examples.data.shared.BLOCK", 1_000)
    write_tweets(path, count, seed=1)

    assert len(read(path)) == count


def test_authors_are_skewed_and_tweets_come_late_and_twice(tweets: Path) -> None:
    rows = read(tweets)
    authors = Counter(row["author"] for row in rows)
    busiest = sorted(authors.values(), reverse=True)[: len(authors) // 100]
    late = sum(row["ts"] < before["ts"] for before, row in itertools.pairwise(rows))
    twice = len(rows) - len({row["id"] for row in rows})
    at_the_goal = sum("T21:00" <= row["ts"][10:] < "T21:12" for row in rows)

    assert sum(busiest) > COUNT * 0.05, "a hundredth of the authors writes far more than a hundredth of the tweets"
    assert 0 < late < COUNT * 0.02
    assert 0 < twice < COUNT * 0.01
    assert at_the_goal > COUNT * 0.03, "the hundred-and-twentieth part of a day"


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_tweets(tmp_path / "new" / "tweets.jsonl", count)

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_completed_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tweets.jsonl"
    path.write_text("before")
    monkeypatch.setattr("examples.data.tweets._texts", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_tweets(path, 10)

    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("tweets.jsonl", "before")]


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tweets.jsonl"
    command = [sys.executable, "-m", "examples.data.tweets", "--count", "100", "--out", str(path)]

    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)

    assert len(read(path)) == 100
