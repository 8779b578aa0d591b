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

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_format.base.murmur import bit_positions, have_bits, set_bits
from hudi_format.errors import FormatError, Reason
from hudi_format.texts import byte_texts

TYPE_CODE = "DYNAMIC_V0"
SIMPLE_TYPE_CODE = "SIMPLE"
DEFAULT_ENTRIES = 60_000
DEFAULT_ERROR_RATE = 1e-9
DEFAULT_MAXIMUM_ENTRIES = 100_000
MAXIMUM_BITS = 2**31 - 1

_HEADER = struct.Struct(">iibi")
_ROWS = struct.Struct(">iii")
_VERSION = -1
_MURMUR = 1


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

    def may_contain_each(self, keys: pa.Array | pa.ChunkedArray) -> pa.BooleanArray:
        """`may_contain` of every key of a column of strings."""
        return pa.array(have_bits(byte_texts(keys), self.rows, self.hashes, self.bits))


def bits_and_hashes(entries: int, error_rate: float) -> tuple[int, int]:
    """Bits m and number of hashes k for so many keys."""
    bits = math.ceil(entries * (-math.log(error_rate) / math.log(2) ** 2))
    return bits, math.ceil(math.log(2) * bits / entries)


def build_simple_filter(
    keys: Iterable[str] | pa.Array | pa.ChunkedArray,
    entries: int = DEFAULT_ENTRIES,
    error_rate: float = DEFAULT_ERROR_RATE,
) -> BloomFilter:
    """A SIMPLE filter of the keys: one row, made for `entries` keys, however many there are.

    Clauses: BF-002, IX-011.
    """
    bits, hashes = bits_and_hashes(entries, error_rate)
    texts = byte_texts(_column(keys))
    return BloomFilter(hashes, bits, (set_bits(texts, None, hashes, bits),))


def build_bloom_filter(
    keys: Iterable[str] | pa.Array | pa.ChunkedArray,
    entries: int = DEFAULT_ENTRIES,
    error_rate: float = DEFAULT_ERROR_RATE,
    maximum: int = DEFAULT_MAXIMUM_ENTRIES,
) -> BloomFilter:
    """A DYNAMIC_V0 filter of the keys: a new row whenever `entries` keys fill one.

    No row begins once the rows are made for `maximum` keys; further keys go to the rows in turn.

    Clauses: BF-002, IX-011.
    """
    bits, hashes = bits_and_hashes(entries, error_rate)
    texts = byte_texts(_column(keys))
    most = max(-(-maximum // entries), 1)
    count = min(max(-(-len(texts) // entries), 1), most)
    rows = (set_bits(texts, _of_row(row, count, entries, len(texts)), hashes, bits) for row in range(count))
    return BloomFilter(hashes, bits, tuple(rows), entries, len(texts) - (count - 1) * entries)


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


def _column(keys: Iterable[str] | pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return keys if isinstance(keys, pa.Array | pa.ChunkedArray) else pa.array(keys, pa.large_string())


def _of_row(row: int, rows: int, entries: int, keys: int) -> npt.NDArray[np.int64] | None:
    """The places of a row's keys: its share, and its turns in what exceeds all rows.

    The first key too many goes to the first row without counting as a turn, as Apache Hudi's filter has it.
    """
    if rows == 1:
        return None
    share = np.arange(row * entries, min((row + 1) * entries, keys))
    begin = rows * entries
    first = [begin] if row == 0 and keys > begin else []
    return np.concatenate((share, np.array(first, np.int64), np.arange(begin + 1 + row, keys, rows)))


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
