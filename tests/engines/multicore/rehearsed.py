"""The multicore engine with a schedule by a seed: the same feeds, places and flow, and one thread."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from anabranch.engines.multicore.feeds import JobFeed
from anabranch.engines.multicore.places import Places
from anabranch.engines.multicore.transport import Multicore
from anabranch.workers.flow import Flow
from anabranch.workers.parcels import Parcel
from anabranch.workers.rehearsal import AnyStage, Rehearsal


@dataclass
class Rehearsed(Multicore):
    workers: int = 3
    seed: int = 0

    def flow(self, feed: JobFeed, places: Places) -> Flow:
        most_begun = 1 + self.seed % 5
        return Flow(feed, places.levels, AnyStage(self.seed), most_begun=most_begun, slice_seconds=1e-5)

    def run(self, flow: Flow) -> Generator[tuple[int, list[Parcel]], None, None]:
        return Rehearsal(flow, self.workers, self.seed).run()
