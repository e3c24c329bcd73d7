"""Operators that say what they do: logging with the library's own handlers and formatters."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from logging import getLogger

from .records import Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """parsed_with_warning is_large Alarm debugged audited retried Tracked error_logged traced guarded
    root_logged lazily"""

logger = logging.getLogger(__name__)
audit = getLogger("shop.audit")
audit.setLevel(logging.INFO)
audit.addHandler(logging.NullHandler())
handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
handler.setLevel(logging.CRITICAL)
logger.addHandler(handler)
logger.propagate = False


def parsed_with_warning(line: Line) -> Count:
    try:
        return Count(line.source, int(line.text.split(",")[2]))
    except (IndexError, ValueError):
        logger.warning("cannot parse line %d of %s", line.number, line.source)
        return Count(line.source, -1)


def is_large(order: Order) -> bool:
    if order.total > 300:
        logger.info("large order %s by %s: %.2f", order.id, order.customer, order.total)
        return True
    return False


class Alarm:
    def __init__(self) -> None:
        self.count = 0

    def process(self, reading: Reading) -> Iterator[Flag]:
        if reading.celsius > 40:
            self.count += 1
            logger.warning("%s is hot for the %d. time", reading.sensor, self.count)
        yield Flag(reading.sensor, self.count > 2)


def debugged(trade: Trade) -> Number:
    value = trade.price * trade.size
    logger.debug("value of %s: %r", trade.symbol, value)
    return Number(trade.symbol, value)


def audited(order: Order) -> Text:
    audit.info("order %(id)s of %(customer)s", {"id": order.id, "customer": order.customer})
    return Text(order.customer, f"#{order.id}")


def retried(line: Line) -> Text:
    for attempt in range(3):
        if len(line.text) > attempt:
            return Text(line.source, line.text[attempt])
        logger.debug("attempt %s failed", attempt)
    return Text(line.source, "")


class Tracked:
    def __init__(self) -> None:
        self.log = logging.getLogger("tracked")
        self.last: float | None = None

    def process(self, trade: Trade) -> Iterator[Number]:
        if self.last is not None and trade.price > 2 * self.last:
            self.log.error("price of %s doubled: %s after %s", trade.symbol, trade.price, self.last)
        self.last = trade.price
        yield Number(trade.symbol, trade.price)


def error_logged(line: Line) -> Count | None:
    try:
        return Count(line.source, int(line.text[:4]))
    except ValueError:
        logger.exception("not a number: %s", line.text)
    return None


def traced(trade: Trade) -> Trade:
    logger.log(logging.DEBUG, f"{trade.symbol} at {trade.price:.2f}")
    return trade


def guarded(trade: Trade) -> Number:
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s", " ".join(sorted([trade.symbol, str(trade.size)])))
    return Number(trade.symbol, trade.price)


def root_logged(reading: Reading) -> Reading:
    if not reading.ok:
        logging.info("bad reading of %s", reading.sensor)
    return reading


def _warn(message: str, *args: object) -> None:
    logger.warning(message, *args)


def lazily(order: Order) -> Count:
    if not order.items:
        _warn("order %d has no items", order.id)
    return Count(order.customer, len(order.items))
