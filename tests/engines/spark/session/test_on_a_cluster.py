"""On a standalone cluster: who waits for it says for what, and goes on when there is room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.spark.session.standalone import standalone_cluster
from tests.engines.spark.session.test_kinds_of_sessions import Process, cache, process

__all__ = ["cache", "process"]  # fixtures

pytestmark = pytest.mark.slow

HERE = '{"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}'


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster") / "spark", cores=2, memory="1g") as address:
        yield address


TOO_LARGE = """
import logging, os, signal
import anabranch as ab
from checked import running

class Interrupts(logging.Handler):
    def emit(self, record):
        print(record.getMessage())
        os.kill(os.getpid(), signal.SIGINT)

logging.getLogger("anabranch").addHandler(Interrupts())
try:
    ab.run(running, engine="spark", master="MASTER", spark_conf={**HERE, "spark.executor.memory": "4g"})
except KeyboardInterrupt:
    print("interrupted")
"""


def test_executors_that_are_larger_than_the_worker_are_said_to_be(process: Process, master: str) -> None:
    printed, _ = process.run(TOO_LARGE.replace("MASTER", master).replace("HERE", HERE))
    assert printed.splitlines() == [
        f"waiting: no executor of {master} has come yet",
        "  asked for: executors with 4,096 MB and all free cores of a worker each",
        "  there: 127.0.0.1 with 2 of 2 cores and 1,024 of 1,024 MB free",
        "  try: no worker has so much memory: --spark-conf spark.executor.memory=1024m, or less",
        "interrupted",
    ]


HELD = """
import logging, os, subprocess, sys
from checked import check

holder = subprocess.Popen([sys.executable, "-c", '''
import sys
from anabranch.engines.spark.session.session import session_for, spark_options
session = session_for(spark_options(None, "MASTER", {**HERE, "spark.executor.memory": "512m"}, False, "holder"))
print(session.range(4).count(), flush=True)
sys.stdin.read()
session.stop()
'''], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": sys.path[0]})
assert holder.stdout.readline() == b"4\\n"

class Releases(logging.Handler):
    def emit(self, record):
        print(record.getMessage())
        if "held" in record.getMessage():
            holder.stdin.close()

logging.getLogger("anabranch").addHandler(Releases())
check(master="MASTER", channels=2, spark_conf={**HERE, "spark.executor.memory": "512m"})
holder.wait()
"""


def test_cores_that_another_application_holds_are_waited_for(process: Process, master: str) -> None:
    process.patience = 600  # two applications, one behind the other
    printed, _ = process.run(HELD.replace("MASTER", master).replace("HERE", HERE))
    said = f"""\
waiting: no executor of {master} has come yet
  asked for: executors with 512 MB and all free cores of a worker each
  there: 127.0.0.1 with 0 of 2 cores and 512 of 1,024 MB free
  held: 2 cores by 'holder'
  try: wait until others have ended, or have them take less: spark.cores.max, spark.executor.memory
"""
    assert said in printed
    assert printed.splitlines()[-1] == "exact []"
