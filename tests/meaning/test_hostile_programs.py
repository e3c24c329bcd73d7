"""Programs that misbehave: what they do is their error, at its place, and never silently something else."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.cli import main


class N(NamedTuple):
    n: int


def numbers(*values: int) -> ab.Stream[N]:
    return ab.from_items(N, [N(value) for value in values])


class Exhausted:
    """A number that ends an iterator when it is asked for its value."""

    def __index__(self) -> int:
        return next(iter(()))


def test_an_iterator_that_ends_inside_a_value_is_an_error_not_the_end_of_the_emissions() -> None:
    def twice(t: N) -> list[N]:
        return [N(Exhausted() if t.n == 2 else t.n), N(t.n * 10)]  # type: ignore[arg-type]  # that is the point

    with pytest.raises(ab.OperatorError) as caught:
        ab.run(numbers(1, 2, 3).flat_map(twice).collect("out"))
    assert caught.value.item == N(2)
    assert caught.value.result.items("out") == [N(1), N(10)]  # type: ignore[attr-defined]  # a Result


async def asynchronous(t: N) -> bool:
    return False


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.filter(asynchronous),
        lambda s: s.split({"a": asynchronous}),
        lambda s: s.for_each(asynchronous),
        lambda s: s.map(asynchronous, out=N),
    ],
)
def test_an_asynchronous_function_is_refused(use: Any) -> None:
    with pytest.raises(ab.BuildError, match="is asynchronous"):
        use(numbers(1))


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_an_exception_that_cannot_be_shown_is_still_the_operators_error(on_error: str) -> None:
    def fail(t: N) -> N:
        raise Unspeakable

    sink = numbers(1).map(fail, on_error=on_error).collect("out")
    if on_error == "skip":
        assert ab.run(sink).metrics.skipped == 1
    else:
        with pytest.raises(ab.OperatorError, match="operator 'fail' failed: Unspeakable"):
            ab.run(sink)


def test_the_error_of_a_run_inside_an_operator_is_that_operators() -> None:
    def nested(t: N) -> N:
        return N(len(ab.run(numbers(0).map(lambda x: N(1 // x.n), out=N).collect("in")).items("in")))

    with pytest.raises(ab.OperatorError) as caught:
        ab.run(numbers(7).map(nested).named("outer").collect("out"))
    assert (caught.value.operator, caught.value.item) == ("outer", N(7))


def test_windows_reach_to_the_ends_of_the_calendar() -> None:
    class Moment(NamedTuple):
        ts: datetime

    moments = ab.from_items(Moment, [Moment(datetime.min), Moment(datetime.max)])
    counted = moments.window(ab.tumbling(days=1, on="ts")).aggregate(N, n=ab.count())
    assert ab.run(counted.collect("out")).items("out") == [N(1), N(1)]


def test_two_sinks_cannot_write_to_one_file_by_two_names(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "file.csv")
    stream = numbers(1)
    with pytest.raises(ab.BuildError, match="two sinks have the same target"):
        ab.run(stream.write_csv(tmp_path / "link.csv"), stream.write_csv(tmp_path / "file.csv"))


def test_a_file_that_ends_the_interpreter_is_not_taken_for_a_success(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("raise SystemExit(0)\n")
    assert main(["explain", str(path), "--require-parallel", "x"]) == 2


def files_written(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupt_at_the_end_keeps_all_outputs_whole(tmp_path: Path) -> None:
    class Interrupting:
        """The last thing it does, at the end of the stream, is to press Ctrl-C."""

        def process(self, t: N) -> Iterator[N]:
            yield t

        def finish(self) -> Iterator[N]:
            os.kill(os.getpid(), signal.SIGINT)
            yield N(99)

    stream = numbers(1, 2).process(Interrupting)
    with pytest.raises(KeyboardInterrupt):
        ab.run(*[stream.write_csv(tmp_path / f"{name}.csv") for name in "abc"])
    assert files_written(tmp_path) == ["a.csv.partial", "b.csv.partial", "c.csv.partial"]
    assert (tmp_path / "c.csv.partial").read_text() == "n\n1\n2\n99\n"


def test_an_interrupt_while_sinks_are_opened_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anabranch.operators.sinks.write_file import WriteFileMeaning

    opened = WriteFileMeaning.open

    def interrupted(self: WriteFileMeaning) -> None:
        opened(self)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(WriteFileMeaning, "open", interrupted)
    (tmp_path / "b.csv").write_text("what stood there before\n")
    stream = numbers(1)
    with pytest.raises(KeyboardInterrupt):
        ab.run(stream.write_csv(tmp_path / "a.csv"), stream.write_csv(tmp_path / "b.csv"))
    assert files_written(tmp_path) == ["b.csv"]
    assert (tmp_path / "b.csv").read_text() == "what stood there before\n"
