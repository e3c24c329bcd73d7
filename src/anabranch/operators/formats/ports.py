"""What a TCP port may be."""

from __future__ import annotations

from anabranch.errors import BuildError


def check_port(port: object) -> None:
    """A port of a connection is an int; its host is given apart."""
    if type(port) is not int or not 0 < port < 2**16:
        raise BuildError(f"port={port!r} is not a port", hint="use an int from 1 to 65535; the host goes into host=")
