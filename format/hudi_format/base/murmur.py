"""Where a bloom filter has the bits of a key, for one key and for columns of keys.

A bit is the remainder of a murmur hash; each hash is seeded with the one before.
"""

import struct
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hudi_format.texts import Places, Texts, Units

_MULTIPLIER = 0x5BD1E995
_WORD = 0xFFFFFFFF
# Of fewer texts, hashing one after the other takes less time than a step in columns for each of their words.
_FEW = 6

Words = npt.NDArray[np.uint32]


def bit_positions(key: bytes, hashes: int, bits: int) -> list[int]:
    """The bits of a key: murmur hashes, each seeded with the one before."""
    positions, seed = [], 0
    for _ in range(hashes):
        seed = murmur(key, seed)
        signed = seed - (1 << 32) if seed >= 1 << 31 else seed
        # Java's remainder keeps the sign of the hash, so its magnitude is that of the magnitudes.
        positions.append(abs(signed) % bits)
    return positions


def murmur(data: bytes, seed: int) -> int:
    """MurmurHash2 of 32 bits; its last one to three bytes are signed and in big-endian order, as in Hadoop."""
    value = seed ^ len(data)
    whole = len(data) - len(data) % 4
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        mixed = word * _MULTIPLIER & _WORD
        mixed = (mixed ^ mixed >> 24) * _MULTIPLIER & _WORD
        value = (value * _MULTIPLIER & _WORD) ^ mixed
    tail = struct.unpack(f"{len(data) - whole}b", data[whole:])
    for shift, signed in enumerate(reversed(tail)):
        value ^= signed << (8 * shift) & _WORD
    if tail:
        value = value * _MULTIPLIER & _WORD
    value = (value ^ value >> 13) * _MULTIPLIER & _WORD
    return value ^ value >> 15


def set_bits(texts: Texts, among: Places | None, hashes: int, bits: int) -> bytes:
    """A row of bits with those of the texts set, of all texts or of those at the places `among`."""
    flags = np.zeros(bits, np.uint8)
    for _, matrix in texts.same_lengths(among):
        for positions in _each_position(matrix, hashes, bits):
            flags[positions] = 1
    return np.packbits(flags, bitorder="little").tobytes()


def have_bits(texts: Texts, rows: Sequence[bytes], hashes: int, bits: int) -> npt.NDArray[np.bool_]:
    """Of each text whether any of the rows has all its bits."""
    found = np.zeros(len(texts), np.bool_)
    every = [np.frombuffer(row, np.uint8) for row in rows]
    for places, matrix in texts.same_lengths():
        within = [np.ones(len(places), np.uint8) for _ in rows]
        for positions in _each_position(matrix, hashes, bits):
            byte, shift = positions >> 3, (positions & 7).astype(np.uint8)
            for kept, row in zip(within, every, strict=True):
                np.bitwise_and(kept, row[byte] >> shift, out=kept)
            if not any(kept.any() for kept in within):
                break
        found[places] = np.logical_or.reduce(within)
    return found


def _each_position(matrix: Units, hashes: int, bits: int) -> Iterator[Words]:
    """For each hash the bit of every text; a row of the matrix is a text."""
    mixed, tail = _mixed_words(matrix), _tails(matrix)
    length, multiplier = np.uint32(matrix.shape[1]), np.uint32(_MULTIPLIER)
    seed = np.zeros(len(matrix), np.uint32)
    one_by_one = [line.tolist() for line in mixed.T] if len(matrix) < _FEW else []
    for _ in range(hashes):
        seed ^= length
        if one_by_one:
            seed = np.fromiter(map(_taken, seed.tolist(), one_by_one), np.uint32, len(matrix))
        else:
            for word in mixed:
                seed *= multiplier
                seed ^= word
        if tail is not None:
            seed ^= tail
            seed *= multiplier
        seed ^= seed >> np.uint32(13)
        seed *= multiplier
        seed ^= seed >> np.uint32(15)
        # Java's remainder keeps the sign of the hash, so its magnitude is that of the magnitudes.
        size = np.abs(seed.view(np.int32)).view(np.uint32)
        # Dividing by one number is much faster than its remainder.
        yield size - size // np.uint32(bits) * np.uint32(bits)


def _taken(value: int, mixed: list[int]) -> int:
    """The hash of one text after its whole words, from `value`."""
    for word in mixed:
        value = value * _MULTIPLIER & _WORD ^ word
    return value


def _mixed_words(matrix: Units) -> Words:
    """The whole words of the texts, each mixed on its own: a line a word, a column a text."""
    whole = matrix.shape[1] - matrix.shape[1] % 4
    # A copy of its own: of short columns the transposed view is the texts themselves.
    words = np.array(np.ascontiguousarray(matrix[:, :whole]).view("<u4").T, order="C", copy=True)
    words *= np.uint32(_MULTIPLIER)
    words ^= words >> np.uint32(24)
    words *= np.uint32(_MULTIPLIER)
    return words


def _tails(matrix: Units) -> Words | None:
    """The last one to three bytes of the texts, signed and in big-endian order; None when there are none."""
    left = matrix.shape[1] % 4
    if not left:
        return None
    signed = matrix[:, matrix.shape[1] - left :].astype(np.int8).astype(np.int32)
    values = np.zeros(len(matrix), np.int32)
    for at in range(left):
        values ^= signed[:, at] << np.int32(8 * (left - 1 - at))
    return values.view(np.uint32)
