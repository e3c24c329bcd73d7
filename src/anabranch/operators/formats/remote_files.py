"""Files at addresses, by the file systems of Arrow: what is there, reading, writing, copying and deleting.

What a server refuses is an `OSError` whose text says it in plain words, and nothing that is secret.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.operators.formats.addresses import Address

_CONNECT, _REQUEST, _ATTEMPTS = 5.0, 30.0, 3  # seconds, and how often a server is asked that does not answer
_PIECE = 2**20  # bytes that are read at once, and
_SENT = 2**23  # sent
_CREDENTIALS = ("AWS_", "GOOGLE_", "AZURE_", "HADOOP_", "CLOUDSDK_", "JAVA_HOME", "CLASSPATH", "ARROW_LIBHDFS_DIR")


class RemoteProblem(OSError):
    """What a server refused, and what to do."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.hint = hint


class Found(NamedTuple):
    """What is at an address, and for a file its length."""

    is_folder: bool
    size: int


def found_at(address: Address) -> Found | None:
    """What is there; None where nothing is. A bucket that is not there is a problem."""
    with _plainly(address) as (files, path):
        info = files.get_file_info(path)
        if info.type.name == "NotFound":
            _must_have_bucket(address, files)
            return None
        return Found(info.type.name == "Directory", info.size or 0)


def files_below(folder: Address, *, deep: bool) -> list[Address]:
    """The files in a folder, and with `deep` in those in it, in no order; none where it is not there."""
    from pyarrow import fs

    with _plainly(folder) as (files, path):
        found = files.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=deep))
        if not found:
            _must_have_bucket(folder, files)
        start = len(path.rstrip("/")) + 1
        return [replace(folder / each.path[start:], size=each.size) for each in found if each.is_file]


def open_remote(address: Address) -> io.BufferedReader:
    return io.BufferedReader(RemoteFile(address), _PIECE)


