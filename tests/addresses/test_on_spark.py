"""Objects are read and written by tasks of a real Spark; its workers have the credentials of their environment."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.addresses.buckets import Bucket

PROGRAM = """
import sys
from typing import NamedTuple
import anabranch as ab

class Row(NamedTuple):
    n: int
    text: str

class Sum(NamedTuple):
    n: int
    total: int

class Total:
    def __init__(self) -> None:
        self.total = 0

    def process(self, row: Row) -> Sum:
        self.total += row.n
        return Sum(row.n, self.total)

def keyed(row: Row) -> Row:
    return Row(row.n, str(row.n % 5))

if __name__ == "__main__":
    address, out, engine = sys.argv[1:]
    rows = ab.read_csv(address, Row).map(keyed).process(Total, key="text")
    options = {"master": "local[2]", "channels": 2} if engine == "spark" else {}
    if out.endswith("gz"):
        ab.run(rows.write_csv(out), engine=engine, **options)
    else:
        ab.run(rows.write_parquet(out + "/"), engine=engine, **options)
"""


@pytest.mark.slow
@pytest.mark.parametrize("out", ["out.csv.gz", "out"])
def test_tasks_of_spark_read_and_write_objects(out: str, bucket: Bucket, tmp_path: Path) -> None:
    for name in "abc":
        bucket.put(f"in/{name}.csv", b"n,text\n" + b"".join(b"%d,x\n" % n for n in range(40_000)))
    (tmp_path / "program.py").write_text(PROGRAM)
    for engine in ("sequential", "spark"):
        command = [sys.executable, "program.py", bucket.address("in/*.csv"), bucket.address(f"{engine}/{out}"), engine]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    assert rows_of(bucket, f"spark/{out}") == rows_of(bucket, f"sequential/{out}")
    assert not [key for key in bucket.keys if key.endswith(".partial")]


def rows_of(bucket: Bucket, out: str) -> list[object]:
    if out.endswith("gz"):
        return list(gzip.decompress(bucket.get(out)).splitlines())
    parts = [key for key in bucket.keys if key.startswith(f"{out}/")]
    assert len(parts) > 1 or out.startswith("sequential")
    return [row for part in parts for row in pq.read_table(io.BytesIO(bucket.get(part))).to_pylist()]
