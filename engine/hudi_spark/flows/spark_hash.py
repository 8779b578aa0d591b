"""Numbers that Spark's hash partitioning sends to a partition of our choice."""

from typing import Final

_SEED: Final = 42
_WORD: Final = 0xFFFFFFFF


def salts_of_parts(parts: int) -> list[int]:
    """For each partition the least number whose hash leads there."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < parts:
        found.setdefault(spark_hash(number) % parts, number)
        number += 1
    return [found[part] for part in range(parts)]


def spark_hash(number: int) -> int:
    """Spark's hash of an int column: Murmur3 of four bytes with seed 42, signed."""
    mixed = _mixed(number & _WORD)
    state = _SEED ^ mixed
    state = (_rotated(state, 13) * 5 + 0xE6546B64) & _WORD
    state ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = ((state ^ (state >> shift)) * factor) & _WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _mixed(word: int) -> int:
    return (_rotated((word * 0xCC9E2D51) & _WORD, 15) * 0x1B873593) & _WORD


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & _WORD
