"""A stream of tweets as JSON lines, as `examples/tweet_nlp.py` reads them.

    python -m examples.data.tweets --count 1000000 --out tweets.jsonl --seed 7

Few authors write many of the tweets, and at lunch time everyone does. Most authors have a topic of the day, which they
come back to with a hash-tag; bots hardly write about anything else. The text is what people type: shouting, laughter,
accents, apostrophes, links, mentions, line breaks. A few tweets are delivered late, and a few are delivered twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examples.data.shared import blocks, check_size, command, skewed, text_file, trait, uniform

BYTES_PER_TWEET = 200
BEGIN = datetime(2010, 7, 7, tzinfo=UTC)
DAY = 86_400.0  # seconds

# The first are by far the most frequent.
VOCABULARY = """
    the i to a and it you of is my in for that on me so just at with be this have not was all like are day good lol
    love what can get when one now new time know really people work today going back night morning haha please watch
    think need game music never happy happiness school home coffee rain sun train dinner friend phone city summer
    movie song team goal world great best right still tonight tomorrow yesterday someone everything nothing beautiful
    naïve café Zürich don't can't it's I'm we'll rock'n'roll o’clock well-known late-night <3 & 100% 2nd half-time WOW
    OMG YES soooo noooo yeeees hahahaha wunderbar señor crème Straße \uff37\uff2f\uff37
"""
SUBJECTS = """
    WorldCup iPhone music news Berlin love jobs nowplaying FF coffee Monday rain football GOAL fashion politics travel
    startup photo food Tokyo paris science python weather NASA F1 Wimbledon tennis vuvuzela
"""
NO_WORDS = "http://bit.ly/9xkc2p https://t.co/aB3?x=1&y=2 @ann_b @Carlos99 ... !!! :-) ☕ ⚽⚽"
WORDS, TOPICS, EXTRAS = VOCABULARY.split(), SUBJECTS.split(), [*NO_WORDS.split(), "\n"]

# From which hour on how much is written, relatively. At 21:00 a goal falls.
HOURS = np.array([0, 7, 12, 13.5, 18, 21, 21.2, 24])
TRAFFIC = np.array([2, 8, 22, 9, 14, 80, 12])

TWEETS_PER_AUTHOR = 40  # on average
LONGEST = 22  # words, and what else there is
BOTS = 0.03  # of the authors write about their topic only
BOT_LOYALTY, LOYALTY = 0.98, 0.4  # of the tweets of a bot, and of a human, are about the topic of the day
LATE = 0.003  # of the tweets are delivered up to LONGEST_DELAY seconds late
LONGEST_DELAY = 60.0
TWICE = 0.002  # of the tweets are delivered again, up to FARTHEST tweets later
FARTHEST = 200


class Tweet(NamedTuple):
    id: int
    author: str
    text: str
    ts: str  # ISO 8601, in UTC


def write_tweets(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` tweets as JSON lines; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_TWEET)
    with text_file(Path(path)) as file:
        for tweet in tweets(count, seed):
            file.write(json.dumps(tweet._asdict(), ensure_ascii=False, separators=(",", ":")) + "\n")


def tweets(count: int, seed: int) -> Iterator[Tweet]:
    """The tweets in the order in which they are delivered."""
    for first, size in blocks(count):
        yield from _block(first, size, count, seed)


def _block(first: int, size: int, count: int, seed: int) -> Iterator[Tweet]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    number = first + np.arange(size)
    seconds = _times((number + draw(0)) / count)
    seconds = np.where(draw(1) < LATE, np.maximum(seconds - LONGEST_DELAY * draw(2), 0.0), seconds)
    author = skewed(draw(3), max(count // TWEETS_PER_AUTHOR, 5))

    # The topic of an author is another one every few hours.
    day_part = (seconds // 20_000).astype(np.int64)
    topic = skewed(trait(author * 5 + day_part, seed, 20), len(TOPICS))
    loyalty = np.where(trait(author, seed, 21) < BOTS, BOT_LOYALTY, LOYALTY)
    other = skewed(draw(4), len(TOPICS))
    first_tag = np.where(draw(5) < loyalty, topic, other)
    tags = (3 * draw(6) ** 2).astype(np.int64) + (draw(5) < loyalty)  # how many: mostly one or none

    again = draw(7) < TWICE
    earlier = np.arange(size) - 1 - (FARTHEST * draw(8)).astype(np.int64)
    delivered = np.where(again, np.maximum(earlier, 0), np.arange(size))

    texts = _texts(seed, first, size, first_tag, other, tags)
    for at in delivered.tolist():
        yield Tweet(
            id=2 * 10**10 + 17 * int(number[at]),
            author=f"user{author[at]}",
            text=texts[at],
            ts=_stamp(seconds[at]),
        )


def _times(fractions: np.ndarray) -> np.ndarray:
    """The second of the day by which a fraction of all tweets has been written."""
    written = np.concatenate([[0.0], np.cumsum(TRAFFIC * np.diff(HOURS))])
    return np.interp(fractions, written / written[-1], HOURS * 3600.0)


def _texts(
    seed: int, block: int, size: int, first_tag: np.ndarray, other_tag: np.ndarray, tags: np.ndarray
) -> list[str]:
    lengths = 3 + ((LONGEST - 3) * uniform(seed, 30, block, size)).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    words = skewed(uniform(seed, 31, block, starts[-1]), len(WORDS)).tolist()
    # One in ten of the words is followed by something that is no word, or shouted.
    extras = (10 * len(EXTRAS) * uniform(seed, 32, block, starts[-1])).astype(np.int64).tolist()
    texts = []
    for at in range(size):
        parts = []
        for place in range(starts[at], starts[at + 1]):
            parts.append(WORDS[words[place]])
            if extras[place] < len(EXTRAS):
                parts.append(EXTRAS[extras[place]])
        if tags[at] >= 1:
            parts.insert(len(parts) // 2, f"#{TOPICS[first_tag[at]]}")
        if tags[at] >= 2:
            parts.append(f"#{TOPICS[other_tag[at]].lower()}")
        if tags[at] >= 3:
            parts.append(f"#{TOPICS[at % len(TOPICS)].upper()}")
        texts.append(" ".join(parts))
    return texts


def _stamp(seconds: float) -> str:
    moment = BEGIN + timedelta(milliseconds=int(seconds * 1000))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    command("examples.data.tweets", "Write a day of tweets as JSON lines.", "tweets.jsonl", write_tweets)
