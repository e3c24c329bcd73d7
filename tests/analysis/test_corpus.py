"""The analyser against the corpus: never more parallel than the truth, and rarely less.

First the labels of the corpus are themselves put to the test, by running its operators.
"""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.graph.schema import schema_of

from .corpus import worlds
from .corpus.registry import SELECTIVITIES, Entry
from .corpus.samples import samples
from .corpus.verdicts import Verdict, missed_forwards, too_bold, too_timid, verdict_of

ENTRIES = worlds.load_all()
CLEAN = [entry for entry in ENTRIES if not entry.trap]
TRAPS = [entry for entry in ENTRIES if entry.trap]
EMITTING = [entry for entry in ENTRIES if entry.output is not None]
SAFE = [entry for entry in ENTRIES if entry.state != "stateful"]
SHOWING = [entry for entry in TRAPS if entry.state == "stateful" and entry.shows]
RECOGNISED_AT_LEAST = 0.95


def each(entries: list[Entry]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", entries, ids=[entry.id for entry in entries])


@functools.cache
def verdict(name: str) -> Verdict:
    return verdict_of(next(entry for entry in ENTRIES if entry.id == name))


def values(items: list[Any]) -> list[tuple[Any, ...]]:
    return [tuple(item) for item in items]


# The labels --------------------------------------------------------------------------------------------------------


def test_the_corpus_is_large_enough() -> None:
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)
    assert len(ENTRIES) >= 150
    assert len(TRAPS) >= 60


@each(SAFE)
def test_a_label_of_safety_holds_when_the_operator_is_scattered(entry: Entry) -> None:
    for seed in range(2):
        items = samples(entry.input, seed=seed)
        reference = worlds.in_order(entry, items)
        assert values(reference.items) == values(items), "the argument was changed"
        assert worlds.scattered(entry, items, seed, as_state=entry.state).outputs == reference.outputs


@each(SHOWING)
def test_a_stateful_trap_really_goes_off(entry: Entry) -> None:
    """Taken for what it seems to be, by its key alone, it changes its output or its input."""
    naive = "partitioned" if entry.keyed else "stateless"
    for seed in range(12):
        items = samples(entry.input, 40, seed)
        reference = worlds.in_order(entry, items)
        if values(reference.items) != values(items):
            return
        if worlds.scattered(entry, items, seed, as_state=naive).outputs != reference.outputs:
            return
    pytest.fail("it gave the same output however it was run")


@each([entry for entry in TRAPS if entry.beside])
def test_what_is_changed_beside_an_operator_changes_its_output(entry: Entry) -> None:
    before, after = worlds.before_and_after(entry, samples(entry.input, 40))
    assert before != after


@each(EMITTING)
def test_labels_of_selectivity_and_forwarding_are_what_the_samples_show(entry: Entry) -> None:
    items = samples(entry.input, 40, seed=1)
    run = worlds.in_order(entry, items)

    counts = [len(emitted) for step, emitted in run.emissions if step.what == "process"]
    shown = "1:1" if set(counts) == {1} else "1:[0,1]" if max(counts) <= 1 else "1:[0,inf)"
    assert SELECTIVITIES.index(entry.selectivity) <= SELECTIVITIES.index(shown), "more was promised"
    if entry.trap:
        assert entry.selectivity == shown, "the samples do not show the trap"
    for what, label in (("punctuation", entry.at_punctuation), ("finish", entry.at_end)):
        assert label == any(emitted for step, emitted in run.emissions if step.what == what), what

    equal = _pairs_that_stay_equal(entry, items, run)
    assert set(entry.forwards.items()) <= equal, "more was promised"
    assert not set(entry.breaks.items()) & equal, "the samples do not show the trap"


def _pairs_that_stay_equal(entry: Entry, items: list[Any], run: worlds.Run) -> set[tuple[str, str]]:
    """Pairs of an output's and an input's attribute that are equal in all that is emitted.

    At punctuations and at the end there is no input tuple; there only the key's attributes have a value.
    """
    written, read = schema_of(entry.output), schema_of(entry.input)
    first_of_rank = {step.rank: items[step.item] for step, _ in reversed(run.emissions) if step.item is not None}
    pairs = {(out, name) for out in written.names for name in read.names}
    for step, emitted in run.emissions:
        item = first_of_rank[step.rank] if step.item is None else items[step.item]
        for output in emitted:
            pairs = {
                (out, name)
                for out, name in pairs
                if (step.item is not None or name in entry.keyed)
                and output[written.names.index(out)] == item[read.names.index(name)]
            }
    return pairs


HASHING = """
import sys
from tests.analysis.corpus import worlds
from tests.analysis.corpus.samples import samples
for entry in worlds.load_all():
    if entry.state != "stateful":
        print(entry.id, worlds.in_order(entry, samples(entry.input)).outputs)
"""


def test_no_label_of_safety_depends_on_the_salt_of_hashes() -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), *filter(None, sys.path)])
    outputs = [
        subprocess.run(
            [sys.executable, "-c", HASHING],
            env={**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for salt in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 100


# The analyser ------------------------------------------------------------------------------------------------------


@each(ENTRIES)
def test_no_operator_is_called_more_parallel_than_it_is(entry: Entry) -> None:
    wrong = too_bold(entry, verdict(entry.id))
    assert not wrong, f"{entry.id} ({entry.why}) was called {'; '.join(wrong)}"


def test_clean_operators_are_recognised(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    bold = [entry.id for entry in TRAPS if too_bold(entry, verdict(entry.id))]
    timid = {entry.id: missed for entry in CLEAN if (missed := too_timid(entry, verdict(entry.id)))}
    forwards = sum(len(entry.forwards) for entry in CLEAN)
    missed = sum(len(missed_forwards(entry, verdict(entry.id))) for entry in CLEAN)
    share = 1 - len(timid) / len(CLEAN)
    figures = (
        f"corpus: {len(bold)} of {len(TRAPS)} traps called more parallel than they are; "
        f"{len(CLEAN) - len(timid)} of {len(CLEAN)} clean operators ({share:.1%}) recognised; "
        f"{forwards - missed} of {forwards} of their forwarded attributes found"
    )
    record_property("corpus", figures)
    with capsys.disabled():
        print(f"\n{figures}")
    assert not bold
    assert share >= RECOGNISED_AT_LEAST, "\n".join(f"{name}: {'; '.join(why)}" for name, why in timid.items())


def _differs_when_scattered(entry: Entry, count: int, seed: int) -> str | None:
    """Run as the verdict allows; what is different from the sequential run, if anything is."""
    items = samples(entry.input, count, seed)
    reference = worlds.in_order(entry, items)
    claimed = verdict(entry.id).state
    outputs = worlds.scattered(entry, items, seed, as_state=claimed).outputs
    if outputs != reference.outputs:
        return f"{entry.id} ({entry.why}), called {claimed}, gave {outputs}, in order {reference.outputs}"
    return None


@each(ENTRIES)
def test_claimed_parallelism_changes_no_output(entry: Entry) -> None:
    if verdict(entry.id).state != "stateful":
        assert _differs_when_scattered(entry, count=20, seed=5) is None


@pytest.mark.parametrize("seed", range(20))
def test_claimed_parallelism_of_random_operators_on_random_inputs_changes_no_output(seed: int) -> None:
    chance = random.Random(seed)
    claimed = [entry for entry in ENTRIES if verdict(entry.id).state != "stateful"]
    for entry in chance.sample(claimed, min(12, len(claimed))):
        assert _differs_when_scattered(entry, chance.randrange(1, 60), chance.randrange(2**32)) is None
