"""Cosmic rays that hit the atmosphere above a field of antennas.

Make some thousandths of a second of samples, and look at them:

    python -m examples.data.lois --count 1000000 --out samples.csv
    anabranch run examples/lois.py --samples samples.csv --showers showers.csv --health health.csv

This is the application "Lois" of Tang and Gedik, "Autopipelining for Data Stream Processing", and of Gedik et al., "A
Code Generation Approach to Optimizing High-Performance Distributed Data Stream Processing": 22 operators, three of them
barriers. Its data came from the LOIS radio telescope; here they are made up.
"""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab

ANTENNAS = 16  # on a circle
RADIUS = 150.0  # of the circle, in m
TICK = 50e-9  # the time between two samples of an antenna, in s
LIGHT = 299_792_458.0  # m/s
TICKS_PER_RADIUS = RADIUS / LIGHT / TICK
TICKS_ACROSS = math.ceil(2 * TICKS_PER_RADIUS)  # how long a wave takes at most from antenna to antenna
VOLTS = 0.001  # per step of the converter
PERIOD = 500  # ticks, after which it is said how an antenna is
NOISY = 0.12  # V


class Sample(NamedTuple):
    """What the three dipoles of an antenna, at right angles to each other, received at a tick."""

    tick: int
    antenna: int
    x: int
    y: int
    z: int


class Reading(NamedTuple):
    """That of one dipole, in V, and later its square."""

    tick: int
    antenna: int
    value: float


class Power(NamedTuple):
    tick: int
    antenna: int
    x: float
    y: float
    z: float


class Field(NamedTuple):
    """How strong the field is, whatever its direction."""

    tick: int
    antenna: int
    strength: float


class Background(NamedTuple):
    antenna: int
    mean: float
    std: float


class Contrast(NamedTuple):
    """A field and what is usual at its antenna."""

    field: Field
    background: Background


class Pulse(NamedTuple):
    tick: int
    antenna: int
    sigmas: float  # standard deviations above the background


class Coincidence(NamedTuple):
    """The first pulse of each of several antennas within the time that a wave needs to pass them all."""

    tick: int
    antennas: list[int]
    ticks: list[int]
    sigmas: list[float]


class Size(NamedTuple):
    tick: int
    antennas: int
    sigmas: float  # of the strongest pulse


class Direction(NamedTuple):
    """Where the wave came from, in degrees; `sine` is that of the zenith angle, and above 1 for no wave at all."""

    azimuth: float
    sine: float


class Shower(NamedTuple):
    tick: int
    antennas: int
    sigmas: float
    azimuth: float
    sine: float


class Period(NamedTuple):
    antenna: int
    until: int
    samples: int
    first: int
    last: int
    mean: float


class Health(NamedTuple):
    antenna: int
    until: int
    mean: float
    verdict: str  # good | noisy | dead | gaps


def along_x(sample: Sample) -> Reading:
    return Reading(sample.tick, sample.antenna, sample.x * VOLTS)


def along_y(sample: Sample) -> Reading:
    return Reading(sample.tick, sample.antenna, sample.y * VOLTS)


def along_z(sample: Sample) -> Reading:
    return Reading(sample.tick, sample.antenna, sample.z * VOLTS)


def squared(reading: Reading) -> Reading:
    return Reading(reading.tick, reading.antenna, reading.value * reading.value)


def powers(x: Reading, y: Reading, z: Reading) -> Power:
    """The dipoles of one sample, together again."""
    return Power(x.tick, x.antenna, x.value, y.value, z.value)


def field(power: Power) -> Field:
    """The length of the vector."""
    return Field(power.tick, power.antenna, math.sqrt(power.x + power.y + power.z))


def pulse(contrast: Contrast) -> Pulse:
    """How far the field stands out."""
    strength, background = contrast.field.strength, contrast.background
    sigmas = (strength - background.mean) / background.std if background.std > 0 else 0.0
    return Pulse(contrast.field.tick, contrast.field.antenna, sigmas)


