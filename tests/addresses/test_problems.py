"""What is wrong at an address is said with the user's line and what to do, and nothing that is secret is said."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import read_slice, slices_of
from anabranch.operators.formats import remote_files
from anabranch.operators.formats.addresses import file_at
from tests.addresses.buckets import CREDENTIALS, Bucket
from tests.dataflow.sources.reading.compare import source


class Row(NamedTuple):
    n: int
    text: str


ROWS = [Row(1, "a")]


def read(address: str) -> Any:
    return ab.read_csv(address, Row).collect("out")


def write(address: str) -> Any:
    return ab.from_items(Row, ROWS).write_csv(address)


def write_folder(address: str) -> Any:
    return ab.from_items(Row, ROWS).write_csv(f"{address}/")


EACH = pytest.mark.parametrize("make", [read, write, write_folder])


def problem(make: Callable[[str], Any], address: str) -> str:
    found = set()
    for engine in ("sequential", "fused"):
        with pytest.raises((ab.SourceError, ab.SinkError)) as stopped:
            ab.run(make(address), engine=engine)
        found.add(str(stopped.value))
    [text] = found
    assert "test_problems.py:" in text
    assert "try: " in text
    for value in CREDENTIALS.values():
        assert value not in text
    return text


@EACH
def test_a_bucket_that_is_not_there(make: Callable[[str], Any], bucket: Bucket) -> None:
    assert "s3://no-bucket/in.csv: there is no bucket 'no-bucket'" in problem(make, "s3://no-bucket/in.csv").replace(
        "in.csv/", "in.csv"
    )


def test_a_file_that_is_not_there(bucket: Bucket) -> None:
    assert "no such file" in problem(read, bucket.address("in.csv"))
    assert "no file matches" in problem(read, bucket.address("in/*.csv"))


@EACH
def test_a_server_that_does_not_answer(
    make: Callable[[str], Any], bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        text = problem(make, bucket.address("in.csv"))
    assert "no answer" in text
    assert "127.0.0.1" in text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("ExpiredToken", "the credentials have expired"),
        ("InvalidAccessKeyId", "the credentials are not accepted"),
        ("SignatureDoesNotMatch", "the credentials are not accepted"),
        ("AccessDenied", "access is denied"),
    ],
)
@EACH
def test_credentials_that_are_refused(
    make: Callable[[str], Any],
    answer: str,
    words: str,
    refusing: Callable[[str], int],
    monkeypatch: pytest.MonkeyPatch,
    bucket: Bucket,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{refusing(answer)}")
    text = problem(make, bucket.address("expired.csv"))
    assert words in text
    assert "credentials" in text.partition("try: ")[2]


def test_an_object_that_is_replaced_while_it_is_read(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "_PIECE", 1_000)
    content = b"n,text\n" + b"".join(b"%d,a\n" % n for n in range(1_000, 2_000))
    address = bucket.put("in.csv", content)

    def replaced(row: Row) -> Row:
        if row.n == 1_100:
            bucket.put("in.csv", content.replace(b"a", b"b"))
        return row

    seen: list[Row] = []
    with pytest.raises(ab.SourceError, match="it has changed while it was read"):
        ab.run(ab.read_csv(address, Row).map(replaced).for_each(seen.append), engine="sequential")
    assert {row.text for row in seen} == {"a"}


@pytest.mark.parametrize("kind", ["csv", "parquet", "gz"])
def test_an_object_that_is_replaced_between_cutting_and_reading(kind: str, bucket: Bucket, tmp_path: Path) -> None:
    def content(text: str) -> bytes:
        path = tmp_path / f"{text}.{'parquet' if kind == 'parquet' else 'csv'}"
        stream = ab.from_items(Row, [Row(1, text)])
        ab.run(stream.write_parquet(path) if kind == "parquet" else stream.write_csv(path), engine="sequential")
        return gzip.compress(path.read_bytes()) if kind == "gz" else path.read_bytes()

    address = bucket.put("in", content("a"))
    definition = source("parquet" if kind == "parquet" else "csv", Row, file_at(address))
    slices = slices_of(definition)
    assert slices
    assert [row for part in slices for chunk in read_slice(definition, part, chunk_size=10) for row in chunk.rows] == [
        (1, "a")
    ]
    bucket.put("in", content("b"))
    with pytest.raises(ab.SourceError, match="it has changed since it was found"):
        [list(read_slice(definition, part, chunk_size=10)) for part in slices]
    bucket.delete("in")
    with pytest.raises(ab.SourceError, match="no such file"):
        [list(read_slice(definition, part, chunk_size=10)) for part in slices]


@pytest.mark.parametrize(
    "address",
    [
        "s3://AKIATESTTESTTEST:THE-SECRET-OF-THE-TESTS@bucket/in.csv",
        "s3://AKIATESTTESTTEST:THE-SECRET-OF/THE-SECRET/@bucket/in.csv",
        "s3://AKIATESTTESTTEST:THE-SECRET-OF/THE-SECRET",
        "s3://bucket/in.csv?region=a&secret_key=a?THE-SECRET&=/x",
        "s3://bucket/in.csv?secret_key=THE-SECRET-OF-THE-TESTS",
        "abfs://container:THE-SECRET-OF-THE-TESTS@account.dfs.core.windows.net/in.csv",
        "ftp://me:THE-SECRET-OF-THE-TESTS@host/in.csv",
    ],
)
def test_an_address_with_a_secret_in_it_is_refused_and_not_shown(address: str) -> None:
    for make in (read, write):
        with pytest.raises(ab.BuildError) as refused:
            make(address)
        assert "THE-SECRET" not in str(refused.value)
        assert refused.value.hint


def test_no_secret_is_in_a_plan_or_in_generated_code(bucket: Bucket) -> None:
    bucket.put("in.csv", b"n,text\n1,a\n")
    explained = ab.explain(ab.read_csv(bucket.address("in.csv"), Row).write_csv(bucket.address("out.csv")))
    texts = [explained.to_text(), json.dumps(explained.to_dict()), explained.to_code(), explained.to_html()]
    for value in (CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"]):
        assert not any(value in text for text in texts)
