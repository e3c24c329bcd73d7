"""What goes wrong in Spark itself, in words: the innermost message, not the stack traces of three processes."""

from __future__ import annotations

import re

from anabranch.errors import RunError, in_words, shortened

# Lines that only say that something was passed on.
_PASSED_ON = re.compile(r"Exception thrown in awaitResult|^An error occurred while calling|^An exception was thrown")
_UNANSWERED = re.compile(r"An error occurred while calling \S+")
_BEFORE = re.compile(r"^(?:Caused by: |: )|^.*?most recent failure: .*?\): |^Job aborted due to stage failure: ")
_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[\w$]+: ")
_CODE = re.compile(r"^\[[A-Z_.]+\] |\s*SQLSTATE: \w+$")
JAVA_HAS_GONE = "its Java has ended, or was killed"
_TRACEBACK = "Traceback (most recent call last):"
_HINTS = {
    "No module named 'anabranch": "install anabranch, in the same version, for the Python of Spark's workers",
    "spark.driver.maxResultSize": 'ab.run(…, spark_conf={"spark.driver.maxResultSize": "0"})',
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
    return SparkError(f"{doing}: {said}", hint=next((hint for part, hint in _HINTS.items() if part in said), None))


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
