"""The example `lois` against an answer computed here, with NumPy and pandas, from the same file."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.lois import write_lois
from examples.lois import lois

COUNT = 20_000
PERIOD = 500
ANTENNAS, RADIUS = 16, 150.0 / 299_792_458.0 / 50e-9  # ticks
ACROSS = 21  # ticks


def strengths(samples: pd.DataFrame) -> pd.Series:
    return np.sqrt((samples.x / 1000) ** 2 + (samples.y / 1000) ** 2 + (samples.z / 1000) ** 2)


def pulses(samples: pd.DataFrame, sigmas: float) -> pd.DataFrame:
    """The samples that stand out from the last 64 of their antenna, themselves included."""
    found = samples.assign(strength=strengths(samples), sigmas=0.0)
    for _, own in found.groupby("antenna"):
        padded = np.concatenate([np.full(63, np.nan), own.strength.to_numpy()])
        windows = np.lib.stride_tricks.sliding_window_view(padded, 64)[1:]  # the first has no deviation
        std = np.nanstd(windows, axis=1, ddof=1)
        above = own.strength.to_numpy()[1:] - np.nanmean(windows, axis=1)
        found.loc[own.index[1:], "sigmas"] = np.divide(above, std, out=np.zeros_like(std), where=std > 0)
    return found[found.sigmas >= sigmas]


def coincidences(found: pd.DataFrame, antennas: int, *, at_end: bool) -> list[dict[int, tuple[int, float]]]:
    """Groups of pulses: by antenna its tick and its sigmas, the first that comes."""
    groups: list[dict[int, tuple[int, float]]] = []
    begin = -math.inf
    for row in found.itertuples():
        if row.tick > begin + ACROSS:
            groups.append({})
            begin = row.tick
        groups[-1].setdefault(row.antenna, (row.tick, row.sigmas))
    complete = groups if at_end else groups[:-1]
    return [group for group in complete if len(group) >= antennas]


def showers(
    samples: pd.DataFrame, sigmas: float = 5.0, antennas: int = 4, *, at_end: bool = True
) -> tuple[pd.DataFrame, int]:
    """The showers, and how many coincidences are none because no wave is that slow."""
    rows, slow = [], 0
    for group in coincidences(pulses(samples, sigmas), antennas, at_end=at_end):
        angles = np.array([2 * np.pi * antenna / ANTENNAS for antenna in group])
        ticks = np.array([tick for tick, _ in group.values()])
        plane = np.column_stack([-np.cos(angles), -np.sin(angles), np.ones(len(group))])
        (east, north, _), *_ = np.linalg.lstsq(plane, ticks, rcond=None)
        if math.hypot(east, north) > RADIUS:
            slow += 1
        else:
            strongest = max(sigmas for _, sigmas in group.values())
            rows.append((ticks[0], len(group), strongest, east / RADIUS, north / RADIUS))
    return pd.DataFrame(rows, columns=["tick", "antennas", "sigmas", "east", "north"]), slow


def health(samples: pd.DataFrame, *, at_end: bool = True) -> tuple[pd.DataFrame, int]:
    """How the antennas are after each period, and how many samples come too late to be counted."""
    found = samples.assign(strength=strengths(samples), until=(samples.tick // PERIOD + 1) * PERIOD)
    is_late = found.until < found.until.cummax()
    on_time = found[~is_late]
    periods = on_time.groupby(["until", "antenna"], sort=False).agg(
        samples=("tick", "size"), first=("tick", "min"), last=("tick", "max"), mean=("strength", "mean")
    )
    periods = periods.sort_index(level="until", sort_remaining=False, kind="stable").reset_index()
    if not at_end:
        periods = periods[periods.until < on_time.until.max()]
    periods["verdict"] = np.select(
        [periods.samples < periods["last"] - periods["first"] + 1, periods["mean"] == 0, periods["mean"] > 0.12],
        ["gaps", "dead", "noisy"],
        "good",
    )
    return periods[["antenna", "until", "mean", "verdict"]], int(is_late.sum())


def as_vectors(written: pd.DataFrame) -> pd.DataFrame:
    """Directions as vectors: 0° and 360° are the same, and no angle is defined straight above."""
    angle = np.radians(written.azimuth)
    vectors = written.assign(east=written.sine * np.cos(angle), north=written.sine * np.sin(angle))
    return vectors[["tick", "antennas", "sigmas", "east", "north"]]


def check_same(written: pd.DataFrame, expected: pd.DataFrame) -> None:
    """The same rows in the same order; numbers that were computed in another way agree to nine digits."""
    pd.testing.assert_frame_equal(
        written.reset_index(drop=True),
        expected.reset_index(drop=True),
        check_dtype=False,
        check_exact=False,
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "samples.csv"
    write_lois(path, COUNT, seed=7)
    return path


def run(
    samples: Path, folder: Path, engine: str = ENGINES[0], **parameters: Any
) -> tuple[pd.DataFrame, pd.DataFrame, ab.Result]:
    program = lois(
        samples=str(samples), showers=str(folder / "showers.csv"), health=str(folder / "health.csv"), **parameters
    )
    result = ab.run(program, engine=engine)
    return as_vectors(pd.read_csv(folder / "showers.csv")), pd.read_csv(folder / "health.csv"), result


def check_everything(samples: Path, folder: Path, engine: str = ENGINES[0]) -> None:
    found, judged, result = run(samples, folder, engine)

    expected, _ = showers(pd.read_csv(samples))
    assert len(expected) >= 4, "the data hold too few showers to be a test"
    check_same(found, expected)
    expected, late = health(pd.read_csv(samples))
    assert set(expected.verdict) == {"good", "gaps", "dead", "noisy"}, "the data do not hold everything"
    assert late > 0, "the data hold no late sample"
    check_same(judged, expected)
    assert result.metrics.late == late


@pytest.mark.parametrize("engine", ENGINES)
def test_showers_and_the_health_of_antennas_are_the_answer_in_order(engine: str, samples: Path, tmp_path: Path) -> None:
    check_everything(samples, tmp_path, engine)


@pytest.mark.slow
def test_showers_and_health_are_the_answer_in_order_on_many_samples(tmp_path: Path) -> None:
    samples = tmp_path / "samples.csv"
    write_lois(samples, 100_000, seed=11)
    check_everything(samples, tmp_path)


def test_sigmas_and_antennas_are_parameters_and_what_is_slower_than_light_is_no_shower(
    samples: Path, tmp_path: Path
) -> None:
    found, _, _ = run(samples, tmp_path, sigmas=3.2, antennas=3)

    expected, slow = showers(pd.read_csv(samples), sigmas=3.2, antennas=3)
    assert slow > 0, "the data hold no coincidence by chance"
    check_same(found, expected)


def test_the_program_has_the_22_operators_of_the_paper() -> None:
    """Table 1 of paper 003. A Functor is a map or a filter here, a Custom operator a `process`."""
    operators = lois().graph.operators

    assert Counter(operator.kind for operator in operators) == {
        "read_csv": 1,
        "map": 11,
        "filter": 2,
        "barrier": 3,
        "aggregate": 2,
        "process": 1,
        "write_csv": 2,
    }
    assert len(operators) == 22


def test_two_antennas_cannot_tell_a_direction() -> None:
    with pytest.raises(ValueError, match="use 3 or more"):
        lois(antennas=2)


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    samples: Path, tmp_path: Path
) -> None:
    lines = samples.read_text().splitlines()[: COUNT - 1000]
    broken, cut = tmp_path / "broken.csv", tmp_path / "cut.csv"
    broken.write_text("\n".join([*lines, "1190,"]))
    cut.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match="5 cells expected, got 2") as caught:
        run(broken, tmp_path)

    assert caught.value.where == f"{broken}:{COUNT - 999}"
    check_same(as_vectors(pd.read_csv(tmp_path / "showers.csv.partial")), showers(pd.read_csv(cut), at_end=False)[0])
    check_same(pd.read_csv(tmp_path / "health.csv.partial"), health(pd.read_csv(cut), at_end=False)[0])


def test_a_corrupted_cell_is_reported_by_file_line_and_column(samples: Path, tmp_path: Path) -> None:
    lines = samples.read_text().splitlines()
    lines[99] += "e5"
    broken = tmp_path / "samples.csv"
    broken.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match=r"column 'z': '-?\d+e5' is not an int") as caught:
        run(broken, tmp_path)

    assert caught.value.where == f"{broken}:100"


# The samples ----------------------------------------------------------------------------------------------------


def test_every_antenna_samples_every_tick_once_unless_a_packet_is_lost_and_some_come_late(samples: Path) -> None:
    found = pd.read_csv(samples)

    assert not found.duplicated(["tick", "antenna"]).any()
    whole = found[found.tick < found.tick.max() - 100]
    lost = len(range(found.tick.max() - 100)) * ANTENNAS - len(whole)
    assert 0 < lost < COUNT * 0.01
    late = (found.tick < found.tick.cummax()).sum()
    assert 0 < late < COUNT * 0.05
    assert found[["x", "y", "z"]].abs().to_numpy().max() <= 2047
