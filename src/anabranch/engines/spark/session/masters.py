"""Addresses of where Spark runs, looked at before Java starts: Spark itself would try for minutes, without a word."""

from __future__ import annotations

import logging
import os
import re
import socket
from enum import Enum
from urllib.parse import urlsplit

from anabranch.engines.spark.session.spark_errors import SparkError
from anabranch.errors import UsageError

MASTERS = "master= (--master) is where Spark runs: local[4], spark://host:7077, sc://host:15002"
STANDALONE, CONNECT = "spark://", "sc://"
_CONNECT_PORT = 15002  # of servers whose address names none
_SECONDS_TO_ANSWER = 3
# Where there is a scheme, only Spark knows whether somebody has taught it that one.
_NAMES = re.compile(r"yarn|local(\[\s*(\*|0*[1-9]\d*)\s*(,\s*\d+\s*)?\])?|local-cluster\[[\d\s,]+\]|.+://.+")
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")

_log = logging.getLogger("anabranch")


class _Contact(Enum):
    """What comes of calling an address."""

    ANSWERED = ""
    REFUSED = "the connection was refused"
    UNKNOWN = "there is no such host"
    SILENT = "no answer"


def must_be_a_master(master: str, said: str) -> None:
    """Refuse what is no address; `said` is how the user gave it."""
    if master.startswith(CONNECT):
        _address_of_server(master)
    elif master.startswith(STANDALONE):
        _addresses_of_masters(master, said)
    elif not _NAMES.fullmatch(master):
        raise UsageError(f"{said} is none that Spark knows", hint=MASTERS)


def _host_and_port(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port
    except ValueError:  # what stands for a port is none
        return None, None


def _contact(host: str, port: int) -> _Contact:
    try:
        socket.create_connection((host, port), _SECONDS_TO_ANSWER).close()
    except ConnectionRefusedError:
        return _Contact.REFUSED
    except (socket.gaierror, UnicodeError):
        return _Contact.UNKNOWN
    except OSError:
        return _Contact.SILENT
    return _Contact.ANSWERED


# The master of a standalone cluster -----------------------------------------------------------------------------------


def addresses_of_masters(master: str) -> list[tuple[str, int]]:
    """The host and port of each: a master that may fail has others, spark://one:7077,two:7077."""
    return _addresses_of_masters(master, f"master={master!r}")


def _addresses_of_masters(master: str, said: str) -> list[tuple[str, int]]:
    found = []
    for each in master.removeprefix(STANDALONE).split(","):
        host, port = _host_and_port(STANDALONE + each)
        if not host or port is None or re.search("[/?#@]", each):
            is_short = host == each.lower()
            raise UsageError(
                f"{said} {'names no port' if is_short else 'is no address of a Spark master'}",
                hint="for example spark://host:7077, with the port that is usual",
            )
        found.append((host, port))
    return found


def master_must_answer(master: str) -> None:
    """Spark would ask for a minute, and then fail for another reason."""
    contacts = [_contact(*address) for address in addresses_of_masters(master)]
    if _Contact.ANSWERED in contacts:
        return
    if _Contact.SILENT not in contacts:
        raise SparkError(f"no Spark master answers at {master}: {contacts[0].value}", hint=MASTERS)
    _log.warning(f"no answer from {master} in {_SECONDS_TO_ANSWER} s; Spark tries on for a minute")


# A server of Spark Connect --------------------------------------------------------------------------------------------


def server_must_listen(url: str) -> None:
    """Connect itself would try for ten minutes before it says that nobody is there."""
    contact = _contact(*_address_of_server(url))
    # To a host that only a proxy knows there is another way.
    is_near = not any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES)
    if contact is _Contact.REFUSED or (contact is _Contact.UNKNOWN and is_near):
        raise SparkError(f"no Spark Connect server listens at {url}: {contact.value}", hint=MASTERS)


def _address_of_server(url: str) -> tuple[str, int]:
    host, port = _host_and_port(url)
    if not host:
        raise UsageError(f"{url} is no address of a Spark Connect server", hint="for example sc://localhost:15002")
    return host, port or _CONNECT_PORT
