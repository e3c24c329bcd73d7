"""What an address says, and how it is named."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from anabranch.errors import BuildError
from anabranch.operators.formats.addresses import Address, file_at, is_named_as_folder, scheme_of, without_secrets


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def at(text: str) -> Address:
    found = file_at(text)
    assert isinstance(found, Address)
    assert file_at(found.uri) == found
    assert pickle.loads(pickle.dumps(found)) == found
    return found


def test_an_address_has_a_bucket_and_a_path() -> None:
    found = at("s3://bucket/folder/a b%20.csv")
    assert (found.scheme, found.root, found.path, found.name) == ("s3", "bucket", "folder/a b%20.csv", "a b%20.csv")
    assert str(found) == "s3://bucket/folder/a b%20.csv"
    assert str(found.parent / "other") == "s3://bucket/folder/other"
    assert str(at("s3://bucket").parent / "x") == "s3://bucket/x"
    assert at("hdfs://host:8020/folder/in.csv").root == "host:8020"
    assert at("abfs://container@account.dfs.core.windows.net/in.csv").root == "container@account.dfs.core.windows.net"


def test_options_are_told_from_globs() -> None:
    assert at("s3://bucket/part-?.csv").path == "part-?.csv"
    found = at("s3://bucket/part-?.csv?scheme=http&endpoint_override=host:9000")
    assert found.path == "part-?.csv"
    assert dict(found.options) == {"scheme": "http", "endpoint_override": "host:9000"}
    assert str(found) == "s3://bucket/part-?.csv"


def test_what_the_environment_says_goes_with_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://host:9000/")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    found = at("s3://bucket/in.csv?region=us-east-1")
    assert dict(found.options) == {"scheme": "http", "endpoint_override": "host:9000", "region": "us-east-1"}
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert found == file_at(found.uri)


def test_paths_of_this_machine_are_none(tmp_path: Path) -> None:
    for path in ("in.csv", "./s3:/in.csv", "a:b/in.csv", "C:/in.csv", str(tmp_path)):
        assert scheme_of(path) is None
        assert file_at(path) == Path(path)
    assert file_at("file:///folder/a%20b.csv") == Path("/folder/a b.csv")
    assert file_at("file://localhost/in.csv") == Path("/in.csv")


@pytest.mark.parametrize("path", ["out/", "s3://bucket/out/", "s3://bucket/out/?scheme=http", "s3://bucket/"])
def test_a_slash_at_the_end_names_a_folder(path: str) -> None:
    assert is_named_as_folder(path)
    assert not is_named_as_folder(path.replace("/?", "?").rstrip("/"))


@pytest.mark.parametrize(
    "address", ["s3:///in.csv", "gs://", "s3://bucket/a//b.csv", "s3:/bucket/in.csv", "file://host/in.csv", "x-y://z"]
)
def test_what_names_nothing_is_refused(address: str) -> None:
    with pytest.raises(BuildError) as refused:
        file_at(address)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://key:pass/word@bucket/in@csv", "s3://csv"),
        ("s3://key@bucket/in.csv?token=x", "s3://bucket/in.csv"),
        ("s3://key:password", "s3://…"),
        ("hdfs://host:8020/user@place/in.csv", "hdfs://host:8020/user@place/in.csv"),
        ("s3://bucket/user@place/in.csv", "s3://bucket/user@place/in.csv"),
        ("s3:/key:password@bucket/in.csv", "s3:/bucket/in.csv"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert without_secrets(address) == shown
