"""The heuristics choose by the equations of paper 004, section 6."""

from __future__ import annotations

import pytest

from anabranch.workers.heuristics import (
    HEURISTICS,
    CurrentThroughput,
    EstimatedTime,
    LastInPipeline,
    QueueSizeThrottling,
    heuristic_by,
    share_of,
)
from anabranch.workers.stages import Stage


def stage(name: str, level: int, **known: float) -> Stage:
    made = Stage(name, level, {}, 4)
    for field, value in known.items():
        setattr(made, field, value)
    return made


def chain() -> list[Stage]:
    """1,000 tuples were read; the first operator keeps a tenth, the second makes three of one."""
    return [
        stage("reading", 0, received=1000, emitted=1000, seconds=0.001),
        stage("filter", 1, received=1000, emitted=100, seconds=0.01, waiting=500),
        stage("flat_map", 2, received=100, emitted=300, seconds=0.01, waiting=40),
        stage("count", 3, received=300, emitted=300, seconds=0.03, waiting=60),
    ]


def test_the_share_of_a_stage_is_what_comes_to_it_of_each_tuple_read() -> None:
    stages = chain()
    assert [share_of(each, stages) for each in stages] == [1.0, 1.0, 0.1, 0.3]


def test_a_stage_that_has_done_nothing_counts_as_one_that_keeps_all() -> None:
    stages = [*chain(), stage("new", 4)]
    assert share_of(stages[-1], stages) == 1.0
    assert stages[-1].selectivity == 1.0
    assert stages[-1].cost > 0


def test_lp_takes_the_last_stage() -> None:
    stages = chain()
    assert LastInPipeline().choose(stages[:3], stages).name == "flat_map"


def test_qst_takes_the_first_stage_whose_output_queue_is_below_its_threshold() -> None:
    """Equation 1: shares of what is emitted are 1 : 0.1 : 0.3 : 0.3 of 1.7."""
    stages = chain()
    # The queues behind reading, filter, flat_map and count hold 500, 40, 60 and 0 tuples.
    assert QueueSizeThrottling(1_700).choose(stages, stages).name == "reading"  # 500 < 1,000
    assert QueueSizeThrottling(800).choose(stages, stages).name == "filter"  # 500 > 470, 40 < 47
    assert QueueSizeThrottling(500).choose(stages, stages).name == "flat_map"  # 40 > 29, 60 < 88
    assert QueueSizeThrottling(100).choose(stages, stages).name == "count"  # 60 > 17, 0 < 17


def test_et_takes_the_stage_whose_worklist_takes_longest() -> None:
    """Equation 2: 500 × 10 µs, 40 × 100 µs and 60 × 100 µs."""
    stages = chain()
    assert EstimatedTime().choose(stages, stages).name == "count"
    stages[3].workers = 1  # the next would halve it: 3 ms
    assert EstimatedTime().choose(stages, stages).name == "filter"


def test_ct_takes_the_stage_that_has_done_the_least_of_what_it_has_to() -> None:
    """Equation 3: worker time over the cost of what comes of a tuple read (10, 10 and 30 µs)."""
    stages = chain()
    for each, recent in zip(stages, [0.002, 0.01, 0.009, 0.028], strict=True):
        each.recent = recent
    ct = CurrentThroughput(0.01)
    assert ct.choose(stages, stages).name == "flat_map"  # 2,000, 1,000, 900 and 933 tuples
    stages[2].workers = 1
    assert ct.choose(stages, stages).name == "count"


def test_all_are_known_by_their_names() -> None:
    assert [type(heuristic_by(name, 0.01)).__name__ for name in HEURISTICS] == [
        "CurrentThroughput",
        "LastInPipeline",
        "EstimatedTime",
        "QueueSizeThrottling",
    ]
    with pytest.raises(ValueError, match="no heuristic 'FIFO'"):
        heuristic_by("FIFO", 0.01)
