"""Paths that are addresses (`s3://bucket/calls.csv`): what is one, and how it is named in messages."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")  # with one slash, as a `Path` has it
_ACCOUNT = re.compile(r"(:/+)[^/]*@")  # who asks: it may hold a password


def scheme_of(path: str) -> str | None:
    """The first word of an address; None of a path in a file system."""
    found = _SCHEME.match(path)
    return None if found is None else found[1].lower()


def without_secrets(address: str) -> str:
    """An address as it may be shown: without who asks, and without its options."""
    return _ACCOUNT.sub(r"\1", address).partition("?")[0]
