"""xxHash32 of whole columns: the place of each text on a ring of consistent hashing."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hudi_format.texts import Units, byte_texts

Words = npt.NDArray[np.uint32]

_PRIMES: Final = tuple(np.uint32(prime) for prime in (2654435761, 2246822519, 3266489917, 668265263, 374761393))
_POSITIVE: Final = np.uint32(0x7FFFFFFF)
_STRIPE, _WORD = 16, 4


def ring_places(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """`hudi_format.hashing.bucket_hash` of each text of a column: from 0 to 2^31 - 1.

    Clauses: OW-034.
    """
    values = byte_texts(texts)
    places = np.zeros(len(values), np.int64)
    for numbers, matrix in values.same_lengths():
        places[numbers] = _hashed(matrix) & _POSITIVE
    return places


def _hashed(matrix: Units) -> Words:
    """xxHash32 with seed 0 of each line."""
    count, length = matrix.shape
    first, second, third, fourth, fifth = _PRIMES
    striped = length - length % _STRIPE
    value = _stripes(matrix[:, :striped]) if striped else np.full(count, fifth)
    value = value + np.uint32(length)
    worded = length - length % _WORD
    for word in _words(matrix[:, striped:worded]):
        value = _turned(value + word * third, 17) * fourth
    for at in range(worded, length):
        value = _turned(value + matrix[:, at].astype(np.uint32) * fifth, 11) * first
    value = (value ^ value >> np.uint32(15)) * second
    value = (value ^ value >> np.uint32(13)) * third
    return np.asarray(value ^ value >> np.uint32(16), np.uint32)


def _stripes(matrix: Units) -> Words:
    """The four lanes over the whole stripes of 16 bytes, as one."""
    first, second, *_ = _PRIMES
    zeros = np.zeros(len(matrix), np.uint32)
    lanes = [zeros + first + second, zeros + second, zeros, zeros - first]
    for number, word in enumerate(_words(matrix)):
        lane = number % len(lanes)
        lanes[lane] = _turned(lanes[lane] + word * second, 13) * first
    parts = [_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)]
    return parts[0] + parts[1] + parts[2] + parts[3]


def _words(matrix: Units) -> list[Words]:
    """The columns of little-endian words of 32 bits."""
    if not matrix.shape[1]:
        return []
    words = np.ascontiguousarray(np.ascontiguousarray(matrix).view("<u4").T)
    return list(words.astype(np.uint32))


def _turned(value: Words, by: int) -> Words:
    return value << np.uint32(by) | value >> np.uint32(32 - by)