class RemoteFile(io.RawIOBase):
    """A file as it is when it is opened. If another one takes its place meanwhile, reading fails: no part of that one
    is taken for a part of this one."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._at = 0
        with _plainly(address) as (files, path):
            self._files, self._path = files, path
            try:
                self._file, self.size, self.version = _opened(files, path)
            except FileNotFoundError:
                _must_have_bucket(address, files)
                raise

    def readinto(self, buffer: Any, /) -> int:
        with _plainly(self._address):
            piece = self._file.read_at(min(len(buffer), max(self.size - self._at, 0)), self._at)
            if piece and _opened(self._files, self._path)[2] != self.version:
                raise RemoteProblem(
                    "it has changed while it was read", "write files under new names, and leave them as they are"
                )
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, place: int, whence: int = 0, /) -> int:
        self._at = place + (0, self._at, self.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _opened(files: Any, path: str) -> tuple[Any, int, str]:
    """A file, its length, and what tells it from another one at the same address."""
    file = files.open_input_file(path)
    size = int(file.size())
    tag = (file.metadata() or {}).get("ETag")
    return file, size, f"{size} {tag.decode() if tag else files.get_file_info(path).mtime_ns}"


def upload(place: Path, address: Address) -> None:
    """A file of this machine, put at an address: it is there whole, or what was there before is."""
    with _plainly(address) as (files, path), place.open("rb") as file:
        if address.scheme == "hdfs":
            files.create_dir(path.rpartition("/")[0], recursive=True)
        pieces = iter(lambda: file.read(_SENT), b"")
        with files.open_output_stream(path) as stream:
            for piece in pieces:
                stream.write(piece)


def copy(source: Address, target: Address) -> None:
    with _plainly(target) as (files, path):
        files.copy_file(_system(source)[1], path)


def delete(address: Address) -> None:
    """A file that is not there is not there afterwards."""
    try:
        with _plainly(address) as (files, path):
            files.delete_file(path)
    except FileNotFoundError:
        pass


def _system(address: Address) -> tuple[Any, str]:
    """The file system of an address, and what that calls the file."""
    said = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith(_CREDENTIALS)))
    files, base = _made(address.scheme, address.root, address.options, said)
    path = f"{base.rstrip('/')}/{address.path}".rstrip("/")
    return files, path or "/" if address.scheme == "hdfs" else path.lstrip("/")


@lru_cache(maxsize=16)
def _made(scheme: str, root: str, options: tuple[tuple[str, str], ...], said: tuple[Any, ...]) -> tuple[Any, str]:
    from pyarrow import fs

    if scheme == "s3":
        given: dict[str, Any] = dict(options)
        if "region" not in given and "endpoint_override" not in given:
            given["region"] = fs.resolve_s3_region(root)
        retry = fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
        return fs.S3FileSystem(**given, connect_timeout=_CONNECT, request_timeout=_REQUEST, retry_strategy=retry), root
    if scheme == "gs":
        options = (*options, ("retry_limit_seconds", str(_CONNECT)))
    query = "&".join(f"{name}={value}" for name, value in options)
    made: tuple[Any, str] = fs.FileSystem.from_uri(f"{scheme}://{root}/" + (f"?{query}" if query else ""))
    return made


# Problems -------------------------------------------------------------------------------------------------------------


@contextmanager
def _plainly(address: Address) -> Iterator[tuple[Any, str]]:
    """What a server says against it, in plain words; what is missing stays a `FileNotFoundError`."""
    try:
        yield _system(address)
    except (FileNotFoundError, RemoteProblem):
        raise
    except Exception as problem:  # Arrow's own classes, and some of Python's
        raise _in_words(address, _reason(address, str(problem))) from None


def _must_have_bucket(address: Address, files: Any) -> None:
    if address.scheme in ("s3", "gs") and files.get_file_info(address.root).type.name == "NotFound":
        raise _no_bucket(address)


def _no_bucket(address: Address) -> RemoteProblem:
    return RemoteProblem(f"there is no bucket '{address.root}'", "check its name and its region, or make it first")


def _reason(address: Address, text: str) -> str:
    """Why a question was refused. Some of them (`HEAD`) are answered by a number alone, so another one is asked."""
    if "Head" not in text or "NETWORK" in text:
        return text
    from pyarrow import fs

    try:
        files, _ = _system(address)
        files.get_file_info(fs.FileSelector(address.root))
    except Exception as problem:
        return str(problem)
    return text


_SILENT = "no answer"
_CHECK = "check them where it is read or written, in the environment of Spark's workers too"
_WORDS: tuple[tuple[str, str, str], ...] = (  # what a server says, what that means, and what to do
    (r"[Ee]xpired", "the credentials have expired", "get new credentials, and run it again"),
    (
        r"InvalidAccessKeyId|INVALID_ACCESS_KEY|SIGNATURE|SignatureDoesNot|UNRECOGNIZED_CLIENT|InvalidToken"
        r"|INVALID_TOKEN|InvalidClientTokenId|INVALID_CLIENT_TOKEN|HTTP status 401",
        "the credentials are not accepted",
        _CHECK.replace("them", "the credentials"),
    ),
    (
        r"ACCESS_DENIED|AccessDenied|HTTP status 403|MISSING_AUTHENTICATION|[Nn]o credentials|PERMISSION_DENIED",
        "access is denied",
        _CHECK.replace("them", "the credentials and what they allow,"),
    ),
    (
        r"NETWORK_CONNECTION|[Cc]ould not (resolve|connect)|UNAVAILABLE|timed? ?out|TIMEOUT",
        _SILENT,
        "check the network",
    ),
    (r"SLOW_DOWN|THROTTL|HTTP status 503", "the server has too much to do", "try it again later"),
    (r"lib(jvm|hdfs)", "hdfs:// needs Java and libhdfs of Hadoop", "set JAVA_HOME, HADOOP_HOME and CLASSPATH"),
)
_NAMES = re.compile(r" ?'[^']*'")  # a file may be called like an error
_SERVER = re.compile(r"(?:Failed to connect to|resolve host:) (\S+)")


def _in_words(address: Address, text: str) -> RemoteProblem:
    text = _NAMES.sub("", text)
    if re.search(r"NO_SUCH_BUCKET|NoSuchBucket|Bucket .*not found", text):
        return _no_bucket(address)
    for pattern, words, hint in _WORDS:
        if re.search(pattern, text):
            server = _SERVER.search(text) if words == _SILENT else None
            return RemoteProblem(f"{words} from {server[1]}" if server else words, hint)
    return RemoteProblem(text.splitlines()[0].partition(" (Request ID")[0] or "it is refused", "check the address")
