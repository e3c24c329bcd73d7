"""A tuple that is addressed to an output which there is not: the operator's error, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.engines.every_engine import assert_same_everywhere


class Number(NamedTuple):
    n: int


class ToOther:
    def process(self, number: Number) -> Iterator[Any]:
        yield ab.to("high", number)
        if number.n == 2:
            yield ab.to("other", Number(number.n + 1))


class ToDeadLetters:
    def process(self, number: Number) -> Iterator[Any]:
        yield ab.to("high", number)
        if number.n == 2:
            yield ab.to("dead_letter", Number(number.n + 1))


@pytest.mark.parametrize(("operator", "name"), [(ToOther, "other"), (ToDeadLetters, "dead_letter")])
@pytest.mark.parametrize("on_error", ["stop", "skip", "dead_letter"])
def test_what_goes_to_an_output_that_there_is_not_is_an_error(operator: Any, name: str, on_error: Any) -> None:
    source = ab.from_items(Number, [Number(n) for n in range(5)])
    numbers = source.process(operator, outputs={"high": Number, "low": Number}, on_error=on_error)
    sinks = [numbers.outputs.high.collect("high"), numbers.outputs.low.collect("low")]
    if on_error == "dead_letter":
        sinks.append(numbers.outputs.dead_letter.collect("letters"))
    outputs, skipped, error = assert_same_everywhere(*sinks)
    problem = f"there is no output '{name}'; the outputs are high, low"
    assert {
        "stop": problem in str(error),
        "skip": bool(skipped),
        "dead_letter": problem in str(outputs.get("letters")),
    }[on_error]
