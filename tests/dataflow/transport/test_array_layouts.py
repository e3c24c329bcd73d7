"""A copy of an array in another process lies in memory as the original does, so sums over it have the same bits."""

from __future__ import annotations

import io
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.array_layouts import layout_of, reduce_array
from anabranch.run import as_program
from tests.tripwire.unsafe import Apart

random = np.random.default_rng(7)
CUBE = random.random((40, 50, 60)) - 0.5
PACKED = np.zeros(300, np.dtype([("flag", "i1"), ("value", "f8")]))
PACKED["value"] = random.random(300)
ARRAYS: dict[str, Any] = {
    "by rows": CUBE,
    "by columns": np.asfortranarray(CUBE),
    "every second": CUBE[:, ::2],
    "backwards": CUBE[::-1, :, ::-3],
    "turned": CUBE.transpose(1, 0, 2),
    "a column": CUBE[:, 3, :],
    "repeated": np.broadcast_to(CUBE[0, 0], (50, 60)),
    "overlapping": np.lib.stride_tricks.sliding_window_view(CUBE[0, 0], 7),
    "a field": PACKED["value"],
    "not aligned": np.frombuffer(b"x" + CUBE.tobytes(), np.float64, offset=1, count=CUBE.size).reshape(CUBE.shape),
    "of another byte order": CUBE.astype(">f8")[:, ::2],
    "read-only": CUBE[:, ::2].view(),
    "of objects": CUBE[:4].astype(object)[:, ::-2],
    "empty": CUBE[:0, ::2],
    "of no axis": CUBE[0, 0, 0:1].reshape(()),
}
ARRAYS["read-only"].flags.writeable = False


class _Pickler(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        return reduce_array(thing) if type(thing) is np.ndarray else NotImplemented


def copy_of(array: Any) -> Any:
    into = io.BytesIO()
    _Pickler(into, 5).dump(array)
    return pickle.loads(into.getvalue())


@pytest.mark.parametrize("name", ARRAYS)
def test_a_copy_has_the_content_and_the_layout(name: str) -> None:
    array = ARRAYS[name]
    copy = copy_of(array)
    assert copy.dtype == array.dtype
    assert np.array_equal(copy, array)
    assert layout_of(copy) == layout_of(array)
    assert copy.flags.aligned == array.flags.aligned
    if "," in layout_of(array):
        assert copy.flags.writeable == array.flags.writeable


@pytest.mark.parametrize("name", [name for name in ARRAYS if name not in ("of objects", "empty")])
def test_whatever_is_computed_of_it_has_the_same_bits(name: str) -> None:
    array, copy = ARRAYS[name], copy_of(ARRAYS[name])
    for compute in (np.sum, np.mean, np.std, np.sin, lambda a: a.sum(axis=0), lambda a: a.reshape(-1) @ a.reshape(-1)):
        if not (array.ndim == 0 and compute is not np.sum):
            assert np.asarray(compute(array)).tobytes() == np.asarray(compute(copy)).tobytes()


def test_what_is_in_the_gaps_is_not_sent() -> None:
    wide = np.zeros((100, 10_000))
    into = io.BytesIO()
    _Pickler(into, 5).dump(wide[:, 7])
    assert len(into.getvalue()) < 2_000


class Number(NamedTuple):
    n: int


class Real(NamedTuple):
    x: float


STRIDED = CUBE.transpose(2, 0, 1)[::3]


def adds(number: Number) -> Real:
    return Real(float(STRIDED[number.n % 2 :].sum()))


def test_an_operator_gives_the_same_bits_in_a_worker() -> None:
    graph = as_program(ab.from_items(Number, [Number(n) for n in range(10)]).map(adds, out=Real).collect("out")).graph
    assert float(STRIDED.sum()) != float(np.ascontiguousarray(STRIDED).sum()), "else this shows nothing"
    found = run_on(Apart(), compile(graph), Metrics(), channels=2, stretch=3).items("out")
    assert found == sequential.run(graph).items("out")


def test_so_it_does_after_its_state_was_saved() -> None:
    from anabranch.codegen.python.saving import Saver

    saver = Saver(as_program(ab.from_items(Number, []).collect("out")).graph)
    held = saver.load(saver.dump("from_items", {"held": STRIDED}))["held"]
    assert float(held.sum()) == float(STRIDED.sum())


def test_the_tripwire_sees_another_layout() -> None:
    from anabranch.tripwire.values import Identities, Reader

    tokens = {Reader(Identities()).token(each) for each in (STRIDED, np.ascontiguousarray(STRIDED), STRIDED.copy("F"))}
    assert len(tokens) == 3
    assert Reader(Identities()).token(copy_of(STRIDED)) in tokens
