"""Which sensors near here have been heard lately? A windowed join with a condition that is no equality.

Make readings and queries, and answer them:

    python -m examples.data.sensor_query --count 1000000 --out city
    anabranch run examples/sensor_query.py --sensors city/sensors.jsonl --queries city/queries.jsonl --out results.jsonl

This is the application "SensorQuery", Listing 1 of Tang and Gedik, "Autopipelining for Data Stream Processing".
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Location(NamedTuple):
    x: float  # km
    y: float


class Sensor(NamedTuple):
    sid: int
    value: float
    sloc: Location
    ts: float  # seconds


class Query(NamedTuple):
    qid: int
    qloc: Location
    radius: float  # km
    ts: float


class Result(NamedTuple):
    """Tuples may hold tuples, to any depth: in JSON they are objects."""

    sensor: Sensor
    query: Query
    distance: float  # km


def distance(one: Location, other: Location) -> float:
    """In km, as the crow flies."""
    dx, dy = one.x - other.x, one.y - other.y
    return math.sqrt(dx * dx + dy * dy)


def is_near(sensor: Sensor, query: Query) -> bool:
    return distance(sensor.sloc, query.qloc) <= query.radius


def result(sensor: Sensor, query: Query) -> Result:
    return Result(sensor, query, distance(sensor.sloc, query.qloc))


@ab.app
def sensor_query(
    sensors: str = "sensors.jsonl", queries: str = "queries.jsonl", out: str = "results.jsonl", seconds: float = 10.0
) -> None:
    """Answer every query with the readings of the last seconds within its radius.

    sensors: the JSON lines of the sensors' readings
    queries: the JSON lines of the queries
    out: where to write the results
    seconds: how long a reading can be found
    """
    # Both are drawn in the order of their time, so a query meets the readings of the seconds before it.
    readings = ab.read_jsonl(sensors, Sensor, order_by="ts")
    questions = ab.read_jsonl(queries, Query, order_by="ts")
    readings.join(
        questions,
        left=ab.sliding(seconds=seconds, on="ts"),
        right=ab.sliding(count=0),  # a query is answered when it arrives, and does not wait for readings to come
        match=is_near,
        out=result,
    ).write_jsonl(out)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.sensor_query import write_sensor_query

    write_sensor_query(folder, count, seed)
    return {
        "sensors": str(folder / "sensors.jsonl"),
        "queries": str(folder / "queries.jsonl"),
        "out": str(folder / "results.jsonl"),
    }
