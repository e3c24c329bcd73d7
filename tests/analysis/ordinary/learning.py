"""Models that learn while tuples flow, one for each key."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .records import Count, Flag, Line, Number, Place, Reading, Text, Trade

OPERATORS = """Perceptron OnlineScaler Cluster AdaptiveThreshold GradientDescent NaiveCounts NextPage Bandit"""


class Perceptron:
    """Learns for each key."""

    def __init__(self, rate: float = 0.1) -> None:
        self.rate = rate
        self.weights = [0.0, 0.0]

    def predict(self, x: Sequence[float]) -> bool:
        return sum(w * v for w, v in zip(self.weights, x, strict=True)) > 0

    def process(self, place: Place) -> Iterator[Flag]:
        x = (place.x, place.y)
        guess, truth = self.predict(x), place.x > place.y
        if guess != truth:
            step = self.rate if truth else -self.rate
            self.weights = [w + step * v for w, v in zip(self.weights, x, strict=True)]
        yield Flag(place.device, guess == truth)


class Scaler:
    def __init__(self) -> None:
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def partial_fit(self, value: float) -> Scaler:
        self.n += 1
        delta = value - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (value - self.mean)
        return self

    def transform(self, value: float) -> float:
        scale = math.sqrt(self.m2 / self.n) if self.n > 1 else 1.0
        return (value - self.mean) / (scale or 1.0)


class OnlineScaler:
    def __init__(self) -> None:
        self.scaler = Scaler()

    def process(self, reading: Reading) -> Iterator[Number]:
        yield Number(reading.sensor, self.scaler.partial_fit(reading.celsius).transform(reading.celsius))


class KMeans:
    def __init__(self, k: int = 2) -> None:
        self.k = k
        self.centers_ = np.zeros((k, 2))

    def fit(self, X: Any) -> KMeans:
        points = np.asarray(X, dtype=float)
        self.centers_ = points[: self.k]
        for _ in range(5):
            labels = np.linalg.norm(points[:, None] - self.centers_[None], axis=2).argmin(axis=1)
            self.centers_ = np.array([points[labels == c].mean(axis=0) for c in range(self.k)])
        return self

    def assign(self, place: Place) -> Count:
        distances = np.linalg.norm(self.centers_ - np.array([place.x, place.y]), axis=1)
        return Count(place.device, int(distances.argmin()))


class Cluster:
    def __init__(self) -> None:
        self.model = KMeans()
        self.points: list[list[float]] = []

    def process(self, place: Place) -> Iterator[Count]:
        self.points.append([place.x, place.y])
        if len(self.points) == 3:
            self.model.fit(self.points)
        if len(self.points) >= 3:
            yield self.model.assign(place)


class Threshold:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def accepts(self, reading: Reading) -> bool:
        return reading.celsius > self.limit


class AdaptiveThreshold:
    def __init__(self) -> None:
        self.inner = Threshold(10.0)

    def process(self, reading: Reading) -> Iterator[Flag]:
        yield Flag(reading.sensor, self.inner.accepts(reading))
        self.inner.limit += 0.1 * (reading.celsius - self.inner.limit)


class GradientDescent:
    """price = weights · features, one step for each trade."""

    def __init__(self, rate: float = 1e-4) -> None:
        self.rate = rate
        self.weights = np.zeros(2)

    def process(self, trade: Trade) -> Iterator[Number]:
        features = np.array([1.0, trade.size / 1_000])
        error = trade.price - features @ self.weights
        self.weights = self.weights + self.rate * error * features
        yield Number(trade.symbol, float(error))


class NaiveCounts:
    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.n = 0

    def surprise(self, word: str) -> float:
        return -math.log((self.words[word] + 1) / (self.n + 1))

    def process(self, line: Line) -> Iterator[Number]:
        words = line.text.lower().split()
        yield Number(line.source, sum(self.surprise(word) for word in words))
        self.words.update(words)
        self.n += len(words)


class NextPage:
    """A Markov chain of first words."""

    def __init__(self) -> None:
        self.after: dict[str, Counter[str]] = {}
        self.last: str | None = None

    def process(self, line: Line) -> Iterator[Text]:
        word = line.text.partition(" ")[0]
        if self.last is not None:
            self.after.setdefault(self.last, Counter())[word] += 1
        self.last = word
        if word in self.after:
            yield Text(line.source, self.after[word].most_common(1)[0][0])


class Bandit:
    ARMS = ("a", "b", "c")

    def __init__(self) -> None:
        self.pulls = dict.fromkeys(self.ARMS, 0)
        self.gains = dict.fromkeys(self.ARMS, 0.0)

    def choose(self) -> str:
        total = sum(self.pulls.values()) + 1

        def bound(arm: str) -> float:
            n = self.pulls[arm]
            return math.inf if n == 0 else self.gains[arm] / n + math.sqrt(2 * math.log(total) / n)

        return max(self.ARMS, key=bound)

    def process(self, trade: Trade) -> Iterator[Text]:
        arm = self.choose()
        self.pulls[arm] += 1
        self.gains[arm] += trade.price if arm == "b" else trade.price / 2
        yield Text(trade.symbol, arm)
