"""A channel of the first of two steps of an operator: it begins anew with each stretch, and both count as one."""

from __future__ import annotations

from anabranch.codegen.build import build_elements
from anabranch.dataflow.channels.channel import Channel
from anabranch.dataflow.channels.handing_on import Inbox
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.places import Place
from anabranch.operators.metrics import OperatorMetrics


class FirstStepChannel(Channel):
    """It follows the place that its tuples leave."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        [self.name] = place.operators
        whole = job.layout.made_for(self.name)
        assert whole is not None
        self.whole = whole
        self.code = job.code[place.id]
        self.form, self.empty = self.element.form, self.element.save()

    def forget(self) -> None:
        """Where native code was left, a new element begins: it may go on natively."""
        if self.element.form == self.form:
            self.element.restore(self.empty)
        else:
            self.element = build_elements(self.code)

    def counted(self) -> dict[str, OperatorMetrics]:
        """What a user knows is one operator."""
        return {self.whole: self.counts}

    def begin_figures(self) -> None:
        super().begin_figures()
        self.counts = OperatorMetrics()
