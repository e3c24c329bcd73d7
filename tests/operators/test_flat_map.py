"""`flat_map`: any number of tuples for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import anabranch as ab


class Line(NamedTuple):
    text: str


class Word(NamedTuple):
    word: str


def lines(*texts: str) -> ab.Stream[Line]:
    return ab.from_items(Line, [Line(text) for text in texts])


def words(stream: ab.Stream[Word]) -> list[str]:
    return [word.word for word in ab.run(stream.collect("out")).items("out")]


def test_a_generator_gives_what_it_yields() -> None:
    def split(line: Line) -> Iterator[Word]:
        for word in line.text.split():
            yield Word(word)

    assert words(lines("to be", "", "or not").flat_map(split)) == ["to", "be", "or", "not"]


def test_a_list_one_tuple_or_none_will_do() -> None:
    def listed(line: Line) -> list[Word]:
        return [Word(letter) for letter in line.text]

    def perhaps(line: Line) -> Word | None:
        return Word(line.text) if line.text else None

    assert words(lines("ab", "", "c").flat_map(listed)) == ["a", "b", "c"]
    assert words(lines("ab", "", "c").flat_map(perhaps)) == ["ab", "c"]


def test_any_iterable_of_tuples_will_do() -> None:
    assert words(lines("ab").flat_map(lambda line: map(Word, line.text), out=Word)) == ["a", "b"]
    assert words(lines("ab").flat_map(lambda line: (Word("x"), Word("y")), out=Word)) == ["x", "y"]


def test_what_is_no_iterable_of_tuples_is_an_error() -> None:
    for wrong in (3, "text", [None], [("ab",)]):
        with pytest.raises(ab.OperatorError):
            words(lines("ab").flat_map(lambda line, wrong=wrong: wrong, out=Word))


def test_a_lazy_result_is_only_read_as_its_tuples_are_processed() -> None:
    order: list[str] = []

    def endless(line: Line) -> Iterator[Word]:
        number = 0
        while True:
            order.append(f"make {number}")
            yield Word(str(number))
            number += 1

    def stop(word: Word) -> None:
        order.append(f"got {word.word}")
        if word.word == "2":
            raise ValueError("enough")

    with pytest.raises(ab.OperatorError, match="enough"):
        ab.run(lines("x").flat_map(endless).for_each(stop))
    assert order == ["make 0", "got 0", "make 1", "got 1", "make 2", "got 2"]