class Coincidences:
    """Collects pulses; when one comes too late to belong to those before it, these are complete."""

    def __init__(self, antennas: int) -> None:
        self.antennas = antennas
        self.pulses: list[Pulse] = []

    def process(self, pulse: Pulse) -> Iterator[Coincidence]:
        if self.pulses and pulse.tick > self.pulses[0].tick + TICKS_ACROSS:
            yield from self.finish()
        if all(pulse.antenna != earlier.antenna for earlier in self.pulses):
            self.pulses.append(pulse)

    def finish(self) -> Iterator[Coincidence]:
        pulses, self.pulses = self.pulses, []
        if len(pulses) >= self.antennas:
            yield Coincidence(
                pulses[0].tick,
                [pulse.antenna for pulse in pulses],
                [pulse.tick for pulse in pulses],
                [pulse.sigmas for pulse in pulses],
            )


def size(found: Coincidence) -> Size:
    """How many antennas, and how much."""
    return Size(found.tick, len(found.antennas), max(found.sigmas))


def direction(found: Coincidence) -> Direction:
    """The plane wave that fits the ticks best (least squares): tick = c - a·x - b·y."""
    count = len(found.antennas)
    angles = [2 * math.pi * antenna / ANTENNAS for antenna in found.antennas]
    xs, ys = [math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]
    x0, y0, t0 = sum(xs) / count, sum(ys) / count, sum(found.ticks) / count
    xx = yy = xy = xt = yt = 0.0
    for x, y, t in zip(xs, ys, found.ticks, strict=True):
        xx += (x - x0) * (x - x0)
        yy += (y - y0) * (y - y0)
        xy += (x - x0) * (y - y0)
        xt += (x - x0) * (t - t0)
        yt += (y - y0) * (t - t0)
    # Three antennas or more of a circle are not on one line, so there is exactly one solution.
    determinant = xx * yy - xy * xy
    a, b = (yt * xy - xt * yy) / determinant, (xt * xy - yt * xx) / determinant
    return Direction(math.degrees(math.atan2(b, a)) % 360, math.sqrt(a * a + b * b) / TICKS_PER_RADIUS)


def judged(period: Period) -> Health:
    """What to think of an antenna after a period."""
    if period.samples < period.last - period.first + 1:
        verdict = "gaps"
    elif period.mean == 0.0:
        verdict = "dead"
    else:
        verdict = "noisy" if period.mean > NOISY else "good"
    return Health(period.antenna, period.until, period.mean, verdict)


@ab.app
def lois(
    samples: str = "samples.csv",
    showers: str = "showers.csv",
    health: str = "health.csv",
    sigmas: float = 5.0,
    antennas: int = 4,
) -> None:
    """Find cosmic ray showers, where they came from, and antennas that need care.

    samples: the CSV file of what the antennas received
    showers: where to write the showers
    health: where to write how the antennas are
    sigmas: how many standard deviations above the background a pulse is
    antennas: how many antennas a shower reaches, 3 or more
    """
    if antennas < 3:
        raise ValueError(f"antennas={antennas} do not tell where a wave came from: use 3 or more")
    received = ab.read_csv(samples, Sample)

    # The n-th tuples of the three branches come from the same sample: none of them drops or adds a tuple.
    x = received.map(along_x).map(squared)
    y = received.map(along_y).map(squared)
    z = received.map(along_z).map(squared)
    fields = ab.barrier(x, y, z, out=powers).map(field)

    # A window that slides by one tuple gives one for each, so that here, too, the n-th belong together.
    background = fields.window(ab.sliding(count=64), key="antenna").aggregate(
        Background, mean=ab.mean("strength"), std=ab.std("strength")
    )
    pulses = ab.barrier(fields, background, out=Contrast).map(pulse).filter(lambda p: p.sigmas >= sigmas)

    found = pulses.process(partial(Coincidences, antennas))
    # What crosses the field more slowly than light is no wave from above, but chance, or a thunderstorm.
    ab.barrier(found.map(size), found.map(direction), out=Shower).filter(lambda s: s.sine <= 1.0).write_csv(showers)

    fields.window(ab.tumbling(delta=PERIOD, on="tick"), key="antenna").aggregate(
        Period,
        until=ab.window_end(),
        samples=ab.count(),
        first=ab.min_("tick"),
        last=ab.max_("tick"),
        mean=ab.mean("strength"),
    ).map(judged).write_csv(health)


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.lois import write_lois

    write_lois(folder / "samples.csv", count, seed)
    return {
        "samples": str(folder / "samples.csv"),
        "showers": str(folder / "showers.csv"),
        "health": str(folder / "health.csv"),
    }
