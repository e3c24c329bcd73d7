"""Lines of logs, CSV, JSON and small languages, taken apart."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .records import Click, Count, Line, Number, Text

OPERATORS = """access_log key_values json_amounts csv_row phone_numbers numbers_in sum_of_numbers evaluated
    Continuation query_fields tokens flattened shell_words literal Blocks level_of parsed_record typed_fields
    validated"""

LOG = re.compile(r"(?P<at>\S+) (?P<level>[A-Z]+) (?P<service>\w+): (?P<message>.*)")
TOKEN = re.compile(r"\s*(?:(\d+)|(.))")
LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40}


class Entry(NamedTuple):
    source: str
    level: str
    service: str
    message: str


def access_log(line: Line) -> Entry | None:
    if (found := LOG.fullmatch(line.text)) is None:
        return None
    return Entry(line.source, found["level"], found["service"], found.group("message"))


def key_values(line: Line) -> Iterator[Text]:
    for part in line.text.split(";"):
        name, equals, value = part.partition("=")
        if equals:
            yield Text(name.strip(), value.strip())


def json_amounts(line: Line) -> Iterator[Number]:
    try:
        body: dict[str, Any] = json.loads(line.text)
    except json.JSONDecodeError:
        return
    if isinstance(body, dict):
        yield Number(str(body.get("user", "?")), float(body.get("amount", 0)))


def csv_row(line: Line) -> Number | None:
    row = next(csv.reader([line.text]), [])
    try:
        name, price, _ = row
        return Number(name, float(price))
    except ValueError:
        return None


def phone_numbers(line: Line) -> Iterator[Text]:
    for found in re.finditer(r"\+?[\d()][\d() -]{5,}\d", line.text):
        yield Text(line.source, re.sub(r"\D", "", found.group()))


def numbers_in(line: Line) -> Iterator[Number]:
    yield from (Number(line.source, float(text)) for text in re.findall(r"-?\d+(?:\.\d+)?", line.text))


def sum_of_numbers(line: Line) -> Number:
    return Number(line.source, sum(map(float, re.findall(r"\d+", line.text))))


def _tokenize(text: str) -> list[str]:
    return [number or sign for number, sign in TOKEN.findall(text)]


class Parser:
    """Sums and products, by recursive descent."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def sum(self) -> int:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> int:
        value = self.factor()
        while self.peek() == "*":
            self.take()
            value *= self.factor()
        return value

    def factor(self) -> int:
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take()
            return value
        return int(token) if token.isdigit() else 0


def evaluated(line: Line) -> Count:
    return Count(line.source, Parser(_tokenize(line.text)).sum())


class Continuation:
    """Joins lines that end with a backslash, per source."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def process(self, line: Line) -> Iterator[Text]:
        self.parts.append(line.text.rstrip("\\"))
        if not line.text.endswith("\\"):
            yield Text(line.source, "".join(self.parts))
            self.parts.clear()


def query_fields(click: Click) -> Iterator[Text]:
    _, _, query = click.url.partition("?")
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        yield Text(name, value)


def tokens(line: Line) -> Count:
    return Count(line.source, len(_tokenize(line.text)))


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flatten(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _flatten(inner, f"{path}[{at}]")
    else:
        yield path, json.dumps(value)


def flattened(line: Line) -> Iterator[Text]:
    if line.text.startswith("{"):
        for path, value in _flatten(json.loads(line.text)):
            yield Text(path, value)


def shell_words(line: Line) -> Count:
    try:
        return Count(line.source, len(shlex.split(line.text)))
    except ValueError:
        return Count(line.source, -1)


def literal(line: Line) -> Text:
    try:
        return Text(line.source, type(ast.literal_eval(line.text)).__name__)
    except (SyntaxError, ValueError):
        return Text(line.source, "none")


class Blocks:
    """Blocks of lines between blank ones."""

    def __init__(self) -> None:
        self.buffer = io.StringIO()
        self.rows = 0

    def process(self, line: Line) -> Iterator[Count]:
        if line.text.strip():
            self.buffer.write(line.text + "\n")
            self.rows += 1
        elif self.rows:
            yield Count(line.source, len(self.buffer.getvalue()))
            self.buffer = io.StringIO()
            self.rows = 0


def level_of(line: Line) -> Count:
    return Count(line.source, next((n for name, n in LEVELS.items() if name in line.text), 0))


@dataclass
class Record:
    name: str
    price: float
    size: int

    @classmethod
    def parse(cls, text: str) -> Record:
        name, price, size = text.split(",")
        return cls(name.strip(), float(price), int(size))

    @property
    def value(self) -> float:
        return self.price * self.size


def parsed_record(line: Line) -> Number | None:
    if line.text.count(",") != 2:
        return None
    record = Record.parse(line.text)
    return Number(record.name, record.value)


CONVERTERS = {"rpm": int, "state": str, "name": str.title}


def typed_fields(line: Line) -> Iterator[Text]:
    for part in line.text.split(";"):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in CONVERTERS:
            yield Text(name, repr(CONVERTERS[name](value)))


class Malformed(ValueError):
    def __init__(self, text: str, position: int) -> None:
        super().__init__(f"malformed at {position}")
        self.text = text
        self.position = position


def _check(text: str) -> int:
    depth = 0
    for position, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth < 0:
            raise Malformed(text, position)
    if depth:
        raise Malformed(text, len(text))
    return len(text)


def validated(line: Line) -> Count:
    try:
        return Count(line.source, _check(line.text))
    except Malformed as problem:
        return Count(line.source, -problem.position)
