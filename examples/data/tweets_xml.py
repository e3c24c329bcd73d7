"""The tweets of `examples/data/tweets.py` as XML, an element per line, as `examples/tweet_cep.py` reads them.

    python -m examples.data.tweets_xml --count 1000000 --out tweets.xml --seed 7

Line breaks in a tweet are written as `&#10;`, so that an element stays on its line.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from examples.data.shared import check_size, command, text_file
from examples.data.tweets import Tweet, tweets

BYTES_PER_TWEET = 300


def write_tweets_xml(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` tweets, an XML element per line; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_TWEET)
    with text_file(Path(path)) as file:
        for tweet in tweets(count, seed):
            file.write(_element(tweet) + "\n")


def _element(tweet: Tweet) -> str:
    text = escape(tweet.text, {"\n": "&#10;"})
    return (
        f"<status><created_at>{tweet.ts}</created_at><id>{tweet.id}</id><text>{text}</text>"
        f"<user><screen_name>{tweet.author}</screen_name><lang>en</lang></user></status>"
    )


if __name__ == "__main__":
    command("examples.data.tweets_xml", "Write a day of tweets as lines of XML.", "tweets.xml", write_tweets_xml)
