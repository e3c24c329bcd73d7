"""The hash that routes keys to channels: of the value alone, the same in every process, on every engine, for ever.

All of it is arithmetic modulo 2**64, from one step:

    mix(x) = the output of SplitMix64 for state x (Steele, Lea and Flood, "Fast splittable pseudorandom number
             generators", 2014): z = x + 0x9E3779B97F4A7C15; z = (z ^ z >> 30) · 0xBF58476D1CE4E5B9;
             z = (z ^ z >> 27) · 0x94D049BB133111EB; z ^ z >> 31

    None                   mix(NONE)
    int, bool              mix(value)
    float                  as the int of the same value where there is one of 64 bits, so that 1.0 goes where 1 goes and
                           -0.0 where 0.0 goes; else mix(FLOAT ^ its bits), where all NaNs have the bits of one
    str, bytes             h = mix(TEXT ^ number of bytes), then h = mix(h ^ word) for each eight bytes, the first byte
                           lowest, the last word filled up with zeros; a str is its UTF-8
    datetime, date         as the int of its microseconds since 1970, without a zone as in UTC
    tuple, list            h = mix(TUPLE ^ number of elements), then h = mix(h ^ hash of the element) for each

Keys that are equal (`graph/values.py`) have equal hashes. hash_native.py computes the same in compiled code.
"""

from __future__ import annotations

import struct
from datetime import date
from typing import Any

from anabranch.operators.windows import microseconds

WORD = 2**64
GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
NONE, FLOAT, TEXT, TUPLE = 0x6E6F6E65, 0x666C6F6174, 0x74657874, 0x7475706C65
NAN_BITS = 0x7FF8000000000000


def key_hash(value: Any) -> int:
    """The hash of a key's value, from 0 to 2**64 - 1."""
    match value:
        case None:
            return mix(NONE)
        case int():
            return mix(value)
        case float():
            return _of_float(value)
        case str():
            return _of_bytes(value.encode())
        case bytes():
            return _of_bytes(value)
        case date():
            return mix(microseconds(value))
        case tuple() | list():
            combined = mix(TUPLE ^ len(value))
            for element in value:
                combined = mix(combined ^ key_hash(element))
            return combined
    raise TypeError(f"a {type(value).__name__} is no key")


def mix(x: int) -> int:
    z = (x + GAMMA) % WORD
    z = (z ^ z >> 30) * FIRST % WORD
    z = (z ^ z >> 27) * SECOND % WORD
    return z ^ z >> 31


def _of_float(value: float) -> int:
    if value != value:
        return mix(FLOAT ^ NAN_BITS)
    if -(2.0**63) <= value < 2.0**63 and value == int(value):
        return mix(int(value))
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return mix(FLOAT ^ int(bits))


def _of_bytes(value: bytes) -> int:
    combined = mix(TEXT ^ len(value))
    for start in range(0, len(value), 8):
        combined = mix(combined ^ int.from_bytes(value[start : start + 8], "little"))
    return combined
