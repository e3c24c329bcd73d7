"""Prices, units and distances: one tuple in, numbers out."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import reduce
from typing import Final

import numpy as np

from .registry import entry
from .tuples import Amount, Call, Count, Fix, Order, Quote, Reading, Trade, Travel, Word

EARTH_RADIUS_KM: Final = 6371.0
DEPOT = (47.61, -122.33)
CENT = Decimal("0.01")
VAT = Decimal("0.19")
SIZE_BOUNDS = (10, 100, 1_000)
SIZE_NAMES = ("odd", "small", "round", "block")
FEE_TIERS = ((1_000.0, 0.0030), (10_000.0, 0.0020), (math.inf, 0.0005))
DEW_POLYNOMIAL = (0.00012, -0.0031, 0.91, -7.5)

notional = entry(
    "notional", kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="a product of two attributes"
)(lambda t: Amount(t.symbol, t.price * t.size))


@entry(
    kind="map",
    input=Reading,
    forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"},
    why="_replace changes one attribute and keeps the rest",
)
def to_fahrenheit(reading: Reading) -> Reading:
    return reading._replace(celsius=reading.celsius * 9 / 5 + 32)


@entry(kind="map", input=Quote, output=Amount, forwards={"symbol": "symbol"}, why="keyword construction")
def mid_price(quote: Quote) -> Amount:
    return Amount(value=(quote.bid + quote.ask) / 2, symbol=quote.symbol)


@entry(
    kind="map", input=Quote, output=Amount, forwards={"symbol": "symbol"}, why="an early return; both paths build one"
)
def spread_in_basis_points(quote: Quote) -> Amount:
    mid = (quote.bid + quote.ask) / 2
    if mid == 0:
        return Amount(quote.symbol, 0.0)
    return Amount(quote.symbol, (quote.ask - quote.bid) / mid * 10_000)


def haversine(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Great-circle distance in kilometres."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    dphi, dlam = phi2 - phi1, math.radians(lon2 - lon1)
    h = math.sin(dphi / 2) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(dlam / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(h))


@entry(kind="map", input=Fix, output=Amount, forwards={"symbol": "device"}, why="a pure helper; a renamed attribute")
def distance_to_depot(fix: Fix) -> Amount:
    return Amount(fix.device, haversine(fix.where.lat, fix.where.lon, *DEPOT))


@entry(
    kind="map", input=Reading, forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"}, why="min and max of two numbers"
)
def clamp(r: Reading) -> Reading:
    return Reading(r.sensor, max(-40.0, min(r.celsius, 60.0)), r.ok, r.ts)


@entry(
    kind="map",
    input=Order,
    forwards={"id": "id", "customer": "customer", "items": "items", "note": "note"},
    why="money in Decimal, with module constants",
)
def with_vat(order: Order) -> Order:
    net = Decimal(str(order.total))
    gross = (net * (1 + VAT)).quantize(CENT, rounding=ROUND_HALF_UP)
    return order._replace(total=float(gross))


is_round_lot = entry("is_round_lot", kind="filter", input=Trade, why="arithmetic on one attribute")(
    lambda t: t.size % 100 == 0
)


@entry(kind="filter", input=Reading, why="a chained comparison")
def is_plausible(r: Reading) -> bool:
    return r.ok and -40 <= r.celsius <= 60


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"}, why="functions of math")
def distance_from_tower(c: Call) -> Travel:
    return Travel(c.phone, math.hypot(c.x, c.y), c.ts)


@entry(kind="map", input=Trade, output=Word, forwards={"n": "size"}, why="bisect reads a constant tuple")
def size_class(t: Trade) -> Word:
    return Word(SIZE_NAMES[bisect_right(SIZE_BOUNDS, t.size)], t.size)


@entry(
    kind="map",
    input=Reading,
    forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"},
    why="reduce with a pure lambda over a constant tuple",
)
def dew_point(r: Reading) -> Reading:
    value = reduce(lambda total, factor: total * r.celsius + factor, DEW_POLYNOMIAL, 0.0)
    return r._replace(celsius=round(value, 3))


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="return inside a loop over constants")
def fee(t: Trade) -> Amount:
    volume = t.price * t.size
    for limit, rate in FEE_TIERS:
        if volume < limit:
            return Amount(t.symbol, volume * rate)
    return Amount(t.symbol, 0.0)


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"}, why="numpy on a local array")
def norm(c: Call) -> Travel:
    position = np.array([c.x, c.y])
    position -= position.mean()
    return Travel(c.phone, float(np.linalg.norm(position)), c.ts)


@entry(kind="map", input=Order, output=Amount, forwards={"symbol": "customer"}, why="statistics of a local list")
def typical_item_length(o: Order) -> Amount:
    lengths = [len(item) for item in o.items] or [0]
    return Amount(o.customer, float(statistics.median(lengths)))


@entry(kind="map", input=Trade, forwards={"symbol": "symbol", "price": "price", "size": "size"}, why="floor division")
def to_minute(t: Trade) -> Trade:
    return t._replace(ts=t.ts // 60 * 60)


class Units:
    """A namespace of conversions."""

    PER_MILE = 1.609344

    @staticmethod
    def miles(km: float) -> float:
        return km / Units.PER_MILE

    @classmethod
    def pace(cls, km: float, hours: float) -> float:
        return hours * 60 / (km / cls.PER_MILE)


@entry(
    kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"}, why="pure static and class methods"
)
def pace_of(c: Call) -> Travel:
    km = 1.0 + abs(c.x)
    return Travel(c.phone, Units.miles(km) + Units.pace(km, 2.0), c.ts)


@entry(kind="map", input=Quote, output=Count, forwards={"key": "symbol"}, why="Fraction and integer arithmetic")
def ticks_wide(q: Quote) -> Count:
    return Count(q.symbol, int(Fraction(str(q.ask)) * 100) - int(Fraction(str(q.bid)) * 100))


@entry(
    kind="map",
    input=Reading,
    forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"},
    why="Newton's iteration over locals in a while loop",
)
def root_of_energy(r: Reading) -> Reading:
    target = abs(r.celsius) + 1.0
    guess = target
    while abs(guess * guess - target) > 1e-9:
        guess = (guess + target / guess) / 2
    return r._replace(celsius=guess)
