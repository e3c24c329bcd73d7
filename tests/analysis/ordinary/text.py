"""Words, names, slugs: texts as people clean them."""

from __future__ import annotations

import re
import string
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterator

from .records import Count, Line, Number, Text

OPERATORS = """slug words shout is_comment initials masked caesar vowels acronym wrapped without_accents longest_word
    title_case word_lengths is_palindrome trigrams snake_case lines_of_poem readability templated"""

STOP_WORDS = frozenset({"a", "an", "and", "or", "the", "to"})
NOT_WORD = re.compile(r"[^a-z0-9]+")
GREETING = string.Template("$source says $text")
ROTATED = str.maketrans(string.ascii_lowercase, string.ascii_lowercase[13:] + string.ascii_lowercase[:13])


def slug(line: Line) -> Text:
    return Text(line.source, NOT_WORD.sub("-", line.text.lower()).strip("-"))


def words(line: Line) -> Iterator[Text]:
    for word in line.text.split():
        word = word.strip(string.punctuation).lower()
        if word and word not in STOP_WORDS:
            yield Text(line.source, word)


def shout(line: Line) -> Line:
    return line._replace(text=line.text.upper() + "!" * (line.number % 3))


def is_comment(line: Line) -> bool:
    return not line.text or line.text.lstrip().startswith(("#", "//"))


def initials(line: Line) -> Text:
    return Text(line.source, "".join(word[0] for word in line.text.split()).upper())


def masked(line: Line) -> Line:
    hidden = re.sub(r"[\w.]+@[\w.]+", lambda found: found[0][0] + "***", line.text)
    return line._replace(text=re.sub(r"\d", "9", hidden))


def caesar(line: Line) -> Line:
    return line._replace(text=line.text.translate(ROTATED))


def vowels(line: Line) -> Count:
    return Count(line.source, sum(line.text.casefold().count(vowel) for vowel in "aeiou"))


def acronym(line: Line) -> Text | None:
    found = re.findall(r"\b[A-Z]{2,}\b", line.text)
    return Text(line.source, ", ".join(sorted(set(found)))) if found else None


def wrapped(line: Line) -> Iterator[Line]:
    for number, row in enumerate(textwrap.wrap(line.text, width=24)):
        yield Line(line.source, number, row)


def without_accents(line: Line) -> Line:
    apart = unicodedata.normalize("NFKD", line.text)
    return line._replace(text="".join(c for c in apart if not unicodedata.combining(c)))


def longest_word(line: Line) -> Text:
    return Text(line.source, max(line.text.split(), key=len, default=""))


def title_case(line: Line) -> Line:
    small = {"of", "from", "and"}
    parts = [w if w in small else w.capitalize() for w in line.text.split(" ")]
    return line._replace(text=" ".join(parts))


def word_lengths(line: Line) -> Iterator[Count]:
    lengths = Counter(len(word) for word in line.text.split())
    for length, n in sorted(lengths.items()):
        yield Count(f"{line.source}:{length}", n)


def is_palindrome(line: Line) -> bool:
    letters = [c for c in line.text.lower() if c.isalnum()]
    return letters == letters[::-1]


def trigrams(line: Line) -> Iterator[Text]:
    padded = f"  {line.text.lower()} "
    yield from (Text(line.source, padded[i : i + 3]) for i in range(len(padded) - 2))


def snake_case(line: Line) -> Line:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", line.text)
    return line._replace(text=re.sub(r"\W+", "_", text).strip("_").lower())


def lines_of_poem(line: Line) -> Text:
    poem = f"""
        {line.source} spoke:
          {line.text[:20]!r:>24}
        {line.number:03d} times
    """
    return Text(line.source, textwrap.dedent(poem).strip())


def readability(line: Line) -> Number:
    found = line.text.split()
    if not found:
        return Number(line.source, 0.0)
    syllables = sum(len(re.findall(r"[aeiouy]+", word.lower())) or 1 for word in found)
    return Number(line.source, round(206.8 - 1.015 * len(found) - 84.6 * syllables / len(found), 2))


def templated(line: Line) -> Text:
    return Text(line.source, GREETING.safe_substitute(source=line.source, text=line.text))
