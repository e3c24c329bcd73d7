"""What goes wrong in Spark itself, in words: the innermost message, not the stack traces of three processes."""

from __future__ import annotations

import re
import sys

from anabranch.errors import RunError, in_words, shortened

# Lines that only say that something was passed on.
_PASSED_ON = re.compile(r"Exception thrown in awaitResult|^An error occurred while calling|^An exception was thrown")
_UNANSWERED = re.compile(r"An error occurred while calling \S+")
_BEFORE = re.compile(r"^(?:Caused by: |: )|^.*?most recent failure: .*?\): |^Job aborted due to stage failure: ")
_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[\w$]+: ")
_CODE = re.compile(r"^\[[A-Z_.]+\] |\s*SQLSTATE: \w+$")
JAVA_HAS_GONE = "its Java has ended, or was killed"
_TRACEBACK = "Traceback (most recent call last):"
# What a worker lacks, or has in another version, where its Python is not the program's.
_OF_ANOTHER_PYTHON = re.compile(r"No module named '|must be installed; however|^Python in worker has different version")
_HINTS = {
    "spark.driver.maxResultSize": 'ab.run(…, spark_conf={"spark.driver.maxResultSize": "0"})',
    "Cannot run program": "PYSPARK_PYTHON, or spark.pyspark.python, has to be a Python that all machines have there",
    "Asked to launch cluster with": "give its workers as much memory as an executor gets, local-cluster[1,1,1024], or "
    "executors less: --spark-conf spark.executor.memory=…",
    "Python worker exited unexpectedly": "a worker was ended from outside, often for want of memory: use fewer "
    "cores or more memory",
}


class SparkError(RunError):
    """Spark itself could not do what was asked of it."""


def is_of_gone_java(problem: BaseException) -> bool:
    """Whether a call to Java got no answer, which is an error without a cause."""
    kind = type(problem).__name__
    if isinstance(problem, EOFError | ConnectionError) or kind == "Py4JNetworkError":
        return True
    return kind == "Py4JError" and _UNANSWERED.fullmatch(str(problem)) is not None


def spark_error(problem: BaseException, doing: str = "Spark failed") -> SparkError:
    said = JAVA_HAS_GONE if is_of_gone_java(problem) else innermost(in_words(problem))
    if _OF_ANOTHER_PYTHON.search(said):
        why = "workers use the Python that Spark was told of, not the one that runs the program"
        return SparkError(f"{doing}: {said.rstrip('.')}; {why}", hint=_use_this_python())
    return SparkError(f"{doing}: {said}", hint=next((hint for part, hint in _HINTS.items() if part in said), None))


def _use_this_python() -> str:
    return (
        f"set PYSPARK_PYTHON={sys.executable} before the session is made, or spark.pyspark.python on its builder "
        "(over Connect: where the server starts); or install what is missing, in the same version, for their Python"
    )


def innermost(text: str) -> str:
    """The message that an exception of Spark's is about.

    >>> innermost("Py4JJavaError: An error occurred while calling o64.getResult.\\n: org.apache.spark.SparkException: "
    ...     "Exception thrown in awaitResult: \\n\\tat Some.scala\\nCaused by: org.apache.spark.SparkException: "
    ...     "Job aborted due to stage failure: Results are bigger than spark.driver.maxResultSize\\n\\tat More.scala")
    'Results are bigger than spark.driver.maxResultSize'
    >>> innermost("[PYTHON_EXCEPTION] Traceback (most recent call last):\\n"
    ...     "  File 'x.py', line 1\\nValueError: no\\n SQLSTATE: 38000\\n\\tat Some.scala")
    'ValueError: no'
    """
    if _TRACEBACK in text:
        lines = [line for line in text.rpartition(_TRACEBACK)[2].splitlines() if line.strip()]
        raised = [line for line in lines if not line.startswith((" ", "\t"))]
    else:
        text = text.partition("JVM stacktrace:")[0]
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t")]
        lines = [re.sub(r"^\w+: (?=An error occurred)", "", line) for line in lines]
        raised = [line for line in lines if not _PASSED_ON.search(line)] or lines
    return shortened(_bare(raised[0]) if raised else text.strip())


def _bare(line: str) -> str:
    """A message without what was put before it on the way."""
    for pattern in (_BEFORE, _JAVA_CLASS, _BEFORE, _JAVA_CLASS, _CODE, _CODE):
        line = pattern.sub("", line, count=1)
    return line
