"""Lines of text to records: CSV, JSON, logs, URLs, bytes, dates."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import json
import re
import string
import struct
import textwrap
import unicodedata
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qsl, urlsplit

from .registry import entry
from .tuples import (
    Amount,
    Click,
    Count,
    CsvLine,
    JsonLine,
    LogLine,
    Numbered,
    Order,
    Packet,
    Record,
    Tagged,
    Text,
    Trade,
    Word,
)

LOG = re.compile(r"^(?P<when>\S+) (?P<level>[A-Z]+) (?P<service>[\w-]+): (?P<rest>.*)$")
TOOK = re.compile(r"took (\d+)ms$")
DIGITS = re.compile(r"\d")
PUNCTUATION = str.maketrans("", "", string.punctuation)
STOP_WORDS = frozenset({"is", "in", "a", "the"})
HEADER = struct.Struct(">hH")
PLUS_TWO = timezone(timedelta(hours=2))
GREETING = string.Template("order $id of $who")


@entry(
    kind="flat_map",
    input=CsvLine,
    output=Trade,
    selectivity="1:[0,1]",
    forwards={},
    why="split, convert, skip what does not parse",
)
def parse_csv(line: CsvLine) -> Iterator[Trade]:
    if not line.text or line.text.startswith("#"):
        return
    fields = [field.strip() for field in line.text.split(",")]
    try:
        symbol, price, size = fields
        trade = Trade(symbol, float(price), int(size), float(line.number))
    except ValueError:
        return
    yield trade


@entry(
    kind="flat_map",
    input=CsvLine,
    output=Amount,
    selectivity="1:[0,1]",
    why="csv.reader over a local list of one line; a list of one or none",
)
def parse_quoted_csv(line: CsvLine) -> list[Amount]:
    rows = list(csv.reader([line.text], skipinitialspace=True))
    if len(rows) != 1 or len(rows[0]) != 3:
        return []
    symbol, price, _ = rows[0]
    try:
        return [Amount(symbol, float(price))]
    except ValueError:
        return []


@entry(kind="flat_map", input=JsonLine, output=Numbered, selectivity="1:[0,1]", forwards={"number": "number"},
       why="JSON with try/except/else")  # fmt: skip
def parse_json(line: JsonLine) -> Iterator[Numbered]:
    try:
        body = json.loads(line.text)
    except json.JSONDecodeError:
        pass
    else:
        if isinstance(body, dict):
            yield Numbered(line.number, body["user"])


@entry(kind="flat_map", input=JsonLine, output=Tagged, selectivity="1:[0,inf)", why="a list inside a JSON document")
def json_tags(line: JsonLine) -> Iterator[Tagged]:
    try:
        body = json.loads(line.text)
        user, tags = body["user"], body["tags"]
    except (ValueError, TypeError, KeyError):
        return
    yield from (Tagged(user, tag) for tag in tags)


@entry(kind="flat_map", input=LogLine, output=Record, selectivity="1:[0,1]", forwards={"number": "number"},
       why="a compiled pattern, walrus, conditional expression")  # fmt: skip
def parse_log(line: LogLine) -> Iterator[Record]:
    if (found := LOG.match(line.text)) is not None:
        took = TOOK.search(found["rest"])
        millis = int(took.group(1)) if took else 0
        yield Record(line.number, found["level"].lower(), found.group("service"), millis)


@entry(kind="filter", input=LogLine, why="any() over a generator expression")
def is_problem(line: LogLine) -> bool:
    return any(level in line.text for level in ("WARN", "ERROR"))


has_timing = entry("has_timing", kind="filter", input=LogLine, why="a method of a compiled pattern")(
    lambda line: TOOK.search(line.text) is not None
)


@entry(kind="flat_map", input=LogLine, output=Word, selectivity="1:[0,inf)", why="a tokeniser with a stop list")
def tokenise(line: LogLine) -> Iterator[Word]:
    for position, word in enumerate(line.text.lower().translate(PUNCTUATION).split()):
        if word not in STOP_WORDS:
            yield Word(word, position)


@entry(kind="map", input=LogLine, forwards={"number": "number"}, why="join and split of one string")
def squeeze(line: LogLine) -> LogLine:
    return LogLine(line.number, " ".join(line.text.split()))


@entry(kind="map", input=LogLine, forwards={"number": "number"}, why="re.sub with a pure lambda")
def mask_digits(line: LogLine) -> LogLine:
    return line._replace(text=DIGITS.sub(lambda match: "#" if int(match.group()) > 4 else "*", line.text))


@entry(kind="map", input=Click, output=Tagged, forwards={"user": "user"}, why="urlsplit of the standard library")
def host_of(click: Click) -> Tagged:
    return Tagged(click.user, urlsplit(click.url).hostname or "-")


@entry(kind="flat_map", input=Click, output=Tagged, selectivity="1:[0,inf)", forwards={"user": "user"},
       why="a list comprehension over a parsed query")  # fmt: skip
def query_parameters(click: Click) -> list[Tagged]:
    return [Tagged(click.user, f"{name}={value}") for name, value in parse_qsl(urlsplit(click.url).query)]


@entry(kind="map", input=Order, output=Text, why="f-string with format specs and a conditional")
def receipt(o: Order) -> Text:
    note = f" ({o.note.strip()!r})" if o.note else ""
    return Text(f"{o.id:06d} {o.customer:<8}{o.total:>10.2f}{note}")


@entry(kind="map", input=Order, output=Text, why="string.Template held as a constant")
def greet(o: Order) -> Text:
    return Text(GREETING.substitute(id=o.id, who=o.customer.strip().title()))


@entry(kind="map", input=Order, output=Count, why="hashlib is the same in every process")
def bucket_of_customer(o: Order) -> Count:
    digest = hashlib.sha256(o.customer.encode()).digest()
    return Count(o.customer.strip(), int.from_bytes(digest[:4], "big") % 16)


@entry(kind="map", input=Click, output=Tagged, forwards={"user": "user"}, why="base64 and crc32 of bytes")
def short_link(click: Click) -> Tagged:
    checksum = zlib.crc32(click.url.encode())
    return Tagged(click.user, base64.urlsafe_b64encode(checksum.to_bytes(4, "big")).decode().rstrip("="))


@entry(kind="flat_map", input=Packet, output=Numbered, selectivity="1:[0,1]", forwards={"number": "device"},
       why="a constant struct unpacks bytes; bad payloads are skipped")  # fmt: skip
def decode_packet(packet: Packet) -> Iterator[Numbered]:
    try:
        value, _ = HEADER.unpack(packet.payload)
    except struct.error:
        return
    yield Numbered(packet.device, value)


@entry(kind="map", input=Packet, forwards={"device": "device", "kind": "kind", "payload": "payload"},
       why="datetime arithmetic in fixed zones")  # fmt: skip
def to_utc(packet: Packet) -> Packet:
    return packet._replace(at=packet.at.replace(tzinfo=PLUS_TWO).astimezone(UTC).replace(tzinfo=None))


@entry(kind="flat_map", input=LogLine, output=Numbered, selectivity="1:[0,1]", forwards={"number": "number"},
       why="datetime.fromisoformat with a skip")  # fmt: skip
def minute_of_day(line: LogLine) -> Iterator[Numbered]:
    stamp, _, _ = line.text.partition(" ")
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return
    yield Numbered(line.number, when.hour * 60 + when.minute)


@entry(kind="map", input=LogLine, output=Text, why="textwrap, html and unicodedata are pure")
def safe_html(line: LogLine) -> Text:
    folded = unicodedata.normalize("NFKC", line.text)
    return Text(html.escape(textwrap.shorten(folded, width=40, placeholder="...")))


@entry(kind="map", input=Order, output=Text, why="csv.writer into a local buffer")
def to_csv(order: Order) -> Text:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow([order.id, order.customer, order.note or "", *order.items])
    return Text(buffer.getvalue())


@entry(kind="map", input=Click, output=Text, why="json.dumps of a local dict")
def to_json(c: Click) -> Text:
    body = c._asdict()
    body["tags"] = sorted(c.tags)
    return Text(json.dumps(body, separators=(",", ":"), sort_keys=True))


@entry(kind="map", input=LogLine, forwards={"number": "number"}, why="a list of parts is built up and joined")
def reverse_words(line: LogLine) -> LogLine:
    parts: list[str] = []
    for word in line.text.split():
        parts.insert(0, word)
    parts.append(str(len(parts)))
    return LogLine(line.number, " ".join(parts))
