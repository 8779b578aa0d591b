"""The bloom filter in a base file's footer: base64 text of a header and bits.

SIMPLE      int32 -1, int32 hashes k, byte 1 (murmur), int32 bits m, then ceil(m / 8) bytes
DYNAMIC_V0  the same header, int32 keys a row, int32 keys in the last row, int32 rows, then a SIMPLE filter a row
"""

import base64
import binascii
import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from hudi_format.errors import FormatError, Reason

TYPE_CODE = "DYNAMIC_V0"
SIMPLE_TYPE_CODE = "SIMPLE"
DEFAULT_ENTRIES = 60_000
DEFAULT_ERROR_RATE = 1e-9
MAXIMUM_BITS = 2**31 - 1

_HEADER = struct.Struct(">iibi")
_ROWS = struct.Struct(">iii")
_VERSION = -1
_MURMUR = 1
_MULTIPLIER = 0x5BD1E995
_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """One or more rows of bits; a key may be in the file when any row has all its bits."""

    hashes: int
    bits: int
    rows: tuple[bytes, ...]
    keys_a_row: int | None = None
    keys_in_last_row: int = 0

    def may_contain(self, key: str) -> bool:
        """False when the key is certainly not in the file."""
        positions = bit_positions(key.encode(), self.hashes, self.bits)
        return any(all(row[at // 8] >> (at % 8) & 1 for at in positions) for row in self.rows)


def bits_and_hashes(entries: int, error_rate: float) -> tuple[int, int]:
    """Bits m and number of hashes k for so many keys."""
    bits = math.ceil(entries * (-math.log(error_rate) / math.log(2) ** 2))
    return bits, math.ceil(math.log(2) * bits / entries)


def build_simple_filter(
    keys: Iterable[str], entries: int = DEFAULT_ENTRIES, error_rate: float = DEFAULT_ERROR_RATE
) -> BloomFilter:
    """A SIMPLE filter of the keys: one row, made for `entries` keys, however many there are.

    Clauses: BF-002, IX-011.
    """
    bits, hashes = bits_and_hashes(entries, error_rate)
    row = bytearray((bits + 7) // 8)
    for key in keys:
        for at in bit_positions(key.encode(), hashes, bits):
            row[at // 8] |= 1 << (at % 8)
    return BloomFilter(hashes, bits, (bytes(row),))


def build_bloom_filter(
    keys: Iterable[str], entries: int = DEFAULT_ENTRIES, error_rate: float = DEFAULT_ERROR_RATE
) -> BloomFilter:
    """A DYNAMIC_V0 filter of the keys: a new row whenever `entries` keys fill one.

    Clauses: BF-002, IX-011.
    """
    bits, hashes = bits_and_hashes(entries, error_rate)
    rows, filled = [bytearray((bits + 7) // 8)], 0
    for key in keys:
        if filled == entries:
            rows.append(bytearray((bits + 7) // 8))
            filled = 0
        for at in bit_positions(key.encode(), hashes, bits):
            rows[-1][at // 8] |= 1 << (at % 8)
        filled += 1
    return BloomFilter(hashes, bits, tuple(bytes(row) for row in rows), entries, filled)


def encode_bloom_filter(bloom: BloomFilter) -> str:
    """The text in the footer.

    Clauses: BF-002.
    """
    header = _HEADER.pack(_VERSION, bloom.hashes, _MURMUR, bloom.bits)
    if bloom.keys_a_row is None:
        return base64.b64encode(header + bloom.rows[0]).decode()
    rows = b"".join(header + row for row in bloom.rows)
    counts = _ROWS.pack(bloom.keys_a_row, bloom.keys_in_last_row, len(bloom.rows))
    return base64.b64encode(header + counts + rows).decode()


def decode_bloom_filter(text: str, type_code: str, file: str) -> BloomFilter:
    """The filter of a footer text; `type_code` is SIMPLE or DYNAMIC_V0.

    Raises:
        FormatError: BASE_FILE_CORRUPT when the text is no filter.

    Clauses: BF-002.

    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _corrupt(file, "the bloom filter is no base64 text") from error
    hashes, bits = _header(data, 0, file)
    if type_code == SIMPLE_TYPE_CODE:
        return BloomFilter(hashes, bits, (_row(data, _HEADER.size, bits, file),))
    if type_code != TYPE_CODE:
        raise _corrupt(file, f"the bloom filter type {type_code!r} is unknown")
    return _dynamic(data, hashes, bits, file)


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


def _dynamic(data: bytes, hashes: int, bits: int, file: str) -> BloomFilter:
    if len(data) < _HEADER.size + _ROWS.size:
        raise _corrupt(file, "the bloom filter ends inside its counts")
    keys_a_row, keys_in_last_row, count = _ROWS.unpack_from(data, _HEADER.size)
    position = _HEADER.size + _ROWS.size
    width = _HEADER.size + (bits + 7) // 8
    if count < 1 or count * width != len(data) - position:
        raise _corrupt(file, f"{count} rows of {width} bytes are declared, {len(data) - position} bytes are there")
    rows = []
    for start in range(position, len(data), width):
        if _header(data, start, file) != (hashes, bits):
            raise _corrupt(file, "a row of the bloom filter has another size")
        rows.append(data[start + _HEADER.size : start + width])
    return BloomFilter(hashes, bits, tuple(rows), keys_a_row, keys_in_last_row)


def _header(data: bytes, start: int, file: str) -> tuple[int, int]:
    if len(data) - start < _HEADER.size:
        raise _corrupt(file, "the bloom filter ends inside its header")
    version, hashes, kind, bits = _HEADER.unpack_from(data, start)
    if version != _VERSION or kind != _MURMUR or not 0 < bits <= MAXIMUM_BITS or not 0 < hashes <= 1024:
        raise _corrupt(file, f"the bloom filter header is {version}, {hashes}, {kind}, {bits}")
    return int(hashes), int(bits)


def _row(data: bytes, start: int, bits: int, file: str) -> bytes:
    row = data[start:]
    if len(row) != (bits + 7) // 8:
        raise _corrupt(file, f"{bits} bits are declared, {len(row)} bytes are there")
    return row


def _corrupt(file: str, message: str) -> FormatError:
    return FormatError(Reason.BASE_FILE_CORRUPT, "BF-002", file, None, message)
