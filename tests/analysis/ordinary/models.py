"""Models that were fitted before the program starts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .records import Count, Flag, Line, Number, Place, Reading, Text, Trade

OPERATORS = """regression.predict scored threshold.accepts classified bayes.label tree.decide
    pipelined in_ensemble with_model kmeans.assign anomaly.score encoded recommend spam_score stumps_vote
    embedding.nearest logistic"""


class LinearRegression:
    """y = X w + b, by least squares."""

    def __init__(self, ridge: float = 0.0) -> None:
        self.ridge = ridge
        self.coef_ = np.zeros(0)
        self.intercept_ = 0.0

    def fit(self, X: Any, y: Any) -> LinearRegression:
        design = np.column_stack([np.ones(len(X)), np.asarray(X)])
        gram = design.T @ design + self.ridge * np.eye(design.shape[1])
        weights = np.linalg.solve(gram, design.T @ np.asarray(y))
        self.intercept_, self.coef_ = float(weights[0]), weights[1:]
        return self

    def predict(self, trade: Trade) -> Number:
        features = np.array([trade.price, float(trade.size)])
        return Number(trade.symbol, float(features @ self.coef_ + self.intercept_))


regression = LinearRegression(ridge=0.1).fit([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]], [12.0, 33.0, 25.0])


def scored(trade: Trade) -> Flag:
    return Flag(trade.symbol, regression.predict(trade).value > 100.0)


class Threshold:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def accepts(self, reading: Reading) -> bool:
        return reading.celsius > self.limit


threshold = Threshold(12.5)


class Classifier(Protocol):
    classes: Sequence[str]

    def scores(self, features: Sequence[float]) -> list[float]: ...


class NearestCentroid:
    def __init__(self, centroids: dict[str, tuple[float, float]]) -> None:
        self.centroids = dict(centroids)
        self.classes = sorted(self.centroids)

    def scores(self, features: Sequence[float]) -> list[float]:
        return [-math.dist(features, self.centroids[name]) for name in self.classes]


def best(model: Classifier, features: Sequence[float]) -> str:
    scores = model.scores(features)
    return model.classes[scores.index(max(scores))]


CENTROIDS = NearestCentroid({"home": (0.0, 0.0), "work": (5.0, 5.0)})


def classified(place: Place) -> Text:
    return Text(place.device, best(CENTROIDS, (place.x, place.y)))


class NaiveBayes:
    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing
        self.words: dict[str, Counter[str]] = {}
        self.vocabulary: set[str] = set()

    def fit(self, documents: list[tuple[str, str]]) -> NaiveBayes:
        for label, text in documents:
            self.words.setdefault(label, Counter()).update(text.split())
        self.vocabulary = {word for counts in self.words.values() for word in counts}
        return self

    def log_likelihood(self, label: str, words: list[str]) -> float:
        counts = self.words[label]
        total = sum(counts.values()) + self.smoothing * len(self.vocabulary)
        return sum(math.log((counts[word] + self.smoothing) / total) for word in words)

    def label(self, line: Line) -> Text:
        words = line.text.lower().split()
        return Text(line.source, max(sorted(self.words), key=lambda name: self.log_likelihood(name, words)))


bayes = NaiveBayes().fit([("log", "info warn get took"), ("mail", "call write visits info")])


@dataclass(frozen=True)
class Leaf:
    label: str


@dataclass(frozen=True)
class Node:
    feature: str
    limit: float
    below: Node | Leaf
    above: Node | Leaf


@dataclass(frozen=True)
class Tree:
    root: Node

    def decide(self, trade: Trade) -> Text:
        at: Node | Leaf = self.root
        while isinstance(at, Node):
            at = at.below if getattr(trade, at.feature) < at.limit else at.above
        return Text(trade.symbol, at.label)


tree = Tree(Node("price", 40.0, Leaf("cheap"), Node("size", 100.0, Leaf("dear"), Leaf("large"))))


T = TypeVar("T")
U = TypeVar("U")


class Step(ABC, Generic[T, U]):
    @abstractmethod
    def apply(self, value: T) -> U: ...


class Lower(Step[str, str]):
    def apply(self, value: str) -> str:
        return value.lower()


class Lengths(Step[str, list[int]]):
    def apply(self, value: str) -> list[int]:
        return [len(word) for word in value.split()]


class Sum(Step[list[int], int]):
    def apply(self, value: list[int]) -> int:
        return sum(value)


STEPS: tuple[Step[Any, Any], ...] = (Lower(), Lengths(), Sum())


def pipelined(line: Line) -> Count:
    value: Any = line.text
    for step in STEPS:
        value = step.apply(value)
    return Count(line.source, value)


ENSEMBLE = [Threshold(0.0), Threshold(15.0), Threshold(30.0)]


def in_ensemble(reading: Reading) -> Count:
    return Count(reading.sensor, sum(member.accepts(reading) for member in ENSEMBLE))


def _with_model(model: LinearRegression, trade: Trade) -> Number:
    return model.predict(trade)


with_model = partial(_with_model, regression)


class KMeans:
    def __init__(self, k: int = 2) -> None:
        self.k = k

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


kmeans = KMeans().fit([[0.0, 0.0], [5.0, 5.0], [1.0, 0.0], [6.0, 5.0]])


@dataclass
class GaussianAnomaly:
    means: dict[str, float] = field(default_factory=dict)
    deviation: float = 10.0

    def score(self, reading: Reading) -> Number:
        mean = self.means.get(reading.sensor, 20.0)
        return Number(reading.sensor, ((reading.celsius - mean) / self.deviation) ** 2)


anomaly = GaussianAnomaly({"roof": 18.0, "cellar": 12.0}, deviation=7.5)


class LabelEncoder:
    def __init__(self, labels: Sequence[str]) -> None:
        self._codes = {label: code for code, label in enumerate(sorted(set(labels)))}

    def __getitem__(self, label: str) -> int:
        return self._codes[label]

    def __len__(self) -> int:
        return len(self._codes)


ENCODER = LabelEncoder(["CORN", "ACME", "BETA", "ACME"])


def encoded(trade: Trade) -> Number:
    return Number(trade.symbol, ENCODER[trade.symbol] / len(ENCODER))


NEIGHBOURS: dict[str, list[tuple[str, float]]] = {
    "ACME": [("BETA", 0.9), ("CORN", 0.2)],
    "BETA": [("ACME", 0.9)],
}


def recommend(trade: Trade) -> Iterator[Text]:
    for name, weight in NEIGHBOURS.get(trade.symbol, []):
        if weight * trade.price > 5:
            yield Text(trade.symbol, name)


WORD_SCORES = defaultdict(float, {"call": 0.7, "write": 0.4, "slow": -0.5})


def spam_score(line: Line) -> Number:
    return Number(line.source, sum(WORD_SCORES.get(word, 0.0) for word in line.text.lower().split()))


class Stump:
    __slots__ = ("attribute", "limit", "weight")

    def __init__(self, attribute: str, limit: float, weight: float) -> None:
        self.attribute, self.limit, self.weight = attribute, limit, weight

    def vote(self, trade: Trade) -> float:
        value = trade.price if self.attribute == "price" else float(trade.size)
        return self.weight if value > self.limit else -self.weight


STUMPS = (Stump("price", 30.0, 0.8), Stump("size", 100.0, 0.5), Stump("price", 60.0, 0.3))


def stumps_vote(trade: Trade) -> Flag:
    return Flag(trade.symbol, sum(stump.vote(trade) for stump in STUMPS) > 0)


class Embedding:
    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.names = tuple(vectors)
        self.matrix = np.array(list(vectors.values()))

    def nearest(self, place: Place) -> Text:
        similarity = self.matrix @ np.array([place.x, place.y])
        return Text(place.device, self.names[int(np.argmax(similarity))])


embedding = Embedding({"up": [0.0, 1.0], "right": [1.0, 0.0], "down": [0.0, -1.0]})


def make_logistic(weight: float, bias: float):
    def logistic(reading: Reading) -> Number:
        return Number(reading.sensor, 1 / (1 + math.exp(-(weight * reading.celsius + bias))))

    return logistic


logistic = make_logistic(0.2, -4.0)
