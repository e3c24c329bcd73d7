"""The Spark engine on a real Spark: the oracle's tuples in the oracle's order, its figures and its errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.engines.spark.job import exchange
from anabranch.engines.spark.runs import engine as spark_engine
from anabranch.errors import UsageError
from anabranch.operators.sinks.write_file import WriteFileMeaning
from anabranch.run import as_program
from tests.codegen.exactness import exact
from tests.dataflow.outcomes import outcome


class Item(NamedTuple):
    n: int
    s: str = ""


class Running:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count, item.s) if self.count % 3 else None


class Many:
    """Emits several tuples for some, with the same number."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        for at in range(item.n % 4):
            yield Item(self.count * 10 + at, f"{item.s}{at}")


def numbered(number: int) -> Item:
    return Item(number * 7919 % 1009, "abcdefg"[number % 7])


def numbers(count: int = 50_000) -> ab.Stream[Item]:
    return ab.beacon(Item, numbered, count=count)


def halved(item: Item) -> Item:
    return Item(item.n // 2, item.s)


def rising(item: Item) -> Item:
    return Item(item.n + 1, item.s)


def check(session: Any, *sinks: Any, channels: int = 2) -> ab.Result:
    """Runs by the oracle and on Spark are the same in everything that can be seen."""
    program = as_program(*sinks)
    expected = ab.run(program, engine="sequential")
    result = ab.run(program, engine="spark", spark=session, channels=channels)
    assert {name: exact(rows) for name, rows in result.collected.items()} == {
        name: exact(rows) for name, rows in expected.collected.items()
    }
    figures = [{name: astuple(each) for name, each in run.metrics.operators.items()} for run in (result, expected)]
    assert figures[0] == figures[1]
    assert (result.metrics.tuples_in, result.metrics.tuples_out) == (
        expected.metrics.tuples_in,
        expected.metrics.tuples_out,
    )
    return result


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_a_shuffle_between_regions_with_different_keys(session: Any, channels: int) -> None:
    first = numbers().filter(lambda item: item.n % 5 != 0).process(Running, key="n").map(rising)
    check(session, first.process(Running, key="s").collect("out"), channels=channels)


def test_tuples_that_become_several_stay_together_through_a_shuffle(session: Any) -> None:
    check(session, numbers().process(Many, key="n").process(Many, key="s").collect("out"))


def test_streams_that_part_and_meet_again(session: Any) -> None:
    source = numbers(20_000)
    one, two = source.process(Running, key="n"), source.map(rising)
    check(session, one.union(two).collect("both"), two.process(Running, key="s").collect("two"))


def test_several_sources_take_turns(session: Any) -> None:
    one, two = numbers(9_000).map(rising), numbers(20_000).process(Running, key="s")
    check(session, one.union(two).collect("out"))


@pytest.mark.parametrize("most", [exchange._MOST_RANGES, 2])
def test_of_what_one_task_draws_a_few_epochs_are_fetched_at_a_time(
    session: Any, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """How many there will be is not known before."""
    monkeypatch.setattr(exchange, "_SPOOLED_EPOCHS_AT_ONCE", 1)
    monkeypatch.setattr(exchange, "_MOST_RANGES", most)
    one, two = numbers(30_000), numbers(30_000).process(Running, key="s")
    check(session, one.union(two).collect("out"))


def test_windows_and_punctuations(session: Any) -> None:
    windows = numbers(20_000).process(Running, key="n").window(ab.tumbling(count=7), key="s")
    totals = windows.aggregate(Item, n=ab.sum_("n"), s=ab.first("s"))
    marked = numbers(20_000).map(rising).punctuate(count=100).window(ab.punctuated(), key="s")
    check(session, totals.collect("totals"), marked.aggregate(Item, n=ab.count(), s=ab.last("s")).collect("marked"))


class Last:
    """Gives the last tuple of its key when there are no more."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> None:
        self.last = item

    def finish(self) -> Item | None:
        return self.last


class Total:
    """What came for a key in a round, to be sent around while it is large."""

    def __init__(self) -> None:
        self.s = ""
        self.n = 0

    def process(self, item: Item) -> None:
        self.s = item.s
        self.n += item.n

    def punctuation(self) -> Item:
        n, self.n = self.n, 0
        return Item(n // 40, self.s)


class Around:
    """Sends what is large around once more; the rest is done."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def process(self, item: Item) -> None:
        self.items.append(item)

    def punctuation(self) -> Iterator[Item | ab.To]:
        for item in self.items:
            yield item if item.n > 1_000 else ab.to("done", item)
        self.items = []


def test_a_loop_in_rounds_is_a_job_for_every_round(session: Any) -> None:
    def body(loop: ab.Stream[Item]) -> tuple[Any, Any]:
        around: Any = loop.process(Running, key="n").process(Total, key="s").process(Around, outputs={"done": Item})
        return around.outputs.done, around

    done: Any = numbers().map(rising).feedback(body, rounds=True)
    result = check(session, done.process(Many, key="s").collect("out"))
    assert result.metrics.notes == []


@pytest.mark.parametrize("channels", [1, 3])
def test_what_all_channels_give_at_one_moment(session: Any, channels: int) -> None:
    """When time passes a boundary that one of them saw, and at the end."""
    counted = ab.beacon(Item, lambda number: Item(number + number * 7919 % 300, "abcdefg"[number % 7]), count=30_000)
    windows = counted.window(ab.sliding(delta=900, slide=300, on="n"), key="s")
    totals = windows.aggregate(Item, n=ab.sum_("n"), s=ab.first("s")).process(Running, key="s")
    seen = counted.distinct(key="s", window=ab.sliding(delta=40, on="n"))
    check(
        session, totals.collect("totals"), seen.collect("seen"), counted.process(Last, key="n").collect("last"),
        channels=channels,
    )  # fmt: skip


def met(one: Item, other: Item) -> Item:
    return Item(one.n - other.n, other.s)


def test_joins_over_windows_of_time_and_groups_of_keys(session: Any) -> None:
    """In channels, each of which has some of the keys and the time of all."""
    fast = ab.beacon(Item, lambda number: Item(3 * number + number * 7919 % 300, "abcdefg"[number % 7]), count=9_000)
    slow = ab.beacon(Item, lambda number: Item(2 * number + number * 31 % 90, "abcde"[number % 5]), count=12_000)
    near = ab.sliding(delta=60, on="n")
    joined = fast.process(Running, key="s").join(slow, left=near, right=near, on="s", out=met)
    windows = slow.window(ab.tumbling(delta=500, on="n"), key="s")
    groups = windows.aggregate(Item, n=ab.count(), s=ab.first("s"), group_by="n")
    check(session, joined.collect("joined"), groups.collect("groups"), channels=3)


def test_a_loop_runs_in_one_place(session: Any) -> None:
    looped = numbers(5_000).feedback(lambda around: (around, around.filter(lambda item: item.n > 500).map(halved)))
    check(session, looped.process(Running, key="s").collect("out"))


def test_a_program_of_one_place_runs_all_the_same(session: Any) -> None:
    check(session, numbers(5_000).process(Running).collect("out"))


def test_files_in_and_a_file_out(session: Any, tmp_path: Path) -> None:
    ab.run(numbers(30_000).write_csv(tmp_path / "in.csv"), engine="sequential")
    out = {}
    for engine in ("sequential", "spark"):
        path = tmp_path / f"{engine}.jsonl"
        program = ab.read_csv(tmp_path / "in.csv", Item).process(Running, key="n").write_jsonl(path)
        ab.run(program, engine=engine, spark=session if engine == "spark" else None)
        out[engine] = path.read_bytes()
    assert out["spark"] == out["sequential"]
    assert out["spark"].count(b"\n") > 15_000


def test_files_of_keys_of_their_own_are_read_by_tasks_of_their_own(session: Any, tmp_path: Path) -> None:
    for number in range(3):
        mine = [Item(item.n * 3 + number, item.s) for item in map(numbered, range(9_000 - number * 4_000))]
        ab.run(ab.from_items(Item, mine).write_csv(tmp_path / f"{number}.csv"), engine="sequential")
    sink = ab.read_csv(tmp_path / "*.csv", Item, partition_by="n").process(Running, key="s").collect("out")
    check(session, sink)
    with (tmp_path / "1.csv").open("a") as file:
        file.write("0,again\n")  # which is in the first file
    found = outcome(ab.run, as_program(sink), engine="spark", spark=session)
    assert found == outcome(ab.run, as_program(sink), engine="sequential")
    assert "0 occurs in" in str(found[1])


# Errors -------------------------------------------------------------------------------------------------------------


class Failing:
    def __init__(self) -> None:
        self.left = 20

    def process(self, item: Item) -> Iterator[Item]:
        yield item
        self.left -= 1
        yield Item(10 // self.left, item.s)


class Broken(Exception):
    """An exception that cannot be sent to another process."""

    def __init__(self, item: Item, why: str) -> None:
        super().__init__(f"{why} at {item.n}")
        self.handle = lambda: item


def breaks(item: Item) -> Item:
    if item.n == 777:
        raise Broken(item, "no")
    return item


@pytest.mark.parametrize("keys", [["n"], ["n", "s"]])
def test_an_error_is_the_oracles_with_what_came_before_it(session: Any, keys: list[str]) -> None:
    stream = numbers()
    for key in keys[:-1]:
        stream = stream.process(Many, key=key)
    program = as_program(stream.process(Failing, key=keys[-1]).map(rising).collect("out"))
    expected = outcome(ab.run, program, engine="sequential")
    assert "ZeroDivisionError" in str(expected[1])
    assert "on Item(" in str(expected[1])
    assert outcome(ab.run, program, engine="spark", spark=session) == expected


def test_without_an_order_too_the_first_error_is_reported_with_all_that_came_before_it(session: Any) -> None:
    program = as_program(numbers().process(Failing, key="n").map(rising).collect("out", ordered=False))
    found, expected = (
        outcome(ab.run, program, engine="spark", spark=session),
        outcome(ab.run, program, engine="sequential"),
    )
    assert found[1] == expected[1] is not None
    [_, some], [_, wanted] = found[0]["out"], expected[0]["out"]  # each behind the type of the list
    assert sorted(some, key=repr) == sorted(wanted, key=repr)


def test_an_exception_that_cannot_be_sent_is_said_in_its_words(session: Any) -> None:
    program = as_program(numbers().map(breaks).process(Running, key="s").collect("out"))
    [expected, words] = outcome(ab.run, program, engine="sequential")
    [found, said] = outcome(ab.run, program, engine="spark", spark=session)
    assert found == expected
    assert str(said).splitlines()[0] == "operator 'breaks' failed: Broken: no at 777" == str(words).splitlines()[0]


def test_rows_that_cannot_be_read_are_met_at_their_place(session: Any, tmp_path: Path) -> None:
    rows: list[Any] = [numbered(n) if n % 997 else ("x",) for n in range(1, 5_000)]
    kept = ab.from_items(Item, rows, on_error="skip").process(Running, key="s").collect("out")
    assert check(session, kept).metrics.skipped == 5
    stopped = as_program(ab.from_items(Item, rows).process(Running, key="s").collect("out"))
    assert outcome(ab.run, stopped, engine="spark", spark=session) == outcome(ab.run, stopped, engine="sequential")


# What stays in this process -----------------------------------------------------------------------------------------


def test_operators_that_share_something_run_where_it_is(session: Any) -> None:
    seen: list[int] = []

    def noted(item: Item) -> Item:
        seen.append(item.n)
        return item

    result = check(session, numbers(100).map(noted).process(Running, key="n").collect("out"))
    assert len(seen) == 200, "by the oracle and here, not in a worker"
    assert len(result.items("out")) > 50


def test_what_exists_only_in_this_process_keeps_a_program_in_it(session: Any) -> None:
    generator = (n for n in range(1_000))

    def drawn(item: Item) -> Item:
        return Item(next(generator), item.s)

    result = ab.run(numbers(100).map(drawn).collect("out"), engine="spark", spark=session)
    assert [item.n for item in result.items("out")] == list(range(100))


@pytest.mark.parametrize("where", ["no loop", "before a loop", "in a loop"])
def test_a_program_that_stays_in_this_process_opens_its_sinks_once(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    lock = threading.Lock()

    @ab.declare(state="stateless", because="the lock is not for the tuples")
    def locked(item: Item) -> Item:
        with lock:
            return item

    def body(loop: ab.Stream[Item]) -> tuple[Any, Any]:
        inside = loop.map(locked) if where == "in a loop" else loop
        around: Any = inside.process(Total, key="s").process(Around, outputs={"done": Item})
        return around.outputs.done, around

    opened: list[WriteFileMeaning] = []
    open_file = WriteFileMeaning.open

    def noted(sink: WriteFileMeaning) -> None:
        opened.append(sink)
        open_file(sink)

    monkeypatch.setattr(WriteFileMeaning, "open", noted)
    stream: Any = numbers(100) if where == "in a loop" else numbers(100).map(locked)
    stream = stream if where == "no loop" else stream.feedback(body, rounds=True)
    result = ab.run(stream.write_csv(tmp_path / "out.csv"), engine="spark", spark=session)
    assert [note for note in result.metrics.notes if "cannot be sent" in note]
    assert len(opened) == 1


def test_sinks_may_hold_what_exists_only_in_this_process(session: Any) -> None:
    lock = threading.Lock()  # it cannot be sent
    seen: list[int] = []

    def note(item: Item) -> None:
        with lock:
            seen.append(item.n)

    result = ab.run(numbers(1_000).process(Running, key="n").for_each(note), engine="spark", spark=session)
    assert not [each for each in result.metrics.notes if "in the driver" in each]
    assert len(seen) > 500


def test_what_an_operator_imports_when_it_is_called_is_found_where_the_driver_finds_it(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("def doubled(n): return 2 * n")
    monkeypatch.syspath_prepend(tmp_path)

    def late(item: Item) -> Item:
        from imported_late import doubled  # type: ignore[import-not-found]

        return Item(doubled(item.n), item.s)

    result = check(session, numbers(1_000).process(Running, key="n").map(late).collect("out"))
    assert not [each for each in result.metrics.notes if "in the driver" in each]


# Usage --------------------------------------------------------------------------------------------------------------


def test_channels_are_given_by_region(session: Any) -> None:
    program = as_program(numbers(1_000).process(Running, key="n").process(Running, key="s").collect("out"))
    expected = ab.run(program, engine="sequential").items("out")
    result = ab.run(program, engine="spark", spark=session, channels={"R2": 3})
    assert result.items("out") == expected
    with pytest.raises(UsageError, match="no region 'R7'"):
        ab.run(program, engine="spark", spark=session, channels={"R7": 3})
    assert ab.run(program, engine="spark", spark=session, channels="auto").items("out") == expected


@pytest.mark.parametrize("channels", [0, -1, 10_001, True, 2.0, "4", [2], {"R1": "2"}, {"R1": None}])
def test_what_is_no_number_of_channels_is_said_before_spark_is_asked(
    channels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_engine, "session_for", lambda options: pytest.fail("Spark was asked"))
    program = as_program(numbers(10).process(Running, key="n").collect("out"))
    with pytest.raises(UsageError, match=r"a region cannot have .* channels") as raised:
        ab.run(program, engine="spark", channels=channels)
    assert raised.value.location is not None
    assert raised.value.location.file == __file__


def test_settings_come_too_late_for_a_session_that_exists(session: Any) -> None:
    with pytest.raises(UsageError, match="cannot change an existing session"):
        ab.run(numbers(10).collect("out"), engine="spark", spark=session, master="local[4]")
    with pytest.raises(UsageError, match="has no use for master="):
        ab.run(numbers(10).collect("out"), engine="fused", master="local[4]")


class Seen:
    """Leaves the key as it is."""

    def __init__(self) -> None:
        self.last = 0

    def process(self, item: Item) -> Item | None:
        self.last, before = item.n, self.last
        return Item(before, item.s) if before % 5 else None


class Together:
    """Of two streams by one key."""

    def __init__(self) -> None:
        self.count = 0

    def one(self, item: Item) -> None:
        self.count += item.n

    def two(self, item: Item) -> Iterator[Item]:
        yield Item(self.count, item.s)


def test_what_stays_in_its_channels_and_comes_as_lines(tmp_path: Path) -> None:
    """A stream parts behind a region, meets itself by the same key, and is written from lines of the channels."""

    def program(out: Path) -> ab.Sink:
        seen = numbers(20_000).process(Seen, key="s")
        met = ab.connect(Together, key="s", one=seen.process(Seen, key="s"), two=seen.filter(lambda item: item.n > 9))
        return met.write_csv(out)

    ab.run(program(tmp_path / "expected.csv"), engine="sequential")
    result = ab.run(program(tmp_path / "found.csv"), engine="spark", channels=2)
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    [phase] = result.plan.phases
    assert len(phase.layout.levels) == 1
    assert [arrival.lines is not None for arrival in phase.layout.arriving("tail")] == [True]
