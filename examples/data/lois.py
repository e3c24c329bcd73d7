"""What sixteen antennas received while cosmic rays came down, as `examples/lois.py` reads it.

    python -m examples.data.lois --count 1000000 --out samples.csv --seed 7

Mostly it is noise, and a radio station. Now and then a shower reaches several antennas, one after the other as its wave
passes over the field; more often a spark is heard by one of them alone. Samples travel in packets: some are lost, some
come late, behind those of other antennas. One antenna is noisy at times, and another one sometimes dead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from examples.data.shared import check_size, command, csv_files, trait, uniform

COLUMNS = {"tick": pa.int64(), "antenna": pa.int64(), "x": pa.int64(), "y": pa.int64(), "z": pa.int64()}
BYTES_PER_SAMPLE = 22
ANTENNAS = 16  # on a circle
RADIUS = 10.007  # of the circle, in ticks of light
TICKS_PER_BLOCK = 8192
LARGEST = 2047  # what the converter can tell: 12 bits

NOISE = 30.0  # standard deviation
STATION, STATION_PERIOD = 10.0, 7.3  # amplitude, ticks
SPARKS = 0.0004  # of the samples
PACKET = 8  # ticks
LOST, LATE = 0.004, 0.02  # of the packets
NOISY, NOISY_TIMES = 11, 0.3  # an antenna, and for how much of the time
DEAD, DEAD_TIMES = 5, 0.3
SPELL = 500  # ticks that such a time lasts

SHOWER_EVERY = 250  # ticks, or almost
SHOWER_LENGTH = 12  # ticks
POLARIZATION = np.array([0.64, 0.6, 0.48])


def write_lois(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` samples to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_SAMPLE)
    with csv_files([Path(path)], COLUMNS) as (file,):
        first, missing = 0, count
        while missing:
            samples = _samples(first, seed, missing)
            file.write(samples)
            first, missing = first + TICKS_PER_BLOCK, missing - len(samples["tick"])


def _samples(first: int, seed: int, most: int) -> dict[str, np.ndarray]:
    """The samples of a block of ticks in the order in which they are received."""
    tick = first + np.repeat(np.arange(TICKS_PER_BLOCK), ANTENNAS)
    antenna = np.tile(np.arange(ANTENNAS), TICKS_PER_BLOCK)
    fate = trait(tick // PACKET * ANTENNAS + antenna, seed, 20)
    delay = np.where(fate < LOST + LATE, 3 * PACKET, 0)
    order = np.lexsort((antenna, tick + delay))
    order = order[fate[order] >= LOST][:most]

    signal = np.rint(_signal(tick, antenna, first, seed)).astype(np.int64)
    x, y, z = np.clip(signal, -LARGEST, LARGEST)
    return {name: values[order] for name, values in zip(COLUMNS, (tick, antenna, x, y, z), strict=True)}


def _signal(tick: np.ndarray, antenna: np.ndarray, block: int, seed: int) -> np.ndarray:
    """The three dipoles of each sample."""
    size = len(tick)
    spell = tick // SPELL
    is_noisy = (antenna == NOISY) & (trait(spell, seed, 21) < NOISY_TIMES)
    is_dead = (antenna == DEAD) & (trait(spell, seed, 22) < DEAD_TIMES)
    noise = np.array([_normal(seed, purpose, block, size) for purpose in (0, 2, 4)])
    signal = noise * NOISE * np.where(is_noisy, 3.0, 1.0)
    signal[0] += STATION * np.sin(2 * np.pi * tick / STATION_PERIOD)
    signal += POLARIZATION[:, np.newaxis] * _shower(tick, antenna, seed)
    is_spark = uniform(seed, 6, block, size) < SPARKS
    signal[2] += np.where(is_spark, 1500 * (uniform(seed, 7, block, size) - 0.5), 0)
    return np.where(is_dead, 0.0, signal)


def _shower(tick: np.ndarray, antenna: np.ndarray, seed: int) -> np.ndarray:
    """Shower number k begins somewhere in the k-th stretch of ticks, and passes over the field as a plane wave."""
    shower = tick // SHOWER_EVERY
    middle = shower * SHOWER_EVERY + 40 + (SHOWER_EVERY - 80) * trait(shower, seed, 30)
    azimuth, sine = 2 * np.pi * trait(shower, seed, 31), 0.9 * trait(shower, seed, 32)
    angle = 2 * np.pi * antenna / ANTENNAS
    since = tick - (middle - RADIUS * sine * np.cos(angle - azimuth))
    # The energy of showers has a long tail; what an antenna gets of it depends on where the shower comes down.
    energy = 250 / (0.08 + trait(shower, seed, 33))
    share = 0.3 + 0.7 * trait(shower * ANTENNAS + antenna, seed, 34)
    return np.where((since >= 0) & (since < SHOWER_LENGTH), energy * share * np.exp(-since / 3), 0.0)


def _normal(seed: int, purpose: int, block: int, size: int) -> np.ndarray:
    radius = np.sqrt(-2 * np.log1p(-uniform(seed, purpose, block, size)))
    return radius * np.cos(2 * np.pi * uniform(seed, purpose + 1, block, size))


if __name__ == "__main__":
    command("examples.data.lois", "Write what antennas received as CSV.", "samples.csv", write_lois)
