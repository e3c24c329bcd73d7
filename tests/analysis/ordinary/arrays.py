"""numpy: constant arrays of a module or a closure, arrays in the instance of a key."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from .records import Count, Number, Order, Packet, Place, Reading, Text, Trade

OPERATORS = """weighted projected softmaxed nearest_center interpolated smoothed_by_kernel RollingWindow Covariance
    looked_up polynomial is_outlier OnlineMean digitized decoded Spectrum normalised one_hot masked_sum"""

WEIGHTS = np.array([0.2, 0.5, 0.3])
CENTERS = np.array([[0.0, 0.0], [5.0, 5.0], [-5.0, 5.0]])
ROTATION = np.array([[0.0, -1.0], [1.0, 0.0]])
XS, YS = np.linspace(0.0, 100.0, 11), np.sqrt(np.linspace(0.0, 100.0, 11))
EDGES = np.arange(-20.0, 61.0, 10.0)
NAMES = np.array(["low", "middle", "high"])
COEFFICIENTS = np.array([0.5, -1.0, 2.0])
TABLE = np.zeros((4, 4))
TABLE[1, 2] = 7.0
TABLE.setflags(write=False)


def weighted(trade: Trade) -> Number:
    return Number(trade.symbol, float(WEIGHTS @ np.array([trade.price, trade.size, 1.0])))


def projected(place: Place) -> Place:
    x, y = ROTATION @ np.array([place.x, place.y])
    return place._replace(x=float(x), y=float(y))


def softmaxed(place: Place) -> Number:
    scores = np.exp(np.array([place.x, place.y, 0.0]) / 10)
    return Number(place.device, float((scores / scores.sum()).max()))


def nearest_center(place: Place) -> Count:
    distances = np.linalg.norm(CENTERS - np.array([place.x, place.y]), axis=1)
    return Count(place.device, int(distances.argmin()))


def interpolated(trade: Trade) -> Number:
    return Number(trade.symbol, float(np.interp(trade.price, XS, YS)))


def smoothed_with(kernel: np.ndarray) -> Callable[[Order], Number]:
    total = kernel.sum()

    def smooth(order: Order) -> Number:
        lengths = np.array([len(item) for item in order.items] or [0], dtype=float)
        return Number(order.customer, float(np.convolve(lengths, kernel / total, mode="same").max()))

    return smooth


smoothed_by_kernel = smoothed_with(np.array([1.0, 2.0, 1.0]))


class RollingWindow:
    def __init__(self, width: int = 4) -> None:
        self.values = np.zeros(width)
        self.n = 0

    def process(self, trade: Trade) -> Iterator[Number]:
        self.values[self.n % len(self.values)] = trade.price
        self.n += 1
        yield Number(trade.symbol, float(self.values.mean()))


class Covariance:
    def __init__(self) -> None:
        self.rows: deque[tuple[float, float]] = deque(maxlen=20)

    def process(self, place: Place) -> Iterator[Number]:
        self.rows.append((place.x, place.y))
        if len(self.rows) > 2:
            yield Number(place.device, float(np.cov(np.array(self.rows), rowvar=False)[0, 1]))


def looked_up(trade: Trade) -> Number:
    return Number(trade.symbol, float(TABLE[trade.size % 4, int(trade.price) % 4]))


def polynomial(reading: Reading) -> Number:
    return Number(reading.sensor, float(np.polyval(COEFFICIENTS, reading.celsius / 10)))


def is_outlier(reading: Reading) -> bool:
    return bool(np.abs(reading.celsius - 20.0) > np.std(EDGES) / 2)


class OnlineMean:
    def __init__(self) -> None:
        self.mean = np.zeros(2)
        self.n = 0

    def process(self, place: Place) -> Iterator[Number]:
        self.n += 1
        self.mean += (np.array([place.x, place.y]) - self.mean) / self.n
        yield Number(place.device, float(np.hypot(*self.mean)))


def digitized(reading: Reading) -> Text:
    at = int(np.digitize(reading.celsius, EDGES))
    return Text(reading.sensor, str(NAMES[min(at // 3, 2)]))


def decoded(packet: Packet) -> Count:
    numbers = np.frombuffer(packet.payload, dtype=np.uint8)
    return Count(packet.device, int(numbers.astype(np.int64).sum()))


class Spectrum:
    def __init__(self) -> None:
        self.values: list[float] = []

    def process(self, reading: Reading) -> Iterator[Number]:
        self.values.append(reading.celsius)
        if len(self.values) >= 4:
            power = np.abs(np.fft.rfft(np.asarray(self.values[-4:]))) ** 2
            yield Number(reading.sensor, round(float(power[1:].max()), 6))


def normalised(place: Place) -> Place:
    vector = np.array([place.x, place.y])
    length = np.linalg.norm(vector)
    if length > 0:
        vector /= length
    return place._replace(x=float(vector[0]), y=float(vector[1]))


def one_hot(trade: Trade) -> Iterator[Count]:
    hot = (np.array(["ACME", "BETA", "CORN"]) == trade.symbol).astype(int)
    for at, bit in enumerate(hot.tolist()):
        yield Count(str(at), bit)


def masked_sum(order: Order) -> Number:
    lengths = np.array([len(item) for item in order.items], dtype=float)
    return Number(order.customer, float(lengths[lengths > 3].sum()))
