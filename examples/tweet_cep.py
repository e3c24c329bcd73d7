"""Authors who will not let go of a hash-tag: complex event processing on a stream of tweets.

Make a day of tweets, and look at it:

    python -m examples.data.tweets_xml --count 1000000 --out tweets.xml
    anabranch run examples/tweet_cep.py --tweets tweets.xml --out sprees.csv

This is the kernel "Twitter CEP" of Schneider et al., "Safe Data Parallelism for General Streaming": tweets are parsed
in parallel, whoever wrote them, and matched in parallel by author, so they have to be shuffled in between.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab

HASH_TAG = re.compile(r"#(\w+)")


class Line(NamedTuple):
    number: int  # of the line in its file, so that an error can say where a bad tweet stands
    xml: str


class Tweet(NamedTuple):
    author: str
    contents: str
    ts: datetime


class Spree(NamedTuple):
    author: str
    tag: str
    since: datetime
    until: datetime


class Run(NamedTuple):
    """A partial match: so many tweets in a row have had the tag."""

    length: int
    since: datetime


def parse(line: Line) -> Tweet:
    """An XML element as a tuple."""
    status = ElementTree.fromstring(line.xml)
    author, contents = status.findtext("user/screen_name"), status.findtext("text")
    ts = status.findtext("created_at")
    if not author or contents is None or ts is None:
        raise ValueError("a tweet needs user/screen_name, text and created_at")
    return Tweet(author, contents, datetime.fromisoformat(ts))


class Match:
    """A finite-state machine for each hash-tag an author is busy with.

    State n says: the author's last n tweets all had the tag. Another tweet with it leads to state n + 1, and the last
    state is a match, after which the machine begins anew. A tweet without it ends the machine.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self.runs: dict[str, Run] = {}
        self.last: datetime | None = None

    def process(self, tweet: Tweet) -> Iterator[Spree]:
        # A tweet that is delivered twice or late does not come after the author's last one.
        if self.last is not None and tweet.ts <= self.last:
            return
        self.last = tweet.ts
        before, self.runs = self.runs, {}
        for tag in dict.fromkeys(HASH_TAG.findall(tweet.contents.casefold())):
            run = before.get(tag, Run(0, tweet.ts))
            if run.length + 1 == self.length:
                yield Spree(tweet.author, tag, run.since, tweet.ts)
            else:
                self.runs[tag] = Run(run.length + 1, run.since)


@ab.app
def tweet_cep(tweets: str = "tweets.xml", out: str = "sprees.csv", length: int = 5) -> None:
    """Find authors with several consecutive tweets that all have the same hash-tag.

    tweets: a file with an XML element per line, in the order in which the tweets were delivered
    out: where to write who did it, with which tag, and when
    length: how many consecutive tweets it takes
    """
    ab.read_lines(tweets, Line).map(parse).process(partial(Match, length), key="author").write_csv(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.tweets_xml import write_tweets_xml

    write_tweets_xml(folder / "tweets.xml", count, seed)
    return {"tweets": str(folder / "tweets.xml"), "out": str(folder / "sprees.csv")}
