"""The abstract heap: what the objects made at each place of the program may hold.

What is put there only ever grows, and an analysis repeats its passes until nothing grows any more. So the order of
statements does not matter for what an object may hold, and no alias is missed.
"""

from __future__ import annotations

from collections.abc import Callable

from anabranch.analysis.counts import Count
from anabranch.analysis.values import (
    NOTHING,
    Atom,
    Fun,
    Obj,
    Place,
    Plain,
    Site,
    Thing,
    Tup,
    Value,
    demoted,
    is_too_wide,
    join,
    one,
    parts,
)

# Stands for whatever a function may write to of which the body is not run once more: it is being followed already.
ANYTHING = Site(Place.OWN, "anything")


class _Cell:
    __slots__ = ("attributes", "count", "held", "is_kept")

    def __init__(self) -> None:
        self.held: Value = NOTHING
        self.attributes: dict[str, Value] = {}
        self.count: Count | None = None  # how many elements, where that is known
        self.is_kept = False  # reachable from the operator's instance, so a later call may see it


class Heap:
    def __init__(self) -> None:
        self._cells: dict[Site, _Cell] = {}
        self.version = 0
        self._written: list[Site] | None = None  # while somebody asks for them

    def _cell(self, site: Site) -> _Cell:
        cell = self._cells.get(site)
        if cell is None:
            cell = self._cells[site] = _Cell()
            cell.is_kept = site.place is Place.OWN
        return cell

    # What an object holds ---------------------------------------------------------------------------------------

    def held(self, site: Site) -> Value:
        """The elements of a container, its keys and values together; of a variable's cell, its value."""
        cell = self._cells.get(site)
        return cell.held if cell else NOTHING

    def put(self, site: Site, value: Value) -> None:
        self.note_write(site)
        self.bind(site, value)

    def bind(self, site: Site, value: Value) -> None:
        """The same for what begins anew, an object or a variable: nobody has seen what it held before."""
        cell = self._cell(site)
        grown = self._grown(site, cell, cell.held, value)
        if grown is not cell.held:
            cell.held = grown
            self.version += 1

    def attribute(self, site: Site, name: str) -> Value:
        cell = self._cells.get(site)
        return cell.attributes.get(name, NOTHING) if cell else NOTHING

    def attributes(self, site: Site) -> dict[str, Value]:
        cell = self._cells.get(site)
        return cell.attributes if cell else {}

    def put_attribute(self, site: Site, name: str, value: Value) -> None:
        self.note_write(site)
        cell = self._cell(site)
        before = cell.attributes.get(name, NOTHING)
        grown = self._grown(site, cell, before, value)
        if grown is not before or name not in cell.attributes:
            cell.attributes[name] = grown
            self.version += 1

    def _grown(self, site: Site, cell: _Cell, before: Value, value: Value) -> Value:
        added = demoted(value) if cell.is_kept else value
        if added <= before:
            return before
        grown = before | added
        if is_too_wide(grown):
            grown = self.coarser(grown, ("merged", site))
        return before if grown == before else grown

    def coarser(self, value: Value, label: object) -> Value:
        """A value with fewer things in it, which still reaches every object the old one reached."""
        merged = Site(Place.FRESH, label)
        kept: set[Thing] = set()
        atoms: set[type] = set()
        for thing in value:
            match thing:
                case Atom(type=kind):
                    atoms.add(kind)
                case Tup():
                    for part in parts(thing):
                        self._put_flat(merged, part)
                    kept.add(Obj(merged, tuple))
                case Obj(site=site, type=kind):
                    kept.add(Obj(site, kind))
                case _:
                    kept.add(thing)  # functions and constants keep their identity: a call must still find them
        kept |= {Atom(kind) for kind in atoms} if len(atoms) <= 6 else {Atom(Plain)}
        return frozenset(kept)

    def _put_flat(self, site: Site, value: Value) -> None:
        for thing in value:
            if isinstance(thing, Tup):
                self.put(site, one(Obj(site, tuple)))
                for part in thing.items:
                    self._put_flat(site, part)
            elif isinstance(thing, Atom):
                self.put(site, one(Atom(thing.type)))
            else:
                self.put(site, one(thing))

    # How many ---------------------------------------------------------------------------------------------------

    def count(self, site: Site) -> Count | None:
        cell = self._cells.get(site)
        return cell.count if cell else None

    def set_count(self, site: Site, count: Count) -> None:
        """An object of this many elements is made here."""
        cell = self._cell(site)
        wider = count if cell.count is None else cell.count | count
        if wider != cell.count:
            cell.count = wider
            self.version += 1

    # What is written --------------------------------------------------------------------------------------------

    @property
    def is_watched(self) -> bool:
        return self._written is not None

    def note_write(self, site: Site) -> None:
        if self._written is not None:
            self._written.append(site)

    def writes_of(self, step: Callable[[], object]) -> set[Site]:
        """The objects and variables that a step writes to, besides those that it makes."""
        around, self._written = self._written, []
        try:
            step()
            return set(self._written)
        finally:
            self._written = None if around is None else around + self._written

    def sites_in_reach(self, value: Value) -> set[Site]:
        """The objects that can be reached from a value, and the variables of the functions among them."""
        reached = self.reachable(value)
        sites = {thing.site for thing in reached if isinstance(thing, Obj)}
        return sites.union(*(self._cells_of(thing) for thing in reached if isinstance(thing, Fun)))

    # What is reachable ------------------------------------------------------------------------------------------

    def reachable(self, value: Value) -> Value:
        """Everything that can be reached from a value, itself included."""
        seen: set[Thing] = set()
        waiting = list(value)
        while waiting:
            thing = waiting.pop()
            if thing in seen:
                continue
            seen.add(thing)
            for part in parts(thing):
                waiting.extend(part)
            match thing:
                case Obj(site=site) if site in self._cells:
                    cell = self._cells[site]
                    waiting.extend(cell.held)
                    for held in cell.attributes.values():
                        waiting.extend(held)
                case Fun():
                    for site in self._cells_of(thing):
                        waiting.extend(self._cells[site].held)
                case _:
                    pass
        return frozenset(seen)

    def _cells_of(self, function: Fun) -> list[Site]:
        """The variables that a function takes from around it, and its defaults."""
        labels = [(site, site.label) for site in self._cells if isinstance(site.label, tuple)]
        return [
            site
            for site, label in labels
            if (label[0] == "variable" and label[1] in function.chain)
            or (label[0] == "default" and label[1] is function.node)
        ]

    def is_kept(self, site: Site) -> bool:
        """Whether a later call may see this object."""
        return site in self._cells and self._cells[site].is_kept

    def keeps(self, thing: Thing) -> bool:
        """Whether the operator's instance holds exactly this thing."""
        return any(
            thing in cell.held or any(thing in value for value in cell.attributes.values())
            for cell in self._cells.values()
            if cell.is_kept
        )

    def keep_what_outlives_the_call(self) -> None:
        """Between passes: mark what the instance can reach, so that later calls see it as an earlier tuple's."""
        roots: set[Thing] = set()
        for cell in self._cells.values():
            if cell.is_kept:
                roots |= cell.held
                roots |= join(cell.attributes.values())
        if not roots:
            return
        reached = self.reachable(frozenset(roots))
        sites = {thing.site for thing in reached if isinstance(thing, Obj)}
        for thing in reached:
            if isinstance(thing, Fun):
                sites.update(self._cells_of(thing))
        for site in [site for site in self._cells if site in sites]:
            cell = self._cells[site]
            if not cell.is_kept:
                cell.is_kept = True
                cell.held = demoted(cell.held)
                cell.attributes = {name: demoted(value) for name, value in cell.attributes.items()}
                self.version += 1
