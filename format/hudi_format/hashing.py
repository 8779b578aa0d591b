"""The hash functions that decide where a record lies and under which key an index finds a file.

java_string_hash      String.hashCode: 31 * h + UTF-16 unit, 32 bits, signed
java_list_hash        List.hashCode over strings, from 1
bucket_id             simple bucket index: list hash without its sign, modulo buckets
bucket_hash           consistent hashing: xxHash32, seed 0, without its sign
file_group_index      metadata table: |string hash| modulo file groups
column, partition id  xxHash64, big-endian, Base64; file id: MD5, Base64
"""

import base64
import hashlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from hudi_format.texts import Units, utf16_texts

_WORD: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000
_POSITIVE: Final = 0x7FFFFFFF
# The Java int 0xDABADABA; the 64-bit hash takes it with its sign extended.
_SEED_32: Final = 0xDABADABA
_SEED_64: Final = 0xFFFFFFFFDABADABA
_UNPARTITIONED_NAME: Final = "."


class HashBits(IntEnum):
    """The widths that a hash id has."""

    BITS_32 = 32
    BITS_64 = 64
    BITS_128 = 128


def java_string_hash(text: str) -> int:
    """`String.hashCode` of Java, a signed 32-bit number."""
    value = 0
    if text.isascii():
        for unit in text.encode("ascii"):
            value = value * 31 + unit & _WORD
    else:
        units = text.encode("utf-16-be", "surrogatepass")
        for at in range(0, len(units), 2):
            value = value * 31 + (units[at] << 8 | units[at + 1]) & _WORD
    return _signed(value)


def java_string_hashes(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int32]:
    """`java_string_hash` of each text of a column of strings; zero for a null."""
    values = utf16_texts(texts)
    hashes = np.zeros(len(values), np.uint32)
    for places, matrix in values.same_lengths():
        # Of texts that are longer than many, each is one sum: unit for unit, a few long ones would take seconds.
        hashes[places] = _sums(matrix) if len(places) < matrix.shape[1] else _unit_for_unit(matrix)
    return hashes.view(np.int32)


def _sums(matrix: Units) -> npt.NDArray[np.uint32]:
    powers = np.uint32(31) ** np.arange(matrix.shape[1], dtype=np.uint32)[::-1]
    return np.array([row.astype(np.uint32) @ powers for row in matrix], np.uint32)


def _unit_for_unit(matrix: Units) -> npt.NDArray[np.uint32]:
    value = np.zeros(len(matrix), np.uint32)
    for units in np.ascontiguousarray(matrix.T):
        value *= np.uint32(31)
        value += units
    return value


def java_list_hash(parts: Sequence[str]) -> int:
    """`List.hashCode` of Java for a list of strings, a signed 32-bit number."""
    value = 1
    for part in parts:
        value = value * 31 + java_string_hash(part) & _WORD
    return _signed(value)


def bucket_id(parts: Sequence[str], buckets: int) -> int:
    """The simple bucket of the texts of the hash fields, in their order.

    Raises:
        ValueError: fewer than one bucket.

    """
    return (java_list_hash(parts) & _POSITIVE) % _at_least_one(buckets)


def bucket_ids(fields: Sequence[pa.Array | pa.ChunkedArray], buckets: int) -> npt.NDArray[np.int64]:
    """`bucket_id` of each row, given a column of texts for each hash field.

    Raises:
        ValueError: fewer than one bucket.

    """
    value = np.ones(len(fields[0]), np.uint32)
    for texts in fields:
        value *= np.uint32(31)
        value += java_string_hashes(texts).view(np.uint32)
    found: npt.NDArray[np.int64] = (value & np.uint32(_POSITIVE)).astype(np.int64) % _at_least_one(buckets)
    return found


def bucket_hash(key: str) -> int:
    """The place of a key on the ring of consistent hashing, from 0 to 2^31 - 1."""
    return xxhash.xxh32_intdigest(key.encode(), 0) & _POSITIVE


def file_group_index(key: str, groups: int) -> int:
    """The file group of a key within one partition of the metadata table.

    Raises:
        ValueError: fewer than one file group.

    """
    return abs(java_string_hash(key)) % _at_least_one(groups)


def file_group_indexes(keys: pa.Array | pa.ChunkedArray, groups: int) -> npt.NDArray[np.int64]:
    """`file_group_index` of each key of a column.

    Raises:
        ValueError: fewer than one file group.

    """
    return np.abs(java_string_hashes(keys).astype(np.int64)) % _at_least_one(groups)


def hash_id(data: bytes, bits: HashBits) -> bytes:
    """The id of a name as an index stores it: seeded xxHash of 32 or 64 bits, MD5 for 128, big-endian."""
    if bits is HashBits.BITS_32:
        return xxhash.xxh32_digest(data, _SEED_32)
    if bits is HashBits.BITS_64:
        return xxhash.xxh64_digest(data, _SEED_64)
    return hashlib.md5(data, usedforsecurity=False).digest()


def column_index_id(name: str) -> str:
    """The id of a column in index keys: 12 characters."""
    return _base64(hash_id(name.encode(), HashBits.BITS_64))


def partition_index_id(path: str) -> str:
    """The id of a partition path in index keys: 12 characters; a table without partitions hashes `.`."""
    return _base64(hash_id((path or _UNPARTITIONED_NAME).encode(), HashBits.BITS_64))


def file_index_id(name: str) -> str:
    """The id of a file name in index keys: 24 characters."""
    return _base64(hash_id(name.encode(), HashBits.BITS_128))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _signed(value: int) -> int:
    return value - (1 << 32) if value & _SIGN else value


def _at_least_one(count: int) -> int:
    if count < 1:
        raise ValueError(f"{count} buckets or file groups: at least one is needed")
    return count
