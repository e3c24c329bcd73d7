"""An effect is seen wherever the grammar allows an expression."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from .ask import called_safe, claimed_selectivities
from .grammar import FORMS, LEFT_OUT, Planted, all_planted, clean_operators, positions

SAMPLE = 300


def test_the_positions_are_those_of_the_grammar() -> None:
    assert {
        ("BinOp", "left"),
        ("arg", "annotation"),
        ("withitem", "optional_vars"),
        ("match_case", "guard"),
    } <= positions()
    assert len(positions()) > 75


def test_every_expression_of_the_grammar_has_an_effect_or_a_reason_why_it_cannot() -> None:
    covered = frozenset[tuple[str, str]]().union(*(planted.covers for planted in all_planted()))
    assert sorted(positions() - covered - LEFT_OUT.keys()) == []
    assert not covered & LEFT_OUT.keys()
    assert all(hasattr(ast, kind) for kind, _ in covered)


def test_every_form_of_an_effect_is_planted() -> None:
    assert {planted.trap.effect for planted in all_planted()} == {form.name for form in FORMS}


def test_no_effect_of_a_sample_is_overlooked() -> None:
    planted = [one for one in all_planted() if not one.emits]
    _expect_none_called_safe(planted[:: len(planted) // SAMPLE])


@pytest.mark.slow
def test_no_effect_is_overlooked(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    planted = [one for one in all_planted() if not one.emits]
    figures = f"grammar: {len(planted)} effects in {len(positions() - LEFT_OUT.keys())} positions"
    record_property("grammar", figures)
    with capsys.disabled():
        print(f"\n{figures}")
    _expect_none_called_safe(planted)


def test_no_emission_of_a_sample_is_overlooked() -> None:
    _expect_all_emissions_counted([one for one in all_planted() if one.emits][::6])


@pytest.mark.slow
def test_no_emission_is_overlooked() -> None:
    _expect_all_emissions_counted([one for one in all_planted() if one.emits])


def _expect_all_emissions_counted(planted: list[Planted]) -> None:
    claims = claimed_selectivities([one.trap for one in planted])
    pairs = zip(planted, claims, strict=True)
    bold = [f"{claimed}:\n{one.trap.source}" for one, claimed in pairs if claimed != "1:[0,inf)"]
    assert not bold, f"{len(bold)} of {len(planted)}\n" + "\n\n".join(bold[:5])


def test_most_of_the_operators_are_safe_without_the_effects() -> None:
    """Else the effects would not be what the analysis sees."""
    clean = list(clean_operators())
    assert len(called_safe(clean)) > 0.7 * len(clean)


def _expect_none_called_safe(planted: list[Planted]) -> None:
    unsafe = called_safe([one.trap for one in planted])
    first = "\n\n".join(f"# {trap.name}\n{trap.source}" for trap in unsafe[:5])
    names = sorted({trap.name for trap in unsafe})
    assert not unsafe, f"{len(unsafe)} of {len(planted)} were called safe: {names}\n{first}"
