"""Which key of Spark's leads to which partition: so that every partition of the state gets its share of channels."""

from __future__ import annotations

_SEED = 42  # of the hashes by which Spark partitions
_WORD = 0xFFFFFFFF


def routes(channels: int, partitions: int) -> list[int]:
    """For each channel a key of its own. They are hashed to the partitions in turn."""
    found: dict[int, int] = {}
    key = 0
    while len(found) < channels:
        partition = _signed(murmur3(key)) % partitions
        channel = next((each for each in range(partition, channels, partitions) if each not in found), None)
        if channel is not None:
            found[channel] = key
        key += 1
    return [found[channel] for channel in range(channels)]


def murmur3(value: int) -> int:
    """The hash of an int of 32 bits (Murmur3, the 32-bit variant, one block)."""
    block = _turned((value & _WORD) * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    mixed = (_turned(_SEED ^ block, 13) * 5 + 0xE6546B64) & _WORD
    mixed ^= 4  # its length in bytes
    mixed = (mixed ^ (mixed >> 16)) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ (mixed >> 13)) * 0xC2B2AE35 & _WORD
    return mixed ^ (mixed >> 16)


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
