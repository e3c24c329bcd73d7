"""A channel that passes on those tuples of a stretch that may be a running maximum (`operators/candidates.py`).

What searches is the operator itself: for each of them it gives a tuple. Where it fails, all tuples of the stretch go
on: it fails again in one place, or something came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anabranch.codegen.chunks import take_tuples
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.channel import known
from anabranch.dataflow.channels.first_step_channel import FirstStepChannel
from anabranch.dataflow.channels.handing_on import Pieces
from anabranch.dataflow.order.pieces import join_pieces
from anabranch.dataflow.transport.rows import Row
from anabranch.graph.order_keys import width


class CandidatesChannel(FirstStepChannel):
    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]:
        [arrival] = self.arriving
        items = self.items(stretch, [join_pieces(self.schema(0), pieces[0], width(arrival.lineage))])
        [tuples] = items.chunks
        assert tuples is not None
        self.forget()
        try:
            [found] = self.element.process(items)
            origins = known(found.origins)
        except Stopped:
            origins = np.arange(len(tuples))
        candidates = replace(take_tuples(tuples, origins).marked(is_last=tuples.is_last), origins=origins)
        self.counts.received += len(tuples) - len(candidates)  # these are counted where they arrive
        self.reporter.add(len(tuples), len(candidates))
        yield from self._sent(stretch, items, [candidates])
