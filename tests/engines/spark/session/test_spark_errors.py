"""What Spark complains of is said in words, with what to do about it."""

from __future__ import annotations

import sys

import pytest

from anabranch.engines.spark.session.spark_errors import spark_error

FROM_A_WORKER = """An error occurred while calling o151.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:53)
Caused by: org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown: \
Traceback (most recent call last):
  File "worker.py", line 4207, in invoke_udf
    func, profiler, deserializer, serializer = read_udfs(
{raised}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:645)
"""


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ModuleNotFoundError: No module named 'anabranch'", "No module named 'anabranch'; "),
        ("ModuleNotFoundError: No module named 'sklearn'", "No module named 'sklearn'; "),
        (
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
            "different version: 3.11 than that in driver: 3.12, PySpark cannot run with different minor versions.",
            "Python in worker has different version: 3.11 than that in driver: 3.12, PySpark cannot run with different "
            "minor versions; ",
        ),
    ],
)
def test_workers_with_another_python_are_said_to_be_that_and_how_they_get_this_one(raised: str, said: str) -> None:
    error = spark_error(RuntimeError(FROM_A_WORKER.format(raised=raised)))
    assert f"{said}workers use the Python that Spark was told of, not the one that runs the program" in error.message
    assert f"PYSPARK_PYTHON={sys.executable} before the session is made" in (error.hint or "")
    assert "spark.pyspark.python" in (error.hint or "")


@pytest.mark.parametrize(
    ("java_says", "hint"),
    [
        ('java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory', "PYSPARK_PYTHON"),
        ("Asked to launch cluster with 100 MiB/worker but requested 1024 MiB/executor", "spark.executor.memory"),
    ],
)
def test_what_is_known_to_help_is_said(java_says: str, hint: str) -> None:
    error = spark_error(RuntimeError(f"An error occurred while calling o1.x.\n: {java_says}\n\tat Some.scala"))
    assert error.message.endswith(java_says.removeprefix("java.io.IOException: "))
    assert hint in (error.hint or "")


def test_an_error_of_another_kind_is_not_blamed_on_the_python() -> None:
    error = spark_error(RuntimeError(FROM_A_WORKER.format(raised="ValueError: no")))
    assert error.message == "Spark failed: ValueError: no"
    assert error.hint is None
