"""Frames on their way to workers: in a file where all see it, and otherwise within the program."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.frames import reduce_frame
from anabranch.dataflow.transport.shipping import read_job, ship
from anabranch.engines.on_transport import run_on
from anabranch.operators.sources.frames import Frame
from tests.codegen.exactness import exact
from tests.dataflow.simulated import Simulated


class Row(NamedTuple):
    key: str
    value: float | None


def frame() -> Frame:
    texts = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()])
    return Frame((texts.slice(1), [1.5, math.nan, "no number"]))


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_frame_arrives_as_it_was(tmp_path: Path, is_shared: bool) -> None:
    make, arguments = reduce_frame(frame(), str(tmp_path) if is_shared else "")
    assert len(list(tmp_path.glob("*.arrow"))) == is_shared
    found = make(*pickle.loads(pickle.dumps(arguments)))
    assert found.columns[0].to_pylist() == ["b", "c", None]
    assert str(found.columns[1]) == "[1.5, nan, 'no number']"
    assert found.rows(1, 3)[0].to_pylist() == ["c", None]


@pytest.mark.parametrize("is_shared", [True, False])
def test_tasks_read_the_frame_that_a_program_was_sent_with(is_shared: bool) -> None:
    table = pd.DataFrame({"key": list("abcdefg"), "value": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0]})
    source = ab.from_pandas(table, Row).filter(lambda row: row.key != "c")
    program = ab.run(source.collect("out"), engine="sequential")

    class Sending(Simulated):
        def rows(self, job: Any, given: Any = None) -> Any:
            shipped = ship(job)
            assert (len(list(Path(job.scratch).glob("*.arrow"))) > 0) is is_shared
            return super().rows(read_job(shipped), given)

    transport = Sending(shares_files=is_shared)
    found = run_on(transport, compile(program.plan.graph), Metrics(), channels=3, stretch=2)
    assert exact(found.items("out")) == exact(program.items("out"))
