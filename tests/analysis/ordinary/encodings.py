"""Bytes and texts: hashes, base64, struct, URLs, compression, JSON, XML."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import html
import ipaddress
import json
import struct
import uuid
import zlib
from collections.abc import Iterator
from enum import IntEnum
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urljoin
from xml.etree import ElementTree

from .records import Click, Count, Flag, Line, Number, Order, Packet, Text, Trade

OPERATORS = """fingerprint signed bucket decoded_packet as_base64 from_hex compressed as_json stable_id address
    extension quoted escaped as_xml framed checksum_valid Reassembled varint normalised_path salted linked packed"""

SECRET = b"not a secret"
HEADER = struct.Struct(">hHf")
NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NETWORK = ipaddress.ip_network("10.0.0.0/8")


def fingerprint(line: Line) -> Text:
    return Text(line.source, hashlib.sha1(line.text.encode()).hexdigest())


def signed(order: Order) -> Text:
    message = f"{order.customer}:{order.id}".encode()
    return Text(order.customer, hmac.new(SECRET, message, hashlib.sha256).hexdigest()[:16])


def bucket(click: Click) -> Count:
    digest = hashlib.blake2b(click.user.encode(), digest_size=4).digest()
    return Count(click.user, int.from_bytes(digest, "big") % 16)


def decoded_packet(packet: Packet) -> Number:
    raw, number, level = HEADER.unpack(packet.payload)
    return Number(f"{packet.device}/{number}", raw / 10 + level)


def as_base64(packet: Packet) -> Text:
    return Text(packet.device, base64.urlsafe_b64encode(packet.payload).decode("ascii").rstrip("="))


def from_hex(packet: Packet) -> Flag:
    return Flag(packet.device, bytes.fromhex(binascii.hexlify(packet.payload).decode()) == packet.payload)


def compressed(line: Line) -> Count:
    return Count(line.source, len(zlib.compress(line.text.encode() * 20, level=6)))


def as_json(order: Order) -> Text:
    body = {**order._asdict(), "placed": order.placed.isoformat(), "items": sorted(order.items)}
    return Text(order.customer, json.dumps(body, sort_keys=True, separators=(",", ":")))


def stable_id(click: Click) -> Text:
    return Text(click.user, str(uuid.uuid5(NAMESPACE, click.url)))


def address(trade: Trade) -> Flag:
    host = ipaddress.ip_address(f"10.{trade.size % 256}.0.1")
    return Flag(trade.symbol, host in NETWORK and host.is_private)


def extension(click: Click) -> Text:
    path = PurePosixPath(click.url.partition("?")[0])
    return Text(path.name, path.parent.as_posix())


def quoted(line: Line) -> Flag:
    return Flag(line.source, unquote(quote(line.text, safe="")) == line.text)


def escaped(line: Line) -> Text:
    return Text(line.source, html.escape(f"<b>{line.text}</b>"))


def as_xml(order: Order) -> Text:
    root = ElementTree.fromstring(f"<order id='{order.id}'>{''.join(f'<i>{item}</i>' for item in order.items)}</order>")
    return Text(order.customer, ",".join(node.text or "" for node in root.iter("i")))


class Kind(IntEnum):
    PING = 0
    DATA = 1


def framed(packet: Packet) -> Text:
    kind = Kind(packet.number % 2)
    frame = bytearray([kind, len(packet.payload)]) + packet.payload
    frame.append(sum(frame) & 0xFF)
    return Text(kind.name, frame.hex())


def checksum_valid(packet: Packet) -> bool:
    return zlib.crc32(packet.payload) & 1 == 0


class Reassembled:
    """Packets are parts of larger messages."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def process(self, packet: Packet) -> Iterator[Count]:
        self.buffer += packet.payload
        while len(self.buffer) >= 12:
            message = bytes(self.buffer[:12])
            del self.buffer[:12]
            yield Count(packet.device, zlib.adler32(message))


def varint(trade: Trade) -> Text:
    out, n = bytearray(), trade.size
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return Text(trade.symbol, out.hex(" "))


def normalised_path(click: Click) -> Text:
    parts: list[str] = []
    for part in click.url.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return Text(click.user, "/".join(parts))


def salted(line: Line) -> Text:
    hasher = hashlib.sha256(usedforsecurity=False)
    hasher.update(line.source.encode())
    hasher.update(line.text.encode())
    return Text(line.source, hasher.hexdigest()[-8:])


def linked(click: Click) -> Text:
    return Text(click.user, urljoin(click.url, "../about?lang=en"))


def packed(trade: Trade) -> Text:
    return Text(trade.symbol, struct.pack("<8sdi", trade.symbol.encode(), trade.price, trade.size).hex())
