"""With the analysis switched off, whatever changes something that operators share is an error, not a wrong answer."""

from __future__ import annotations

import builtins
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.engines import fused, sequential
from anabranch.errors import SharedStateError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.tripwire import traps
from tests.tripwire.traps import Reading, tick
from tests.tripwire.unsafe import analysis_switched_off_for_code, run_unsafely

ITEMS = [Reading(n % 5, n) for n in range(100)]


def mapped(fn: Any) -> Graph:
    return as_program(ab.from_items(Reading, ITEMS).map(fn, out=Reading).collect("out")).graph


def error_of(graph: Graph, **options: Any) -> SharedStateError:
    with pytest.raises(SharedStateError) as caught:
        run_unsafely(graph, **options)
    return caught.value


@pytest.mark.parametrize(("fn", "names"), traps.TRAPS, ids=lambda each: getattr(each, "__name__", None))
def test_a_change_of_what_is_shared_is_an_error(fn: Any, names: str) -> None:
    error = error_of(mapped(fn))
    assert names in error.what
    assert error.when == "end"


def test_a_global_that_only_a_text_names_is_not_sent_to_workers() -> None:
    error = error_of(mapped(traps.by_globals))
    assert (error.when, "`mutable_rates`" in error.what) == ("begin", True)


def test_the_error_says_what_changed_and_where_that_is_defined() -> None:
    error = error_of(mapped(traps.by_list))
    line = next(
        n for n, text in enumerate(Path(traps.__file__).read_text().splitlines(), 1) if text.startswith("seen:")
    )
    assert error.operator == "by_list"
    assert error.defined_at is not None
    assert error.defined_at.line == line
    text = str(error)
    assert text.startswith(
        "operator 'by_list' ran in parallel, but while it ran, the global `seen` of `tests.tripwire."
    )
    assert "traps.py" in text
    assert "seen: list[int] = []" in text
    assert "This is a defect of Anabranch" in text
    assert "@ab.declare(state=" in text


def test_what_an_operator_in_the_driver_changes_is_an_error_before_anything_is_taken_for_good(tmp_path: Path) -> None:
    read = ab.from_items(Reading, ITEMS).map(traps.by_limits, out=Reading)
    graph = as_program(read.write_csv(tmp_path / "out.csv"), read.for_each(traps.raise_limits)).graph
    error = error_of(graph)
    assert (error.when, "`limits`" in error.what) == ("here", True)
    assert "during the run the global `limits`" in str(error)
    assert "became another in your process" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["python", "auto"])
def test_what_is_built_into_generated_code_must_not_change_during_the_run(form: Any) -> None:
    read = ab.from_items(Reading, ITEMS).map(traps.by_limits, out=Reading)
    graph = as_program(read.for_each(traps.raise_limits)).graph
    with analysis_switched_off_for_code(traps.by_limits), pytest.raises(SharedStateError) as caught:
        fused.run(graph, form=form)
    assert (caught.value.when, "`limits`" in caught.value.what) == ("generated", True)
    assert "ran as generated code" in str(caught.value)


@pytest.mark.parametrize("form", ["python", "auto"])
@pytest.mark.parametrize("channels", [1, 3])
def test_in_every_form_and_with_any_number_of_channels(form: Any, channels: int) -> None:
    graph = as_program(
        ab.from_items(Reading, ITEMS).process(traps.CountsAll, key="key", out=Reading).collect("out")
    ).graph
    error = error_of(graph, form=form, channels=channels)
    assert error.what == "the class attribute `CountsAll.everybody`"


def test_an_aggregate_of_the_users_own() -> None:
    stream: Any = (
        ab.from_items(Reading, ITEMS).window(ab.tumbling(count=10), key="key").aggregate(traps.Many, many=traps.Adds)
    )
    error = error_of(as_program(stream.collect("out")).graph)
    assert error.what == "the class attribute `Adds.values`"


