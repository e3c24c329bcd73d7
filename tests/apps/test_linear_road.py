"""The example `linear_road` against an answer computed here, in plain Python, from the same file."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.linear_road import write_linear_road
from examples.linear_road import linear_road

COUNT = 100_000
FEW = 10_000
MILE = 5280

Place = tuple[int, int, int]  # expressway, direction, segment or position


class Road:
    """Everything that was ever reported, and the rules of the benchmark."""

    def __init__(self, crowd: int) -> None:
        self.crowd = crowd
        self.reports: dict[tuple[Place, int], list[tuple[int, int]]] = {}  # by segment and minute: car, speed
        self.tolls: dict[Place, tuple[int, int]] = {}  # by segment: the minute, and its toll
        self.seen: dict[int, list[Place]] = defaultdict(list)  # by car: where it was, report by report
        self.standing: dict[int, Place] = {}  # by car
        self.segment: dict[int, Place] = {}  # by car: the last one, not counting ramps
        self.due: dict[int, int] = defaultdict(int)
        self.announced: dict[int, int] = defaultdict(int)

    def toll(self, segment: Place, minute: int) -> int:
        cars = {car for car, _ in self.reports.get((segment, minute - 1), [])}
        averages = []
        for earlier in range(minute - 5, minute):
            speeds = [speed for _, speed in self.reports.get((segment, earlier), [])]
            if speeds:
                averages.append(sum(speeds) / len(speeds))
        is_slow = bool(averages) and sum(averages) / len(averages) < 40
        return 2 * (len(cars) - self.crowd) ** 2 if len(cars) > self.crowd and is_slow else 0

    def move(self, car: int, place: Place) -> None:
        """A car stands while its last four reports, or more, are from one place."""
        seen = self.seen[car]
        seen.append(place)
        if len(seen) >= 4 and len(set(seen[-4:])) == 1:
            self.standing[car] = place
        else:
            self.standing.pop(car, None)

    def has_accident_ahead(self, segment: Place) -> bool:
        xway, direction, seg = segment
        ahead = range(seg, seg + 5) if direction == 0 else range(seg - 4, seg + 1)
        return any(
            cars >= 2 and place[:2] == (xway, direction) and place[2] // MILE in ahead
            for place, cars in Counter(self.standing.values()).items()
        )

    def report(self, row: dict[str, int]) -> str | None:
        """What the car is told, if anything."""
        car, time, minute = row["vid"], row["time"], row["time"] // 60
        segment = (row["xway"], row["dir"], row["seg"])
        if self.tolls.get(segment, (-1, 0))[0] < minute:
            self.tolls[segment] = minute, self.toll(segment, minute)
        self.reports.setdefault((segment, minute), []).append((car, row["speed"]))
        self.move(car, (row["xway"], row["dir"], row["pos"]))
        if row["lane"] == 4:
            self.due[car] += self.announced.pop(car, 0)
            return None
        if self.segment.get(car) == segment:
            return None
        self.segment[car] = segment
        self.due[car] += self.announced.pop(car, 0)
        if self.has_accident_ahead(segment):
            return f"accident,{time},{car},-1,{row['seg']},0"
        self.announced[car] = self.tolls[segment][1]
        return f"toll,{time},{car},-1,{row['seg']},{self.announced[car]}"


def answer(rows: list[dict[str, str]], crowd: int = 50) -> list[str]:
    """What the app must write for these reports, line by line."""
    road = Road(crowd)
    lines = ["kind,time,vid,qid,seg,amount"]
    for texts in rows:
        row = {name: int(text) for name, text in texts.items()}
        if row["type"] == 2:
            lines.append(f"balance,{row['time']},{row['vid']},{row['qid']},-1,{road.due[row['vid']]}")
        elif (line := road.report(row)) is not None:
            lines.append(line)
    return lines


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "reports.csv"
    write_linear_road(path, COUNT, seed=7)
    return path


@pytest.fixture(scope="module")
def few(reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("few") / "reports.csv"
    path.write_text("".join(reports.read_text().splitlines(keepends=True)[: FEW + 1]))
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(engine: str, reports: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.csv"

    ab.run(linear_road(reports=str(reports), out=str(out)), engine=engine)

    expected = answer(read(reports))
    assert sum(line.startswith("accident") for line in expected) > 20, "the data hold too few accidents"
    assert sum(line.startswith("toll") and not line.endswith(",0") for line in expected) > 100, "too few tolls"
    assert sum(line.startswith("balance") and not line.endswith(",0") for line in expected) > 20, "too few balances"
    assert out.read_text().splitlines() == expected


def told(rows: list[str], tmp_path: Path, crowd: int = 50) -> list[str]:
    """What the app answers to these reports; the answer above must agree."""
    heading = "type,time,vid,speed,xway,lane,dir,seg,pos,qid"
    reports, out = tmp_path / "reports.csv", tmp_path / "answers.csv"
    reports.write_text("".join(f"{row}\n" for row in [heading, *rows]))
    ab.run(linear_road(reports=str(reports), out=str(out), crowd=crowd))
    written = out.read_text().splitlines()
    assert written == answer(read(reports), crowd)
    return written[1:]


def test_the_average_speed_goes_over_the_five_minutes_before_and_a_toll_is_due_in_the_next_segment(
    tmp_path: Path,
) -> None:
    """Two cars a minute go 10 miles per hour, later 45: on average 38 over minutes 0 to 4, 45 over 1 to 5."""
    traffic = [f"0,{60 * m + s},{10 * m + s},{45 if m else 10},0,1,0,7,40000,-1" for m in range(7) for s in (1, 2)]
    later = ["0,425,51,45,0,1,0,8,45000,-1", "2,426,51,-1,-1,-1,-1,-1,-1,0"]

    answers = told([*traffic, *later], tmp_path, crowd=1)

    tolls = [f"toll,{60 * m + s},{10 * m + s},-1,7,{2 if 1 <= m <= 5 else 0}" for m in range(7) for s in (1, 2)]
    assert answers == [*tolls, "toll,425,51,-1,8,0", "balance,426,51,0,-1,2"]


def test_an_accident_is_announced_to_the_segment_and_the_four_before_it_until_it_is_cleared(tmp_path: Path) -> None:
    crash = [f"0,{time},{car},0,0,1,1,30,160000,-1" for time in (0, 30, 60, 90) for car in (1, 2)]
    near, far = "0,100,3,60,0,1,1,34,180000,-1", "0,100,4,60,0,1,1,35,185000,-1"
    other_side = "0,100,5,60,0,1,0,30,160000,-1"
    clear, after = "0,120,2,5,0,1,1,30,159000,-1", "0,130,6,60,0,1,1,34,180000,-1"

    answers = told([*crash, near, far, other_side, clear, after], tmp_path)

    assert answers[2:] == [
        "accident,100,3,-1,34,0",
        "toll,100,4,-1,35,0",
        "toll,100,5,-1,30,0",
        "toll,130,6,-1,34,0",
    ]


def test_what_a_crowd_is_is_a_parameter(few: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.csv"

    ab.run(linear_road(reports=str(few), out=str(out), crowd=20))

    assert out.read_text().splitlines() == answer(read(few), crowd=20)
    assert answer(read(few), crowd=20) != answer(read(few))


def test_the_program_has_15_operators() -> None:
    """Paper 003 speaks of 15 operators; its Table 1 lists 14, one Custom operator less than here.

    A Functor is a map, a filter or a flat_map here, and a Custom operator a `process` or a `connect`.
    """
    operators = linear_road().graph.operators

    assert Counter(operator.kind for operator in operators) == {
        "read_csv": 1,
        "split": 2,
        "map": 2,
        "flat_map": 1,
        "process": 4,
        "connect": 2,
        "union": 2,
        "write_csv": 1,
    }
    assert len(operators) == 15


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    few: Path, tmp_path: Path
) -> None:
    lines = few.read_text().splitlines()[: FEW // 2]
    broken = tmp_path / "reports.csv"
    broken.write_text("\n".join([*lines, "0,145,53"]))
    out = tmp_path / "answers.csv"

    with pytest.raises(ab.SourceError, match="10 cells expected, got 3") as caught:
        ab.run(linear_road(reports=str(broken), out=str(out)))

    assert caught.value.where == f"{broken}:{FEW // 2 + 1}"
    assert Path(f"{out}.partial").read_text().splitlines() == answer(list(csv.DictReader(lines)))


def test_a_corrupted_line_is_reported_by_file_line_and_column(few: Path, tmp_path: Path) -> None:
    lines = few.read_text().splitlines()
    lines[42] = lines[42].replace(",", ",?", 1)
    broken = tmp_path / "reports.csv"
    broken.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match=r"column 'time': '\?\d+' is not an int") as caught:
        ab.run(linear_road(reports=str(broken), out=str(tmp_path / "answers.csv")))

    assert caught.value.where == f"{broken}:43"


# The reports ----------------------------------------------------------------------------------------------------


def test_every_car_reports_every_30_seconds_from_ramp_to_ramp_and_time_never_goes_back(reports: Path) -> None:
    rows = [{name: int(text) for name, text in row.items()} for row in read(reports)]
    times = [row["time"] for row in rows]
    trips: dict[int, list[dict[str, int]]] = defaultdict(list)
    for row in rows:
        if row["type"] == 0:
            trips[row["vid"]].append(row)

    assert times == sorted(times)
    for trip in trips.values():
        assert [row["time"] for row in trip] == list(range(trip[0]["time"], trip[-1]["time"] + 1, 30))
        forwards = [row["pos"] if row["dir"] == 0 else -row["pos"] for row in trip]
        assert forwards == sorted(forwards)
        assert all(row["seg"] == row["pos"] // MILE and 0 <= row["seg"] < 100 for row in trip)
        assert trip[-1]["lane"] == 4 or trip[-1]["time"] + 30 >= times[-1], "only the end of the file ends a trip"


def test_a_jam_before_town_has_more_cars_than_the_rest_of_the_road(reports: Path) -> None:
    by_segment = Counter((row["dir"], row["seg"]) for row in read(reports) if row["type"] == "0")

    assert {segment for segment, _ in by_segment.most_common(4)} == {("0", str(seg)) for seg in range(46, 50)}
    assert by_segment[("0", "48")] > 10 * by_segment[("1", "48")]
