"""Days, zones and durations."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from .records import Count, Flag, Number, Order, Text, Trade

OPERATORS = """weekday iso_week is_weekend due_date next_workday age_in_days quarter in_tokyo opening_hours month_end
    trading_day each_reminder rounded_to_quarter parsed_again leap_years DaysBetween business_hours offset_of
    time_of_day LongestGap"""

PARIS = ZoneInfo("Europe/Paris")
TOKYO = ZoneInfo("Asia/Tokyo")
EPOCH = date(2024, 1, 1)
HOLIDAYS = {date(2024, 3, 1), date(2024, 5, 1)}
OPENS, CLOSES = time(9), time(17, 30)
EAST = timezone(timedelta(hours=-5), "EST")


def weekday(order: Order) -> Text:
    return Text(order.customer, calendar.day_name[order.placed.weekday()])


def iso_week(order: Order) -> Text:
    year, week, _ = order.placed.isocalendar()
    return Text(order.customer, f"{year}-W{week:02}")


def is_weekend(order: Order) -> bool:
    return order.placed.isoweekday() in (6, 7)


def due_date(order: Order) -> Text:
    return Text(order.customer, (order.placed + timedelta(days=30)).date().isoformat())


def next_workday(order: Order) -> Text:
    day = order.placed.date() + timedelta(days=1)
    while day.weekday() >= 5 or day in HOLIDAYS:
        day += timedelta(days=1)
    return Text(order.customer, f"{day:%d %B %Y}")


def age_in_days(order: Order) -> Count:
    return Count(order.customer, (order.placed.date() - EPOCH).days)


def quarter(order: Order) -> Text:
    return Text(order.customer, f"Q{(order.placed.month - 1) // 3 + 1}")


def in_tokyo(order: Order) -> Text:
    local = order.placed.replace(tzinfo=PARIS).astimezone(TOKYO)
    return Text(order.customer, local.strftime("%Y-%m-%d %H:%M %z"))


def opening_hours(order: Order) -> bool:
    return OPENS <= order.placed.time() < CLOSES


def month_end(order: Order) -> Text:
    last = calendar.monthrange(order.placed.year, order.placed.month)[1]
    return Text(order.customer, str(order.placed.replace(day=last).date()))


def trading_day(trade: Trade) -> Text:
    return Text(trade.symbol, datetime.fromtimestamp(trade.ts, tz=UTC).date().isoformat())


def each_reminder(order: Order) -> Iterator[Text]:
    for days in (7, 14, 28):
        yield Text(order.customer, (order.placed + timedelta(days=days)).isoformat(timespec="minutes"))


def rounded_to_quarter(order: Order) -> Text:
    minutes = order.placed.minute // 15 * 15
    return Text(order.customer, order.placed.replace(minute=minutes, second=0).isoformat())


def parsed_again(order: Order) -> Count:
    text = order.placed.strftime("%d/%m/%Y %H:%M")
    return Count(order.customer, datetime.strptime(text, "%d/%m/%Y %H:%M").timetuple().tm_yday)


def leap_years(order: Order) -> Count:
    return Count(order.customer, sum(map(calendar.isleap, range(2000, order.placed.year + 1))))


class DaysBetween:
    """Days since the customer's previous order."""

    def __init__(self) -> None:
        self.previous: datetime | None = None

    def process(self, order: Order) -> Iterator[Number]:
        if self.previous is not None:
            yield Number(order.customer, (order.placed - self.previous) / timedelta(days=1))
        self.previous = order.placed


def business_hours(order: Order) -> Number:
    start = datetime.combine(order.placed.date(), OPENS)
    end = datetime.combine(order.placed.date(), CLOSES)
    return Number(order.customer, max((end - max(order.placed, start)).total_seconds(), 0.0) / 3600)


def offset_of(order: Order) -> Text:
    return Text(order.customer, str(order.placed.replace(tzinfo=EAST).utcoffset()))


def time_of_day(order: Order) -> Text:
    match order.placed.hour:
        case hour if hour < 6:
            name = "night"
        case hour if hour < 12:
            name = "morning"
        case _:
            name = "later"
    return Text(order.customer, name)


class LongestGap:
    def __init__(self) -> None:
        self.seen: list[datetime] = []

    def process(self, order: Order) -> Iterator[Flag]:
        self.seen.append(order.placed)
        gaps = [b - a for a, b in zip(self.seen, self.seen[1:], strict=False)]
        yield Flag(order.customer, max(gaps, default=timedelta()) > timedelta(days=1))
