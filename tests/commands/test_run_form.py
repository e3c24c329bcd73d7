"""`anabranch run --form`: how generated code is made shows in nothing but its speed, and in what it refuses."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from anabranch.cli import main
from anabranch.graph.forms import FORMS

APP = """
from pathlib import Path
from typing import NamedTuple
import anabranch as ab

class Sale(NamedTuple):
    shop: str
    price: int

class Total(NamedTuple):
    shop: str
    paid: int

def sale(number: int) -> Sale:
    return Sale("abc"[number % 3], number * number % 17)

def reduced(sale: Sale) -> Sale:
    return Sale(sale.shop, (sale.price * 9) // 10)

def shouted(sale: Sale) -> Sale:
    return Sale(sale.shop.upper(), sale.price)

@ab.app
def totals(out: Path, loud: bool = False):
    sales = ab.beacon(Sale, sale, count=1000).map(shouted if loud else reduced)
    sales.window(ab.tumbling(count=4), key="shop").aggregate(
        Total, shop=ab.first("shop"), paid=ab.sum_("price")).write_csv(out)
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))
    Path("shop.py").write_text(textwrap.dedent(APP))
    return "shop.py"


def run(app: str, form: str, *options: str) -> int:
    return main(["run", app, "--engine", "fused", "--form", form, "--out", f"{form}.csv", *options])


def test_every_form_writes_the_same_file(app: str) -> None:
    assert main(["run", app, "--engine", "sequential", "--out", "expected.csv"]) == 0
    expected = Path("expected.csv").read_bytes()
    assert expected.count(b"\n") > 250
    for form in FORMS:
        assert run(app, form) == 0
        assert Path(f"{form}.csv").read_bytes() == expected, form


def test_the_native_form_is_compiled_and_the_python_form_is_not(app: str) -> None:
    assert run(app, "python") == 0
    assert not Path("cache").exists()
    assert run(app, "native") == 0
    assert any(Path("cache").iterdir())


def test_an_unknown_form_is_refused_with_those_there_are(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        run(app, "fast")
    assert refused.value.code == 2
    message = capsys.readouterr().err
    assert "--form" in message
    assert "'fast'" in message
    assert all(form in message for form in FORMS)
    assert not Path("fast.csv").exists()


def test_native_where_it_cannot_be_names_the_operator_and_its_line(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app, "native", "--loud") == 2
    message = capsys.readouterr().err
    line = 1 + APP.splitlines().index("    return Sale(sale.shop.upper(), sale.price)")
    assert "cannot be had: `shouted` handles strings" in message
    assert f"shop.py:{line} " in message
    assert not Path("native.csv").exists()
    assert run(app, "auto", "--loud") == 0