@pytest.mark.parametrize(
    ("module", "name", "fn"),
    [
        (math, "sqrt", traps.root),
        (json, "dumps", traps.dumped),
        (Counter, "update", traps.counted),
        (builtins, "divmod", traps.divided),
    ],
)
def test_a_function_of_a_library_that_is_not_the_workers(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, fn: Any
) -> None:
    """In the driver it was replaced; what is compared is what each process has there."""
    from anabranch.tripwire.reached import Memory, reached
    from anabranch.tripwire.watch import difference

    operators = mapped(fn).operators
    original = reached(operators, Memory()).entries
    monkeypatch.setattr(module, name, traps.mine)
    replaced = reached(operators, Memory()).entries
    monkeypatch.undo()
    change = difference(replaced, original)
    assert change is not None
    assert name in change.what
    assert change.file == traps.__file__, "where the other one is written"


def test_what_is_right_is_no_error() -> None:
    for fn in (traps.root, traps.dumped, traps.counted, traps.divided):
        graph = mapped(fn)
        assert run_unsafely(graph).items("out") == sequential.run(graph).items("out")


def test_nothing_of_such_a_run_is_collected_or_kept_in_a_folder(tmp_path: Path) -> None:
    error = error_of(mapped(traps.by_list))
    assert error.result.items("out") == []  # type: ignore[attr-defined]
    folder = tmp_path / "out"
    stream = ab.from_items(Reading, ITEMS).map(traps.by_list, out=Reading)
    error_of(as_program(stream.write_csv(f"{folder}/")).graph)
    assert not folder.exists() or list(folder.iterdir()) == []


def test_what_a_user_declares_to_be_safe_is_left_to_the_user() -> None:
    @ab.declare(state="stateless", because="it only counts how often it was called, for me")
    def counting(r: Reading) -> Reading:
        tick()
        return r

    graph = mapped(counting)
    assert run_unsafely(graph).items("out") == ITEMS


# Large arrays ------------------------------------------------------------------------------------------------------

large = np.zeros(1 << 18)


def writes(r: Reading) -> Reading:
    large[r.value] += 1
    return r._replace(value=int(large.sum()))


def reads(r: Reading) -> Reading:
    return r._replace(value=int(large[r.value]))


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_write_to_a_large_array_is_an_error(on_error: Any) -> None:
    stream = ab.from_items(Reading, ITEMS).map(writes, out=Reading, on_error=on_error)
    error = error_of(as_program(stream.collect("out")).graph)
    assert error.when == "write"
    assert "`large`" in error.what
    assert large.flags.writeable, "only a worker's copy is protected"


def test_a_large_array_that_is_read() -> None:
    assert run_unsafely(mapped(reads)).items("out") == [r._replace(value=0) for r in ITEMS]


# Other kinds of runs -----------------------------------------------------------------------------------------------


class Gathers:
    """Gives everything at a punctuation, and feeds nothing back."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []

    def process(self, r: Reading) -> None:
        self.readings.append(r)

    def punctuation(self) -> Iterator[Reading | ab.To]:
        for r in self.readings:
            yield ab.to("done", r)
        self.readings = []


def test_in_the_rounds_of_a_loop() -> None:
    def body(loop: Any) -> tuple[Any, Any]:
        gathered = loop.map(traps.by_helper).process(Gathers, out=Reading, outputs={"done": Reading})
        return gathered.outputs.done, gathered

    stream = ab.from_items(Reading, ITEMS).feedback(body, rounds=True)
    assert "`seen`" in error_of(as_program(stream.collect("out")).graph).what


def test_where_nothing_is_put_in_order(tmp_path: Path) -> None:
    out = tmp_path / "out"
    stream = ab.from_items(Reading, ITEMS).process(traps.CountsAll, key="key", out=Reading)
    error_of(as_program(stream.write_csv(f"{out}/", ordered=False)).graph)
    assert not out.exists()
