"""Readings: converted, checked, smoothed, compared with the ones before."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import ClassVar

from .records import Count, Number, Packet, Reading, Text
from .records import Flag as Bit

OPERATORS = """fahrenheit is_plausible Debounce calibrated Hysteresis Kalman heat_alarm Filled dew_point status_bits
    Watchdog Machine StuckSensor unit_of Debouncer2 crc parity Alarms pid_step described"""


@dataclass(frozen=True)
class Calibration:
    offset: float = 0.0
    gain: float = 1.0

    def __call__(self, raw: float) -> float:
        return self.offset + self.gain * raw


CALIBRATIONS = {"roof": Calibration(0.5), "cellar": Calibration(-1.0, 1.02)}
UNITS = {"roof": "°C", "cellar": "°C", "duct": "K"}


def fahrenheit(reading: Reading) -> Reading:
    return reading._replace(celsius=reading.celsius * 9 / 5 + 32)


def is_plausible(reading: Reading) -> bool:
    return reading.ok and -40.0 <= reading.celsius <= 85.0 and not math.isnan(reading.celsius)


class Debounce:
    def __init__(self) -> None:
        self.last: bool | None = None

    def process(self, reading: Reading) -> Iterator[Reading]:
        if reading.ok != self.last:
            self.last = reading.ok
            yield reading


def calibrated(reading: Reading) -> Number:
    calibration = CALIBRATIONS.get(reading.sensor, Calibration())
    return Number(reading.sensor, calibration(reading.celsius))


class Hysteresis:
    def __init__(self, low: float = 10.0, high: float = 25.0) -> None:
        if low >= high:
            raise ValueError("low must be below high")
        self.low, self.high = low, high
        self.is_on = False

    def process(self, reading: Reading) -> Iterator[Bit]:
        if self.is_on and reading.celsius > self.high:
            self.is_on = False
        elif not self.is_on and reading.celsius < self.low:
            self.is_on = True
        yield Bit(reading.sensor, self.is_on)


class Kalman:
    """One dimension, constant noise."""

    PROCESS: ClassVar[float] = 1e-3
    MEASUREMENT: ClassVar[float] = 0.4

    def __init__(self) -> None:
        self.estimate = 0.0
        self.error = 1.0

    def process(self, reading: Reading) -> Iterator[Number]:
        error = self.error + self.PROCESS
        gain = error / (error + self.MEASUREMENT)
        self.estimate += gain * (reading.celsius - self.estimate)
        self.error = (1 - gain) * error
        yield Number(reading.sensor, self.estimate)


def heat_alarm(reading: Reading) -> Text | None:
    match reading:
        case Reading(ok=False):
            return Text(reading.sensor, "broken")
        case Reading(celsius=c) if c > 40:
            return Text(reading.sensor, f"too hot: {c:.1f}")
        case _:
            return None


class Filled:
    """Missing values become the last good one."""

    def __init__(self) -> None:
        self.good: float | None = None

    def process(self, reading: Reading) -> Iterator[Reading]:
        if reading.ok:
            self.good = reading.celsius
        if self.good is not None:
            yield reading._replace(celsius=self.good, ok=True)


def dew_point(reading: Reading, humidity: float = 0.6) -> Number:
    gamma = math.log(humidity) + 17.6 * reading.celsius / (243.0 + reading.celsius)
    return Number(reading.sensor, 243.0 * gamma / (17.6 - gamma))


class Status(Flag):
    OK = auto()
    HOT = auto()
    COLD = auto()
    BROKEN = auto()


def status_bits(reading: Reading) -> Count:
    status = Status.OK if reading.ok else Status.BROKEN
    if reading.celsius > 30:
        status |= Status.HOT
    elif reading.celsius < 0:
        status |= Status.COLD
    return Count(reading.sensor, status.value)


class Watchdog:
    def __init__(self, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self.seen: float | None = None

    def process(self, reading: Reading) -> Iterator[Text]:
        if self.seen is not None and (silence := reading.ts - self.seen) > self.timeout:
            yield Text(reading.sensor, f"silent for {silence:.0f} s")
        self.seen = reading.ts


class State(Enum):
    IDLE = "idle"
    HEATING = "heating"
    COOLING = "cooling"


TRANSITIONS = {
    (State.IDLE, "cold"): State.HEATING,
    (State.IDLE, "hot"): State.COOLING,
    (State.HEATING, "hot"): State.IDLE,
    (State.COOLING, "cold"): State.IDLE,
}


class Machine:
    def __init__(self) -> None:
        self.state = State.IDLE

    def process(self, reading: Reading) -> Iterator[Text]:
        event = "hot" if reading.celsius > 30 else "cold" if reading.celsius < 5 else "mild"
        after = TRANSITIONS.get((self.state, event), self.state)
        if after is not self.state:
            yield Text(reading.sensor, f"{self.state.value} -> {after.value}")
            self.state = after


class StuckSensor:
    def __init__(self) -> None:
        self.recent: deque[float] = deque(maxlen=4)

    def process(self, reading: Reading) -> Iterator[Bit]:
        self.recent.append(reading.celsius)
        yield Bit(reading.sensor, len(self.recent) == 4 and len(set(self.recent)) == 1)


def unit_of(reading: Reading) -> Text:
    return Text(reading.sensor, f"{reading.celsius:+07.2f} {UNITS[reading.sensor]}")


class Rule(ABC):
    @abstractmethod
    def holds(self, reading: Reading) -> bool: ...

    def describe(self) -> str:
        return type(self).__name__.lower()


class Above(Rule):
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def holds(self, reading: Reading) -> bool:
        return reading.celsius > self.limit


class Broken(Rule):
    def holds(self, reading: Reading) -> bool:
        return not reading.ok

    def describe(self) -> str:
        return f"{super().describe()}!"


class Debouncer2:
    """A rule must hold twice in a row."""

    def __init__(self) -> None:
        self.rules: list[Rule] = [Above(20.0), Broken()]
        self.streaks = dict.fromkeys(range(len(self.rules)), 0)

    def process(self, reading: Reading) -> Iterator[Text]:
        for at, rule in enumerate(self.rules):
            self.streaks[at] = self.streaks[at] + 1 if rule.holds(reading) else 0
            if self.streaks[at] == 2:
                yield Text(reading.sensor, rule.describe())


def crc(packet: Packet) -> Count:
    value = 0xFF
    for byte in packet.payload:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 0x31) & 0xFF if value & 0x80 else value << 1 & 0xFF
    return Count(packet.device, value)


def parity(packet: Packet) -> bool:
    return sum(byte.bit_count() for byte in packet.payload) % 2 == 0


RULES: tuple[Rule, ...] = (Above(35.0), Broken())


class Alarms:
    def __init__(self) -> None:
        self.raised: set[str] = set()

    def process(self, reading: Reading) -> Iterator[Text]:
        for rule in RULES:
            name = rule.describe()
            if rule.holds(reading) and name not in self.raised:
                self.raised.add(name)
                yield Text(reading.sensor, name)
            elif not rule.holds(reading):
                self.raised.discard(name)


def pid_step(reading: Reading) -> Number:
    target, kp = 21.0, 0.8
    error = target - reading.celsius
    return Number(reading.sensor, min(max(kp * error, -10.0), 10.0))


def described(reading: Reading) -> Iterator[Text]:
    for rule in RULES:
        if rule.holds(reading):
            yield Text(reading.sensor, rule.describe())
