"""What a user may ask of Spark is looked at before it starts, and a Spark that does not start leaves nothing behind."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

import anabranch as ab
from anabranch.engines.spark.session import starting
from anabranch.engines.spark.session.session import SparkError, SparkOptions, spark_options
from anabranch.errors import UsageError


class Item(NamedTuple):
    n: int


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ({"spark": "x"}, "spark='x' is no Spark session", "SparkSession.builder"),
        ({"spark": SparkSession}, "spark=class SparkSession is no Spark session", "SparkSession.builder"),
        ({"master": 4}, "master=4 is no address", "local[4]"),
        ({"master": "sc://host:port"}, "sc://host:port is no address of a Spark Connect", "sc://localhost:15002"),
        ({"master": "sc://host:99999"}, "sc://host:99999 is no address of a Spark Connect", "sc://localhost:15002"),
        ({"master": "sc://"}, "sc:// is no address of a Spark Connect", "sc://localhost:15002"),
        ({"master": "spark://host"}, "master='spark://host' names no port", "spark://host:7077"),
        (
            {"master": "spark://host:port"},
            "master='spark://host:port' is no address of a Spark master",
            "spark://host:",
        ),
        ({"master": "spark://a:1,b"}, "master='spark://a:1,b' names no port", "spark://host:7077"),
        ({"master": "spark://:7077"}, "master='spark://:7077' is no address of a Spark master", "spark://host:7077"),
        ({"master": "spark://h:1/x"}, "master='spark://h:1/x' is no address of a Spark master", "spark://host:7077"),
        ({"master": "nonsense"}, "master='nonsense' is none that Spark knows", "local[4]"),
        ({"master": "local[x]"}, "master='local[x]' is none that Spark knows", "local[4]"),
        ({"spark_conf": {"spark.master": "x"}}, "spark.master=x is none that Spark knows", "local[4]"),
        (
            {"spark_conf": {"spark.master": "local[2]"}, "master": "local[1]"},
            "master='local[1]' and spark.master=local[2] are two places",
            "one of them",
        ),
        ({"master": "local[0]"}, "master='local[0]' is none that Spark knows", "local[4]"),
        ({"master": ""}, "master='' is none that Spark knows", "local[4]"),
        ({"spark_conf": "a=b"}, "spark_conf='a=b' has no settings by name", "spark.executor.memory"),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_makes_no_sense_is_refused_at_the_callers_line(
    options: dict[str, Any], said: str, hint: str, is_stream: bool, tmp_path: Path
) -> None:
    run: Any = partial(ab.run, engine="spark")
    if is_stream:
        run = partial(ab.start, checkpoint=tmp_path / "state")
    with pytest.raises(UsageError) as refused:
        run(ab.from_items(Item, [Item(1)]).collect("out"), **options)
    assert said in refused.value.message
    assert hint in (refused.value.hint or "")
    assert refused.value.location is not None
    assert refused.value.location.file == __file__
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[4]", "local[*, 4]", "local-cluster[2,1,1024]", "yarn", "k8s://https://h:1", "own://x"],
)
def test_what_spark_may_know_is_left_to_it(master: str) -> None:
    assert spark_options(None, master, None, False).master == master


def test_where_spark_runs_may_be_said_as_a_setting() -> None:
    found = spark_options(None, None, {"spark.master": "local[3]", "a": "b"}, False)
    assert (found.master, found.conf) == ("local[3]", {"a": "b"})


def test_settings_are_text_as_spark_has_them() -> None:
    given = {"spark.task.cpus": 1, "spark.shuffle.compress": False, "spark.app.name": "x"}
    found = spark_options(None, None, given, False).conf
    assert found == {"spark.task.cpus": "1", "spark.shuffle.compress": "false", "spark.app.name": "x"}


def test_a_port_that_is_none_in_the_environment_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://host:port")
    with pytest.raises(UsageError, match="sc://host:port is no address"):
        starting.start_session(SparkOptions())


@pytest.mark.parametrize(
    ("master", "java_says", "said", "has_hint"),
    [
        ("nonsense", "Could not parse Master URL: 'nonsense'", "Could not parse Master URL", True),
        (
            "spark://127.0.0.1:9",
            "Cannot call methods on a stopped SparkContext.",
            "no Spark master answers at spark://127.0.0.1:9",
            True,
        ),
        ("local[2]", "Cannot call methods on a stopped SparkContext.", "Cannot call methods on a stopped", False),
    ],
)
def test_a_master_that_is_none_is_said_with_those_there_are(
    master: str, java_says: str, said: str, has_hint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError(java_says)

    monkeypatch.setattr(starting, "_built", broken)
    monkeypatch.setattr(starting, "master_must_answer", lambda master: None)
    with pytest.raises(SparkError) as failed:
        starting.start_session(SparkOptions(master=master))
    assert said in failed.value.message
    assert ("--master" in (failed.value.hint or "")) is has_hint


def test_a_spark_that_does_not_start_leaves_no_folder_and_no_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        assert list(tmp_path.glob("anabranch-spark-*")), "the folder is there while Spark starts"
        raise RuntimeError("no room")

    root, py4j = logging.getLogger(), logging.getLogger("py4j")
    monkeypatch.setattr(root, "filters", [])
    monkeypatch.setattr(py4j, "level", logging.WARNING)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(starting, "_built", broken)
    with pytest.raises(SparkError, match="Spark does not start"):
        starting.start_session(SparkOptions(master="local-cluster[1,1,512]"))
    assert list(tmp_path.iterdir()) == []
    assert root.filters == []
    assert py4j.level == logging.WARNING
