"""Paths that are addresses (`s3://bucket/calls.csv`): what is one, what it says, and how messages name it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from anabranch.errors import BuildError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")  # with one slash, as a `Path` has it
_OPTIONS = re.compile(r"\?([A-Za-z_]+=.*)$", re.DOTALL)  # at the end; other `?` are of globs
_PASSWORD = re.compile(r"[^/:]*:(?!\d*(/|$))")  # a name and a colon, but no port
_OPTIONS_OF: Mapping[str, tuple[str, ...]] = {
    "s3": ("endpoint_override", "region", "scheme"),
    "gs": ("endpoint_override", "scheme"),
    "abfs": ("blob_storage_authority", "dfs_storage_authority", "enable_tls"),
    "hdfs": ("replication", "user"),
}
_IN_ENVIRONMENT = "credentials are taken from the environment, as by other programs: for s3 AWS_ACCESS_KEY_ID and so on"


@dataclass(frozen=True, order=True)
class Address:
    """A place in an object store, or in a file system of other machines. It holds nothing that is secret.

    Where the environment says which server is asked, it is an option from then on: workers ask the same one.
    """

    scheme: str
    root: str  # the bucket; the server of a file system
    path: str  # below it, without a slash at its ends
    options: tuple[tuple[str, str], ...] = ()
    size: int | None = field(default=None, compare=False)  # of a file that was found in a list

    def __str__(self) -> str:
        return f"{self.scheme}://{self.root}/{self.path}"

    @property
    def uri(self) -> str:
        """All of it, as text of which `file_at` makes it again."""
        query = "&".join(f"{name}={value}" for name, value in self.options)
        return f"{self}?{query}" if query else str(self)

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> Address:
        return replace(self, path=self.path.rpartition("/")[0], size=None)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.path.split("/")) if self.path else ()

    def __truediv__(self, name: str) -> Address:
        return replace(self, path=f"{self.path}/{name}" if self.path else name, size=None)

    def with_name(self, name: str) -> Address:
        return self.parent / name

    def is_below(self, folder: Address) -> bool:
        return replace(self, path="") == replace(folder, path="") and self.parts[: len(folder.parts)] == folder.parts


FilePath: TypeAlias = Path | Address


def scheme_of(path: str) -> str | None:
    """The first word of an address; None of a path in a file system."""
    found = _SCHEME.match(path)
    return None if found is None else found[1].lower()


def without_secrets(address: str) -> str:
    """An address as it may be shown: without who asks, and without its options."""
    found = _SCHEME.match(address)
    start = 0 if found is None else found.end()
    plain = _OPTIONS.sub("", address[start:])
    root = plain.partition("/")[0]
    if _PASSWORD.match(plain):  # a password may hold slashes
        plain = plain.rpartition("@")[2] if "@" in plain else "…"
    elif "@" in root:
        plain = plain[root.rindex("@") + 1 :]
    return address[:start] + plain


def file_at(path: str | os.PathLike[str] | Address) -> FilePath:
    """What a text names; a `BuildError` where it is an address that nothing can be read from."""
    if isinstance(path, Address):
        return path
    text = os.fspath(path)
    scheme = scheme_of(text)
    if scheme is None:
        return Path(path)
    if isinstance(path, os.PathLike) or "://" not in text:
        raise BuildError(
            f"{without_secrets(text)}: a Path cannot hold an address", hint=f'give it as text: "{scheme}://…"'
        )
    if scheme == "file":
        return _local(text)
    if scheme not in _OPTIONS_OF:
        raise BuildError(
            f"{without_secrets(text)}: there is no way to read or write at {scheme}://",
            hint=f"copy what is there, or use one of {', '.join(f'{each}://' for each in (*_OPTIONS_OF, 'file'))}",
        )
    return _parsed(scheme, text)


def is_named_as_folder(path: object) -> bool:
    """Whether a text ends with a slash, before its options if it has such."""
    return isinstance(path, str) and (_OPTIONS.sub("", path) if scheme_of(path) else path).endswith("/")


def _local(text: str) -> Path:
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise BuildError(
            f"{without_secrets(text)}: this names another machine, or no path", hint="write file:///folder/calls.csv"
        )
    return Path(unquote(text[text.index(parts.path) :]))


def _parsed(scheme: str, text: str) -> Address:
    shown = without_secrets(text)
    options = _options(scheme, text, shown)
    root, _, path = _OPTIONS.sub("", text).partition("://")[2].partition("/")
    account, has_account, host = root.rpartition("@")
    is_container = scheme == "abfs" and account and ":" not in account
    if _PASSWORD.match(root) or (has_account and not is_container):
        raise BuildError(
            f"{shown}: an address with a name or a password in it", hint=f"leave it out: {_IN_ENVIRONMENT}"
        )
    if not host and scheme != "hdfs":
        raise BuildError(f"{shown}: the address names no {'account' if scheme == 'abfs' else 'bucket'}", hint=_EXAMPLE)
    path = path.strip("/")
    if "//" in path:
        raise BuildError(f"{shown}: there is a name without a letter in it, between two slashes", hint=_EXAMPLE)
    return Address(scheme, root, path, tuple(sorted(options.items())))


_EXAMPLE = 'for example "s3://bucket/folder/calls.csv"'


def _options(scheme: str, text: str, shown: str) -> dict[str, str]:
    query = _OPTIONS.search(text)
    options = dict(each.partition("=")[::2] for each in query[1].split("&")) if query else {}
    for name in options:
        if name not in _OPTIONS_OF[scheme]:
            raise BuildError(
                f"{shown}: there is no option '{name}'",
                hint=f"the options of {scheme}:// are {', '.join(_OPTIONS_OF[scheme])}; {_IN_ENVIRONMENT}",
            )
    return {**_said_by_environment(), **options} if scheme == "s3" else options


def _said_by_environment() -> dict[str, str]:
    """Which server, and which region, as other programs that use S3 are told."""
    found = {}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        scheme, has_scheme, server = endpoint.rpartition("://")
        found["endpoint_override"] = server.rstrip("/")
        if has_scheme:
            found["scheme"] = scheme
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region:
        found["region"] = region
    return found
