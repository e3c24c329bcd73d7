"""The fused engine: the oracle's results, figures and errors, in whatever chunks tuples are processed."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.engines import fused, sequential
from anabranch.errors import RunError, UsageError
from anabranch.graph.model import Graph, Program
from anabranch.run import as_program
from tests.codegen.by_batches import described, exact
from tests.codegen.palette import programs

PATIENCE = 30.0  # seconds until a test that waits in vain gives up


class Item(NamedTuple):
    n: int


def items(*ns: int, **options: Any) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n) for n in ns], **options)


def outcome(run: Any, graph: Graph, **options: Any) -> Any:
    """Everything that can be seen of a run."""
    error: RunError | None = None
    try:
        result = run(graph, **options)
    except RunError as stopped:
        error, result = stopped, stopped.result
    metrics = result.metrics
    figures = {name: astuple(each) for name, each in metrics.operators.items()}
    return exact(list(result.collected.items())), described(error), figures, metrics.tuples_in, metrics.tuples_out


def assert_same(*sinks: Any) -> None:
    graph = as_program(*sinks).graph
    expected = outcome(sequential.run, graph)
    for size in (1, 3, 1000):
        assert outcome(fused.run, graph, form="python", chunk_size=size) == expected


@pytest.mark.parametrize("form", ["python", "native"])
def test_of_a_source_only_the_dead_letters_may_be_wanted(form: Any) -> None:
    source = ab.from_items(Item, [(1, "two")], on_error="dead_letter")  # type: ignore[list-item]
    letters = source.outputs.dead_letter.collect("letters")
    expected = ab.run(letters, engine="sequential").items("letters")
    assert len(expected) == 1
    assert ab.run(letters, engine="fused", form=form).items("letters") == expected


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(1, 12))
def test_random_programs_run_as_by_the_oracle(program: Program, size: int) -> None:
    expected = outcome(sequential.run, program.graph)
    assert outcome(fused.run, program.graph, form="python", chunk_size=size) == expected


# Sinks --------------------------------------------------------------------------------------------------------------


def test_the_effects_of_sinks_are_in_the_order_of_the_program() -> None:
    def trace(engine: str) -> list[str]:
        lines: list[str] = []

        def noted(item: Item) -> Item:
            lines.append(f"map {item.n}")
            return item

        numbers = items(1, 2, 3)
        mapped = numbers.map(noted)
        sinks = [mapped.for_each(lambda item: lines.append(f"one {item.n}")), mapped.collect("out")]
        ab.run(*sinks, numbers.for_each(lambda item: lines.append(f"two {item.n}")), engine=engine)
        return lines

    assert trace("fused") == trace("sequential")


def test_a_sink_that_fails_has_let_exactly_what_is_before_it_through(tmp_path: Path) -> None:
    def fail(item: Item) -> None:
        if item.n == 3:
            raise ValueError("three")

    numbers = items(1, 2, 3, 4)
    assert_same(numbers.collect("before"), numbers.for_each(fail), numbers.collect("after"))
    assert_same(numbers.for_each(fail, on_error="skip"), numbers.collect("out"))
    file = tmp_path / "out.jsonl"
    with pytest.raises(ab.OperatorError, match="three"):
        ab.run(numbers.write_jsonl(file), numbers.for_each(fail), engine="fused")
    kept = tmp_path / "out.jsonl.partial"
    assert [json.loads(line)["n"] for line in kept.read_text().splitlines()] == [1, 2, 3]


def test_the_error_of_a_sink_alone_is_that_of_the_oracle() -> None:
    def stop(item: Item) -> None:
        raise StopIteration

    assert_same(items(1, 2).map(lambda item: Item(item.n + 1), out=Item).for_each(stop))


# Sources ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_what_cannot_be_read_is_met_at_its_place(on_error: str) -> None:
    rows: list[Any] = [Item(1), "wrong", Item(2), Item("x"), Item(3)]  # type: ignore[arg-type]
    assert_same(ab.from_items(Item, rows, on_error=on_error).collect("out"))


def test_dead_letters_of_a_source_are_at_their_place() -> None:
    rows: list[Any] = [Item(1), "wrong", Item(2)]
    source = ab.from_items(Item, rows, on_error="dead_letter")
    letters = source.outputs.dead_letter.map(lambda letter: Item(len(letter.item)), out=Item)
    assert_same(source.union(letters).collect("out"), source.outputs.dead_letter.collect("letters"))


def test_a_source_that_fails_has_given_what_came_before() -> None:
    def numbers() -> Iterator[Item]:
        yield Item(1)
        yield Item(2)
        raise OSError("gone")

    assert_same(ab.generate(Item, numbers).collect("out"))


def test_a_source_that_waits_does_not_hold_back_what_it_gave() -> None:
    arrived = threading.Event()

    def numbers() -> Iterator[Item]:
        yield Item(1)
        yield Item(2)
        assert arrived.wait(PATIENCE), "the second tuple was held back"
        yield Item(3)

    def note(item: Item) -> None:
        if item.n == 2:
            arrived.set()

    result = ab.run(ab.generate(Item, numbers).for_each(note), engine="fused")
    assert result.metrics.tuples_in == 3


def test_lines_from_a_server_are_processed_as_they_come() -> None:
    arrived = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b'{"n": 1}\n')
                arrived.wait(PATIENCE)
                connection.sendall(b'{"n": 2}\n' if arrived.is_set() else b"held back\n")

        serving = threading.Thread(target=serve)
        serving.start()
        seen: list[int] = []

        def note(item: Item) -> None:
            seen.append(item.n)
            arrived.set()

        ab.run(ab.read_tcp(server.getsockname()[1], Item, host="127.0.0.1").for_each(note), engine="fused")
        serving.join()
    assert seen == [1, 2]


def test_a_live_source_gives_all_it_has_in_order() -> None:
    count = 100_000

    def numbers() -> Iterator[Item]:
        return (Item(n) for n in range(count))

    result = ab.run(ab.generate(Item, numbers).filter(lambda item: item.n % 2 == 0).collect("out"), engine="fused")
    assert [item.n for item in result.items("out")] == list(range(0, count, 2))


# Interrupts and usage -----------------------------------------------------------------------------------------------


def test_an_interrupt_stops_between_tuples_and_carries_the_result() -> None:
    def interrupted(item: Item) -> Item:
        if item.n == 5:
            signal.raise_signal(signal.SIGINT)
        return item

    numbers = items(*range(10_000))
    with pytest.raises(KeyboardInterrupt) as caught:
        ab.run(numbers.map(interrupted).collect("out"), engine="fused")
    result: Any = caught.value.result  # type: ignore[attr-defined]
    out = [item.n for item in result.items("out")]
    assert 5 < len(out) < 10_000
    assert out == list(range(len(out)))
    assert result.metrics.tuples_in == len(out)


def test_a_form_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UsageError, match="no form 'fortran'"):
        ab.run(items(1).collect("out"), engine="fused", form="fortran")


# Sources that share something with operators -------------------------------------------------------------------------

limit = 1
seen: dict[int, int] = {}


def changing_the_limit() -> Iterator[Item]:
    global limit
    for n in range(500):
        limit = 1 + n // 100
        yield Item(n)


def counting_what_was_seen() -> Iterator[Item]:
    for _ in range(300):
        yield Item(len(seen))


def note(item: Item) -> None:
    seen[item.n] = item.n


def test_what_a_source_changes_is_seen_by_the_operators_of_its_tuple() -> None:
    def program() -> Any:
        return ab.generate(Item, changing_the_limit).filter(lambda item: item.n % limit == 0).collect("out")

    assert ab.run(program(), engine="fused").items("out") == ab.run(program()).items("out")


def test_a_source_sees_what_became_of_its_last_tuple() -> None:
    def run(engine: str) -> int:
        seen.clear()
        ab.run(ab.generate(Item, counting_what_was_seen).for_each(note), engine=engine)
        return len(seen)

    assert run("fused") == run("sequential") == 300


# Interrupts in the middle of a chunk -------------------------------------------------------------------------------


def test_the_figures_are_those_of_the_tuples_that_were_begun_when_a_second_interrupt_came() -> None:
    def interrupted(item: Item) -> Item:
        if item.n == 3:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return item

    found = []
    for engine in ("sequential", "fused"):
        with pytest.raises(KeyboardInterrupt) as stopped:
            ab.run(items(*range(10)).map(interrupted).collect("out"), engine=engine)
        result = stopped.value.result  # type: ignore[attr-defined]
        found.append((result.items("out"), result.metrics.tuples_in))
    assert found[0] == found[1] == ([Item(0), Item(1), Item(2)], 4)


def test_a_beacon_sees_what_became_of_its_last_tuple() -> None:
    def run(engine: str) -> int:
        seen.clear()
        ab.run(ab.beacon(Item, lambda _: Item(len(seen)), count=100).for_each(note), engine=engine)
        return len(seen)

    assert run("fused") == run("sequential") == 100


def test_sinks_that_take_turns_cannot_be_written_by_native_code() -> None:
    numbers = items(1, 2)
    with pytest.raises(UsageError, match="takes turns with others, which native code cannot do"):
        ab.run(numbers.collect("one"), numbers.for_each(note), engine="fused", form="native")


def test_a_form_is_for_engines_that_generate_code() -> None:
    with pytest.raises(UsageError, match="the engine 'sequential' generates no code, so it has no form 'native'"):
        ab.run(items(1).collect("out"), form="native")
