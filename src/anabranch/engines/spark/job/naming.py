"""Names in Spark's pages: of a job after its program, and of each of its stages after the places that run there.

Spark names a stage after the call that made the last of its data sets, and makes those of a data frame all at once,
when it is run. So they are made here before that, one exchange after the other, each under a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

_EXCHANGE = "ShuffleExchangeExec"
_CALL, _DETAILS = "callSite.short", "callSite.long"


@contextmanager
def job_named(session: Any, name: str) -> Iterator[None]:
    """The name of a job, in place of the caller's own; over Connect it cannot be given."""
    context = getattr(session, "sparkContext", None)
    before = None
    if context is not None:
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(name)
    try:
        yield
    finally:
        if context is not None:
            with suppress(Exception):
                context.setJobDescription(before)


@contextmanager
def stages_named(session: Any, frame: Any, names: Sequence[str]) -> Iterator[None]:
    """The stages of a frame that is run meanwhile, in their order; one more than it has exchanges, or none is named."""
    context = getattr(session, "sparkContext", None)
    if context is None:
        yield
        return
    from pyspark.traceback_utils import SCCallSiteSync

    before = {name: context.getLocalProperty(name) for name in (_CALL, _DETAILS)}
    try:
        with SCCallSiteSync(context):  # type: ignore[no-untyped-call]  # within it, the frame's own call sets no name
            with suppress(Exception):  # these are inner parts of Spark's: without them the stages are named as ever
                _name_stages(context, frame, names)
            yield
    finally:
        with suppress(Exception):  # Java may have gone
            for name, value in before.items():
                context.setLocalProperty(name, value)


def _name_stages(context: Any, frame: Any, names: Sequence[str]) -> None:
    exchanges = list(_exchanges(frame._jdf.queryExecution().executedPlan()))
    if len(exchanges) + 1 != len(names):
        return
    for exchange, name in zip(exchanges, names, strict=False):
        _call(context, name)
        exchange.shuffleDependency()  # makes the data sets up to it
    _call(context, names[-1])


def _call(context: Any, name: str) -> None:
    for place in (_CALL, _DETAILS):
        context.setLocalProperty(place, name)


def _exchanges(plan: Any) -> Iterator[Any]:
    """Those of a plan without branches, the first that runs first."""
    below = plan.children()
    for number in range(below.size()):
        yield from _exchanges(below.apply(number))
    if plan.getClass().getSimpleName() == _EXCHANGE:
        yield plan
