"""The words of tweets, their lengths and how often they occur: text work on a stream.

Make a day of tweets, and look at it:

    python -m examples.data.tweets --count 1000000 --out tweets.jsonl
    anabranch run examples/tweet_nlp.py --tweets tweets.jsonl --out words.csv

This is the kernel "Twitter NLP" of Schneider et al., "Safe Data Parallelism for General Streaming": a single operator
that keeps nothing between tweets, but makes many tuples of one.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab

NO_WORDS = re.compile(r"https?://\S+|@\w+")  # links and mentions
DRAWN_OUT = re.compile(r"(\w)\1{2,}")  # soooo
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")  # letters, and what joins them: don't, well-known


# The file has more members than these, which are ignored.
class Tweet(NamedTuple):
    id: int
    text: str


class Word(NamedTuple):
    tweet: int
    word: str
    length: int
    times: int  # how often it occurs in the tweet
    frequency: float  # its share of the words of the tweet


def words_of(text: str) -> list[str]:
    """The words as one would look them up: `SOOOO cool` and `Sooo cool` are the same two."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    squeezed = DRAWN_OUT.sub(r"\1\1", NO_WORDS.sub(" ", plain))
    return WORD.findall(squeezed)


def analyse(tweet: Tweet, shortest: int) -> Iterator[Word]:
    """Every word of a tweet once, in order of first occurrence.

    What comes out depends on the tweet alone, so tweets can be analysed in any number of channels. And there may be
    many words or none, so what puts the channels' words in order again cannot count on one tuple for each.
    """
    words = words_of(tweet.text)
    times: dict[str, int] = {}
    for word in words:
        times[word] = times.get(word, 0) + 1
    for word, n in times.items():
        if len(word) >= shortest:
            yield Word(tweet.id, word, len(word), n, n / len(words))


@ab.app
def tweet_nlp(tweets: str = "tweets.jsonl", out: str = "words.csv", shortest: int = 1) -> None:
    """List the words of every tweet with their lengths and frequencies.

    tweets: the tweets as JSON lines
    out: where to write the words
    shortest: words of fewer letters are left out
    """
    ab.read_jsonl(tweets, Tweet).flat_map(partial(analyse, shortest=shortest)).write_csv(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.tweets import write_tweets

    write_tweets(folder / "tweets.jsonl", count, seed)
    return {"tweets": str(folder / "tweets.jsonl"), "out": str(folder / "words.csv")}
