"""What the JSON of a plan says that is done, in the words of those who note what they do."""

from __future__ import annotations

from typing import Any

from anabranch.dataflow.executed import Fact, HandedOn, Ran, Read, Sent, Watched
from anabranch.explain import Explanation
from anabranch.graph.plan import Plan


def shown(plan: Plan) -> set[tuple[str, Fact]]:
    """The facts that `explain --json` shows."""
    told = Explanation(plan, "forms").to_dict()
    facts: set[tuple[str, Fact]] = set()
    for pe in told["pes"]:
        for segment in pe["segments"]:
            inside = tuple(name for each in pe["segments"] for name in each["operators"])
            facts.add((pe["phase"], Ran(pe["place"], inside, tuple(segment["operators"]), segment["form"])))
    sources = [each["name"] for each in told["operators"] if not each["inputs"]]
    for phase in told["phases"]:
        if phase["watched"]:
            facts.add((phase["name"], Watched(tuple(phase["watched"]))))
        drawn = [told["loop"]["entry"]] if phase["reading"] == "round" else sources
        facts |= {(phase["name"], Read(each, phase["reading"], phase["taking"])) for each in drawn}
        if phase["reading"] == "here" and len(phase["places"]) == 2:
            continue  # what is drawn is processed in the same process: nothing is sent
        places = {place["id"]: place for place in phase["places"]}
        homes = {operator: place for place in phase["places"] for operator in place["operators"]}
        for place in phase["places"]:
            for arrival in place["arrivals"]:
                home = homes[arrival["from"]]
                stays = place["follows"] is not None and _task_of(places, home) == _task_of(places, place)
                facts.add((phase["name"], _handed_on(place, arrival) if stays else _sent(home, place, arrival)))
    return facts


def _task_of(places: dict[str, Any], place: dict[str, Any]) -> str:
    """The place in whose tasks it runs."""
    while place["follows"] is not None:
        place = places[place["follows"]]
    return str(place["id"])


def _handed_on(place: dict[str, Any], arrival: dict[str, Any]) -> HandedOn:
    return HandedOn(arrival["from"], arrival["port"], place["id"], _columns(arrival))


def _sent(home: dict[str, Any], place: dict[str, Any], arrival: dict[str, Any]) -> Sent:
    is_routed = place["channels"] > 1
    if arrival["clock"] is not None:  # to all channels; who has all of a stretch leaves out those that have it already
        is_routed = arrival["moves"] == "the latest" and home["channels"] == 1
    key, bounds = (arrival["key"], arrival["bounds"]) if is_routed else ([], [])
    to = place["id"], place["channels"], tuple(key), len(bounds)
    return Sent(arrival["from"], arrival["port"], *to, _columns(arrival), arrival["clock"], arrival["lines"])


def _columns(arrival: dict[str, Any]) -> int:
    return sum("number_of" in step for step in arrival["order_key"])
