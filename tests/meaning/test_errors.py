"""The row "errors": "an operator that fails stops the run with its name, the line where it was written, and the tuple;
everything before it in the order is written, nothing after it. Of several failing tuples the first in the order is
reported. `on_error="skip"` or `"dead_letter"` on an operator or a source is the user's choice, is counted, and makes a
1:1 operator 1:[0,1]".
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.tracing import Trace


class Item(NamedTuple):
    n: int
    key: str = "a"


class Ratio(NamedTuple):
    ratio: float


def numbers(*ns: int, **options: Any) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n) for n in ns], **options)


def invert(item: Item) -> Ratio:
    return Ratio(1 / item.n)


def failing(*sinks: ab.Sink) -> ab.OperatorError:
    with pytest.raises(ab.OperatorError) as caught:
        ab.run(*sinks)
    return caught.value


def ns(result: Any, name: str = "out") -> list[int]:
    return [item.n for item in result.items(name)]


# What is said ------------------------------------------------------------------------------------------------------


def test_the_error_names_the_operator_the_line_and_the_tuple() -> None:
    line = inspect.currentframe().f_lineno + 1
    stream = numbers(1, 0).map(invert).named("inverse")
    error = failing(stream.collect("out"))
    assert error.operator == "inverse"
    assert (error.location.file, error.location.line) == (__file__, line)
    assert error.item == Item(0)
    assert isinstance(error.cause, ZeroDivisionError)
    text = str(error)
    assert text.startswith("operator 'inverse' failed: ZeroDivisionError: division by zero\n")
    assert f'test_errors.py:{line}   stream = numbers(1, 0).map(invert).named("inverse")' in text
    assert "return Ratio(1 / item.n)" in text, "the line that raised it, too"
    assert "on Item(n=0, key='a')" in text


def test_an_operator_without_a_name_is_called_after_its_function() -> None:
    assert failing(numbers(0).map(invert).collect("out")).operator == "invert"


def test_the_original_exception_is_kept() -> None:
    error = failing(numbers(0).map(invert).collect("out"))
    assert error.__cause__ is error.cause


def test_an_error_survives_a_journey_between_processes() -> None:
    error = failing(numbers(0).map(invert).named("inverse").collect("out"))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.item == error.item


# What is written ---------------------------------------------------------------------------------------------------


def test_everything_before_the_error_is_written_and_nothing_after_it(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    source = numbers(2, 4, 0, 8)
    sinks = [source.map(invert).write_csv(path), source.collect("beside")]
    error = failing(*sinks)
    assert not path.exists()
    assert Path(f"{path}.partial").read_text() == "ratio\n0.5\n0.25\n"
    assert ns(error.result, "beside") == [2, 4]  # connected after the branch that failed


def test_a_branch_connected_before_the_one_that_fails_has_seen_the_tuple() -> None:
    source = numbers(2, 0, 8)
    beside = source.collect("beside")
    error = failing(source.map(invert).collect("out"), beside)
    assert ns(error.result, "beside") == [2, 0]
    assert error.result.items("out") == [Ratio(0.5)]


def test_what_an_operator_emitted_before_it_raised_is_written() -> None:
    def some(item: Item) -> Iterator[Item]:
        yield Item(item.n + 1)
        yield Item(item.n + 2)
        raise ValueError("no more")

    error = failing(numbers(10, 20).flat_map(some).collect("out"))
    assert ns(error.result) == [11, 12]
    assert error.item == Item(10)


def test_of_several_failing_tuples_the_first_in_the_order_is_reported() -> None:
    def check(limit: int) -> Callable[[Item], Item]:
        def checked(item: Item) -> Item:
            if item.n > limit:
                raise ValueError(f"more than {limit}")
            return item

        return checked

    source = numbers(1, 3, 9)
    late = source.map(check(5))  # fails on the third tuple
    soon = source.map(check(2))  # fails on the second, in a later branch
    error = failing(late.collect("late"), soon.collect("soon"))
    assert str(error.cause) == "more than 2"
    assert error.item == Item(3)
    assert ns(error.result, "late") == [1, 3]


def test_an_error_of_a_source_comes_at_its_place() -> None:
    def source() -> Iterator[Item]:
        yield Item(1)
        raise OSError("the line is dead")

    error = failing(ab.generate(Item, source).named("line").collect("out"), numbers(7, 8).collect("other"))
    assert error.operator == "line"
    assert "the line is dead" in str(error)
    assert ns(error.result) == [1]
    assert ns(error.result, "other") == [7]


def test_what_does_not_fit_its_type_is_the_error_of_the_operator_that_emitted_it() -> None:
    stream = numbers(1, 2).map(lambda item: Ratio("x" if item.n == 2 else 0.5), out=Ratio).named("wrong")
    error = failing(stream.filter(lambda ratio: True).named("innocent").collect("out"))
    assert error.operator == "wrong"
    assert error.item == Item(2)
    assert error.result.items("out") == [Ratio(0.5)]


def test_an_error_in_a_sink_is_that_sink_s() -> None:
    def refuse(item: Item) -> None:
        if item.n == 2:
            raise OSError("full")

    source = numbers(1, 2, 3)
    error = failing(source.for_each(refuse).named("disk"), source.collect("after"))
    assert (error.operator, error.item) == ("disk", Item(2))
    assert ns(error.result, "after") == [1]


class AtEnd:
    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Item:
        self.last = item
        return item

    def punctuation(self) -> None:
        assert self.last is not None
        if self.last.key == "p":
            raise ValueError("at a punctuation")

    def finish(self) -> Iterator[Item]:
        assert self.last is not None
        yield Item(100 + self.last.n, self.last.key)
        if self.last.key == "bad":
            raise ValueError("at the end")
        yield Item(200 + self.last.n, self.last.key)


def test_errors_in_finish_and_punctuation_say_so() -> None:
    ended = failing(ab.from_items(Item, [Item(1, "bad")]).process(AtEnd).collect("out"))
    assert ended.during == "finish"
    assert "end" in str(ended).splitlines()[0]
    assert ns(ended.result) == [1, 101]
    punctuated = ab.from_items(Item, [Item(1), Item(2, "p"), Item(3)]).punctuate(count=1).process(AtEnd)
    error = failing(punctuated.collect("out"))
    assert error.during == "punctuation"
    assert ns(error.result) == [1, 2]


def test_nothing_finishes_after_an_error() -> None:
    trace = Trace()
    source = numbers(1, 0)
    ended = source.process(AtEnd).for_each(trace("end"))
    failing(ended, source.map(invert).collect("out"))
    assert trace.lines == ["end 1 'a'", "end 0 'a'"]


def test_a_user_s_stop_iteration_is_an_error_and_no_end() -> None:
    def careless(item: Item) -> Item:
        return next(iter([]))

    def careless_sink(item: Item) -> None:
        next(iter([]))

    class Careless:
        def add(self, item: Item) -> None:
            next(iter([]))

        def result(self) -> int:
            return 0

    class Out(NamedTuple):
        n: int

    windows = numbers(1).punctuate(count=1).window(ab.punctuated()).aggregate(Out, n=Careless)
    for sink in (
        numbers(1).map(careless).collect("out"),
        numbers(1).for_each(careless_sink),
        numbers(1).process(careless).collect("out"),
        windows.collect("out"),
    ):
        assert "StopIteration" in str(failing(sink))


# on_error ----------------------------------------------------------------------------------------------------------


def test_skip_passes_over_what_fails_and_counts_it() -> None:
    result = ab.run(numbers(2, 0, 4, 0).map(invert, on_error="skip").named("inverse").collect("out"))
    assert result.items("out") == [Ratio(0.5), Ratio(0.25)]
    assert result.metrics["inverse"].skipped == 2
    assert result.metrics.skipped == 2


def test_skip_keeps_what_was_emitted_before_and_drops_the_rest_of_that_tuple() -> None:
    def some(item: Item) -> Iterator[Item]:
        yield Item(item.n)
        if item.n == 2:
            raise ValueError("no more")
        yield Item(-item.n)

    result = ab.run(numbers(1, 2, 3).flat_map(some, on_error="skip").collect("out"))
    assert ns(result) == [1, -1, 2, 3, -3]
    assert result.metrics.skipped == 1


def test_skip_passes_over_a_value_that_does_not_fit_its_type() -> None:
    grow = numbers(1, 2, 3).map(lambda item: Item(item.n * 2**62), out=Item, on_error="skip")
    result = ab.run(grow.collect("out"))
    assert ns(result) == [2**62]
    assert result.metrics.skipped == 2


def test_a_dead_letter_says_what_failed_where_and_why_at_its_place_in_the_order() -> None:
    trace = Trace()
    line = inspect.currentframe().f_lineno + 1
    inverse = numbers(2, 0, 4).map(invert, on_error="dead_letter").named("inverse")
    letters: list[ab.DeadLetter] = []
    result = ab.run(
        inverse.for_each(trace("out")),
        inverse.outputs.dead_letter.for_each(lambda letter: (letters.append(letter), trace.lines.append("letter"))),
    )
    assert trace.lines == ["out 0.5", "letter", "out 0.25"]
    (letter,) = letters
    assert letter.operator == "inverse"
    assert letter.where.endswith(f"test_errors.py:{line}")
    assert letter.error == "ZeroDivisionError: division by zero"
    assert letter.item == "Item(n=0, key='a')"
    assert (result.metrics["inverse"].dead_letters, result.metrics.skipped) == (1, 0)


def test_an_error_at_the_end_of_one_key_does_not_lose_the_other_keys() -> None:
    items = [Item(1, "x"), Item(2, "bad"), Item(3, "y")]
    result = ab.run(ab.from_items(Item, items).process(AtEnd, key="key", on_error="skip").collect("out"))
    assert ns(result) == [1, 2, 3, 101, 201, 102, 103, 203]
    assert result.metrics.skipped == 1


def test_an_error_in_one_group_of_a_window_does_not_lose_the_others() -> None:
    class Strict:
        def __init__(self) -> None:
            self.total = 0

        def add(self, item: Item) -> None:
            self.total += item.n

        def result(self) -> int:
            if self.total == 2:
                raise ValueError("two is too many")
            return self.total

    class Sum(NamedTuple):
        key: str
        total: int

    items = [Item(1, "x"), Item(2, "y"), Item(3, "z")]
    for window in (
        ab.tumbling(count=3),
        ab.sliding(count=3, slide=3),
        ab.tumbling(count=9),
        ab.tumbling(seconds=10, on="n"),
        ab.punctuated(),
    ):
        for key, group_by in (("key", None), (None, "key")):
            source = ab.from_items(Item, items).punctuate(count=3)
            sums = source.window(window, key=key).aggregate(Sum, group_by=group_by, total=Strict, on_error="skip")
            result = ab.run(sums.collect("out"))
            assert result.items("out") == [Sum("x", 1), Sum("z", 3)]
            assert result.metrics.skipped == 1


def test_the_tuple_that_closes_a_window_which_fails_still_enters_its_own() -> None:
    class Out(NamedTuple):
        ns: list[int]
        ok: bool

    class FailsOnFive:
        def __init__(self) -> None:
            self.has_five = False

        def add(self, item: Item) -> None:
            self.has_five |= item.n == 5

        def result(self) -> bool:
            if self.has_five:
                raise ValueError("five")
            return True

    windows = numbers(5, 12, 13).window(ab.tumbling(seconds=10, on="n"))
    result = ab.run(windows.aggregate(Out, ns=ab.collect("n"), ok=FailsOnFive, on_error="skip").collect("out"))
    assert result.items("out") == [Out([12, 13], True)]


def test_bad_items_of_a_source_are_skipped_and_counted_or_sent_as_dead_letters() -> None:
    bad: Any = "two"
    skipping = ab.run(numbers(1, bad, 3, on_error="skip").named("items").collect("out"))
    assert ns(skipping) == [1, 3]
    assert skipping.metrics["items"].skipped == 1

    trace = Trace()
    source = numbers(1, bad, 3, on_error="dead_letter").named("items")
    letters = source.outputs.dead_letter
    result = ab.run(source.for_each(trace("out")), letters.map(lambda d: d, out=ab.DeadLetter).collect("dead"))
    assert trace.lines == ["out 1 'a'", "out 3 'a'"]
    (letter,) = result.items("dead")
    assert (letter.operator, letter.where, letter.item) == ("items", "item 2", "Item(n='two', key='a')")
    assert "int expected" in letter.error


def test_on_error_concerns_its_own_operator_only() -> None:
    stream = numbers(1, 0).filter(lambda item: True, on_error="skip").map(invert)
    assert failing(stream.collect("out")).operator == "invert"


@pytest.mark.parametrize("how", ["skip", "dead_letter"])
def test_every_operator_that_runs_the_user_s_code_can_skip(how: str) -> None:
    def fail(*items: Item) -> Any:
        raise ValueError("always")

    class Fails:
        def process(self, item: Item) -> Item:
            raise ValueError("always")

        def one(self, item: Item) -> Item:
            raise ValueError("always")

    class Sum(NamedTuple):
        n: int

    class FailingSum:
        def add(self, item: Item) -> None:
            raise ValueError("always")

        def result(self) -> int:
            return 0

    def paired(a: Item, b: Item) -> Item:
        raise ValueError("always")

    source = numbers(1, 2)
    other = numbers(1, 2)
    every = ab.sliding(count=9)
    streams = {
        "map": source.map(fail, out=Item, on_error=how),
        "filter": source.filter(fail, on_error=how),
        "flat_map": source.flat_map(fail, out=Item, on_error=how),
        "process": source.process(Fails, on_error=how),
        "connect": ab.connect(Fails, one=source, on_error=how),
        "aggregate": source.window(ab.tumbling(count=2)).aggregate(Sum, n=FailingSum, on_error=how),
        "join": source.join(other, left=every, right=every, match=fail, out=paired, on_error=how),
        "barrier": ab.barrier(source, other, out=paired, on_error=how),
    }
    outputs = source.split({"all": fail}, on_error=how)
    streams["split"] = outputs.all
    for name, stream in streams.items():
        sinks = [stream.collect("out")]
        if how == "dead_letter":
            letters = outputs.dead_letter if name == "split" else stream.outputs.dead_letter
            sinks.append(letters.collect("letters"))
        result = ab.run(*sinks)
        failures = result.metrics.skipped if how == "skip" else len(result.items("letters"))
        assert result.items("out") == [], name
        assert failures == 2, name
