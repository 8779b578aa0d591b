"""Seeded damage to bytes that were valid once."""

import random

_NUMBERS = (0, 1, -1, 2, 46, 127, 128, 255, 2**15, 2**31 - 1, -(2**31), 2**24, 10**6)


def damage(random_source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """One of the seeds with a few changes of the kinds that find what a parser forgot to check."""
    data = bytearray(random_source.choice(seeds))
    for _ in range(random_source.choice((1, 1, 2, 3, 8))):
        random_source.choice(_CHANGES)(random_source, data, seeds)
    return bytes(data)


def _flip(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    if data:
        data[_place(source, data)] ^= 1 << source.randrange(8)


def _set(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    if data:
        data[_place(source, data)] = source.choice((0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)))


def _number(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    at, width = _place(source, data), source.choice((2, 4, 4, 8))
    number = source.choice(_NUMBERS) % 2 ** (8 * width)
    data[at : at + width] = number.to_bytes(width, source.choice(("big", "little")))


def _cut(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    at = _place(source, data)
    del data[at : at + source.choice((1, 4, 16, 200))]


def _truncate(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    del data[_place(source, data) :]


def _double(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    at = _place(source, data)
    data[at:at] = data[at : at + source.choice((1, 8, 64, 500))]


def _insert(source: random.Random, data: bytearray, _: tuple[bytes, ...]) -> None:
    at = _place(source, data)
    data[at:at] = source.randbytes(source.choice((1, 4, 16)))


def _splice(source: random.Random, data: bytearray, seeds: tuple[bytes, ...]) -> None:
    """The tail of another valid file."""
    other = source.choice(seeds)
    data[_place(source, data) :] = other[source.randrange(len(other) + 1) :]


def _place(source: random.Random, data: bytearray) -> int:
    """A place; heads and tails come up more often than the middle."""
    size = max(len(data), 1)
    edge = min(size, 64)
    return source.choice((source.randrange(size), source.randrange(edge), size - 1 - source.randrange(edge)))


_CHANGES = (_flip, _flip, _set, _set, _number, _number, _cut, _truncate, _double, _insert, _splice)
