"""Tolls that depend on the traffic: the Linear Road benchmark, or most of it.

Make an hour or so of reports, and look at them:

    python -m examples.data.linear_road --count 1000000 --out reports.csv
    anabranch run examples/linear_road.py --reports reports.csv --out answers.csv

This is the application "LinearRoad" of Tang and Gedik, "Autopipelining for Data Stream Processing", with 15 operators.
Every car reports its position every 30 seconds. A car that enters a segment (a mile) of an expressway is told what it
will pay there, or that there was an accident ahead; and it may ask how much it owes so far.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab

EXIT = 4  # the lane of the ramp that leads off the expressway
STOPPED = 4  # so many reports in a row from the same place
AHEAD = 4  # so many segments before an accident cars are warned


class Report(NamedTuple):
    """A position (type 0) or the question for a balance (type 2); what has no meaning for one of them is -1."""

    type: int
    time: int  # seconds
    vid: int
    speed: int  # miles per hour
    xway: int
    lane: int
    dir: int  # 0: to higher segments, 1: to lower ones
    seg: int
    pos: int  # feet
    qid: int


class Position(NamedTuple):
    time: int
    vid: int
    speed: int
    xway: int
    dir: int
    seg: int
    lane: int
    pos: int


class Stop(NamedTuple):
    """A car stands at a place, or no longer does."""

    time: int
    vid: int
    xway: int
    dir: int
    seg: int
    pos: int
    is_standing: bool


class Accident(NamedTuple):
    time: int
    xway: int
    dir: int
    seg: int
    is_cleared: bool


class Condition(NamedTuple):
    """News of a segment; what is None has not changed."""

    xway: int
    dir: int
    seg: int
    toll: int | None
    accidents: int | None  # 1: one more within reach, -1: one less


class Notice(NamedTuple):
    """What a car is told that enters a segment; there is no toll before an accident."""

    time: int
    vid: int
    seg: int
    toll: int  # cents
    is_before_accident: bool


class Answer(NamedTuple):
    kind: str  # toll | accident | balance
    time: int
    vid: int
    qid: int  # of the question, or -1
    seg: int  # where the car is, or -1
    amount: int  # cents


# Each of the classes below is written for one car, one segment or one place; `key=` makes an instance for each.


class Traffic:
    """A segment: how many cars were in it the minute before, and how fast they went in the five minutes before."""

    def __init__(self, crowd: int) -> None:
        self.crowd = crowd
        self.minute = -1
        self.cars: set[int] = set()
        self.speed, self.reports = 0, 0
        self.averages: list[tuple[int, float]] = []  # of the last minutes with reports: (minute, average speed)

    def process(self, position: Position) -> Iterator[Condition]:
        minute = position.time // 60
        if minute > self.minute:
            if self.reports:
                self.averages.append((self.minute, self.speed / self.reports))
            self.averages = [(then, speed) for then, speed in self.averages if then >= minute - 5]
            cars = len(self.cars) if self.minute == minute - 1 else 0
            yield Condition(position.xway, position.dir, position.seg, self.toll(cars), None)
            self.minute, self.cars, self.speed, self.reports = minute, set(), 0, 0
        self.cars.add(position.vid)
        self.speed += position.speed
        self.reports += 1

    def toll(self, cars: int) -> int:
        if cars <= self.crowd or not self.averages:
            return 0
        total = 0.0
        for _, speed in self.averages:
            total += speed
        return 2 * (cars - self.crowd) ** 2 if total / len(self.averages) < 40 else 0


class Stops:
    """A car: whether it stands still."""

    def __init__(self) -> None:
        self.last: Position | None = None
        self.reports = 0  # in a row from the same place

    def process(self, position: Position) -> Iterator[Stop]:
        last = self.last
        if last is not None and (last.xway, last.dir, last.pos) == (position.xway, position.dir, position.pos):
            self.reports += 1
            if self.reports == STOPPED:
                yield stop(position.time, position, is_standing=True)
        else:
            if last is not None and self.reports >= STOPPED:
                yield stop(position.time, last, is_standing=False)
            self.reports = 1
        self.last = position


def stop(time: int, at: Position, is_standing: bool) -> Stop:
    return Stop(time, at.vid, at.xway, at.dir, at.seg, at.pos, is_standing)


class Accidents:
    """A place: two cars that stand there have crashed; when less than two are left, it is cleared."""

    def __init__(self) -> None:
        self.standing = 0

    def process(self, stop: Stop) -> Iterator[Accident]:
        before = self.standing
        self.standing += 1 if stop.is_standing else -1
        if (before >= 2) != (self.standing >= 2):
            yield Accident(stop.time, stop.xway, stop.dir, stop.seg, is_cleared=before >= 2)


def warnings(accident: Accident) -> Iterator[Condition]:
    """Every segment from which cars still can leave before the accident must know of it."""
    back = -1 if accident.dir == 0 else 1
    for distance in range(AHEAD + 1):
        seg = accident.seg + back * distance
        yield Condition(accident.xway, accident.dir, seg, None, -1 if accident.is_cleared else 1)


class Crossings:
    """A car: its first report from every segment it comes to."""

    def __init__(self) -> None:
        self.place = (-1, -1, -1)

    def process(self, position: Position) -> Iterator[Position]:
        place = (position.xway, position.dir, position.seg)
        if place != self.place:
            yield position
        self.place = place


class Tolls:
    """A segment: what the cars that enter it are told."""

    def __init__(self) -> None:
        self.price = 0
        self.accidents = 0

    def conditions(self, news: Condition) -> None:
        if news.toll is not None:
            self.price = news.toll
        if news.accidents is not None:
            self.accidents += news.accidents

    def crossings(self, car: Position) -> Iterator[Notice]:
        is_before_accident = self.accidents > 0
        toll = 0 if is_before_accident else self.price
        yield Notice(car.time, car.vid, car.seg, toll, is_before_accident)


class Accounts:
    """A car: what it owes. The toll of a segment is due when the car has come to the next one, or has left the road."""

    def __init__(self) -> None:
        self.due = 0
        self.announced = 0

    def notices(self, notice: Notice) -> None:
        self.due += self.announced
        self.announced = notice.toll

    def departures(self, car: Position) -> None:
        self.due += self.announced
        self.announced = 0

    def questions(self, question: Report) -> Iterator[Answer]:
        yield Answer("balance", question.time, question.vid, question.qid, -1, self.due)


def told(notice: Notice) -> Answer:
    kind = "accident" if notice.is_before_accident else "toll"
    return Answer(kind, notice.time, notice.vid, -1, notice.seg, notice.toll)


def position(report: Report) -> Position:
    return Position(report.time, report.vid, report.speed, report.xway, report.dir, report.seg, report.lane, report.pos)


@ab.app
def linear_road(reports: str = "reports.csv", out: str = "answers.csv", crowd: int = 50) -> None:
    """Tell cars what they will pay, where there was an accident, and how much they owe.

    reports: the CSV file of what cars reported and asked, in order of time
    out: where to write the answers
    crowd: up to this many cars in a segment pay nothing
    """
    segment = ["xway", "dir", "seg"]
    kinds = ab.read_csv(reports, Report).split(
        {"positions": lambda report: report.type == 0, "questions": lambda report: report.type == 2}
    )
    positions = kinds.positions.map(position)

    # The order in which consumers are connected is the order in which they get a report: first it may change what is
    # known of its segment, then its car is told.
    traffic = positions.process(partial(Traffic, crowd), key=segment)
    accidents = positions.process(Stops, key="vid").process(Accidents, key=["xway", "dir", "pos"])
    conditions = traffic.union(accidents.flat_map(warnings))

    lanes = positions.split({"ramps": lambda car: car.lane == EXIT, "road": lambda car: True})
    crossings = lanes.road.process(Crossings, key="vid")
    notices = ab.connect(Tolls, conditions=conditions, crossings=crossings, key=segment)
    balances = ab.connect(Accounts, notices=notices, departures=lanes.ramps, questions=kinds.questions, key="vid")

    notices.map(told).union(balances).write_csv(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.linear_road import write_linear_road

    write_linear_road(folder / "reports.csv", count, seed)
    return {"reports": str(folder / "reports.csv"), "out": str(folder / "answers.csv")}
