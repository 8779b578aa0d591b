"""What the header entries of a block say, as values and back.

RECORD_POSITIONS          Base64 of a 64-bit Roaring bitmap, portable form; see _portable_bitmap
BASE_FILE_INSTANT_TIME…   the base file that these positions count in
COMPACTED_BLOCK_TIMES     instants, newest first, with commas between them
BLOCK_IDENTIFIER          attempt,sequence
IS_PARTIAL                true, or no such entry
"""

import base64
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.log.blocks import HeaderKey, RawBlock

PARTIAL: Final = "true"

_WITH_RUNS, _WITHOUT_RUNS = 12347, 12346
_FIRST_SIZE_WITH_OFFSETS = 4
_LARGEST_ARRAY = 4096
_BITSET_BYTES = 8192
_CONTAINER_VALUES = 65536
_BUCKETS = struct.Struct("<Q")
_WORD = struct.Struct("<I")
_HALF = struct.Struct("<H")
_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True, order=True)
class BlockIdentifier:
    """The number of a block within its write: which attempt of the task, and which block of the attempt.

    Clauses: LF-024.
    """

    attempt: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.attempt},{self.sequence}"


def record_positions(block: RawBlock, records: int, file: str) -> pa.Int64Array | None:
    """The rows of the base file that the block's records change, the i-th for the i-th record; None without the entry.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when it is no bitmap of as many positions as there are records.

    Clauses: LF-023.

    """
    text = block.header.get(HeaderKey.RECORD_POSITIONS)
    if text is None:
        return None
    with refusing(Reason.LOG_CONTENT_CORRUPT, "LF-023", file, block.offset, "the record positions do not decode"):
        positions = _portable_bitmap(base64.b64decode(text, validate=True), records)
        return pa.array(positions.astype(np.int64), pa.int64())


def record_positions_text(positions: Iterable[int]) -> str:
    """The header text of positions, whatever their order."""
    bitmap = BitMap64(positions)
    bitmap.run_optimize()
    return base64.b64encode(bitmap.serialize()).decode("ascii")


def base_instant_of_positions(block: RawBlock) -> str | None:
    """The instant of the base file that the positions count in; without it they mean nothing."""
    return block.header.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)


def compacted_block_times(block: RawBlock) -> tuple[str, ...]:
    """The instants whose blocks a log compaction put into this one, newest first; empty for other blocks."""
    text = block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def compacted_block_times_text(instants: Sequence[str]) -> str:
    """The header text of instants, newest first."""
    return ",".join(sorted(instants, reverse=True))


def is_partial(block: RawBlock) -> bool:
    """Whether the records hold only some of the columns.

    Clauses: LF-025.
    """
    return block.header.get(HeaderKey.IS_PARTIAL, "").strip().lower() == PARTIAL


def block_identifier(block: RawBlock, file: str) -> BlockIdentifier | None:
    """The block's number, or None where the writer gave none.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a text of another form.

    Clauses: LF-024.

    """
    text = block.header.get(HeaderKey.BLOCK_IDENTIFIER, "").strip()
    if not text:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(_NUMBER.fullmatch(part) for part in parts):
        message = f"the block identifier {text[:40]!r} is no attempt and sequence"
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "LF-024", file, block.offset, message)
    return BlockIdentifier(int(parts[0]), int(parts[1]))


class _Bytes:
    """A position in a bitmap's bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError(f"{count} bytes are needed, {self.left} are left")
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, form: struct.Struct) -> int:
        (value,) = form.unpack(self.take(form.size))
        return int(value)

    def halves(self, count: int) -> "np.ndarray[tuple[int], np.dtype[np.uint16]]":
        return np.frombuffer(self.take(2 * count), "<u2")


_Values = np.ndarray[tuple[int], np.dtype[np.uint64]]


def _portable_bitmap(data: bytes, expected: int) -> _Values:
    """The values of a portable 64-bit Roaring bitmap, ascending, which has to hold `expected` of them.

    The library that writes bitmaps trusts the counts in them, and these bytes are anyone's: they are read here.
    uint64 buckets, then per bucket uint32 high word and a 32-bit bitmap, all little-endian.
    """
    source = _Bytes(data)
    buckets = source.number(_BUCKETS)
    if buckets > source.left // _WORD.size:
        raise ValueError(f"{buckets} buckets are declared")
    parts: list[_Values] = []
    for _ in range(buckets):
        high = np.uint64(source.number(_WORD) << 32)
        wanted = expected - sum(map(len, parts))
        parts.extend(high | part for part in _bitmap_32(source, wanted))
    return _checked(parts, source, expected)


def _checked(parts: Sequence[_Values], source: _Bytes, expected: int) -> _Values:
    values = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    if source.left:
        raise ValueError(f"{source.left} bytes stand after the bitmap")
    if len(values) != expected:
        raise ValueError(f"{len(values)} positions for {expected} records")
    if len(values) and (int(values[-1]) >> 63 or not bool(np.all(values[1:] > values[:-1]))):
        raise ValueError("the positions do not rise")
    return values


def _bitmap_32(source: _Bytes, wanted: int) -> list[_Values]:
    """The containers of one 32-bit bitmap; more than `wanted` values are refused before they are made."""
    cookie = source.number(_WORD)
    has_runs = cookie & 0xFFFF == _WITH_RUNS
    if not has_runs and cookie != _WITHOUT_RUNS:
        raise ValueError(f"the cookie of a bitmap is {cookie}")
    size = (cookie >> 16) + 1 if has_runs else source.number(_WORD)
    if size > _CONTAINER_VALUES:
        raise ValueError(f"a bitmap has {size} containers")
    runs = np.unpackbits(np.frombuffer(source.take((size + 7) // 8), np.uint8), bitorder="little") if has_runs else None
    heads = source.halves(2 * size).reshape(-1, 2).astype(np.uint64)
    if int(heads[:, 1].sum()) + size > wanted:
        raise ValueError(f"the bitmap declares more than {wanted} positions")
    if runs is None or size >= _FIRST_SIZE_WITH_OFFSETS:
        source.take(_WORD.size * size)
    return [
        high << np.uint64(16) | _container(source, int(count) + 1, is_run=runs is not None and bool(runs[index]))
        for index, (high, count) in enumerate(heads)
    ]


def _container(source: _Bytes, count: int, *, is_run: bool) -> _Values:
    """The low halves of one container, which has to hold `count` of them."""
    if is_run:
        values = _runs(source, count)
    elif count <= _LARGEST_ARRAY:
        values = source.halves(count).astype(np.uint64)
    else:
        bits = np.frombuffer(source.take(_BITSET_BYTES), np.uint8)
        values = np.flatnonzero(np.unpackbits(bits, bitorder="little")).astype(np.uint64)
    if len(values) != count:
        raise ValueError(f"a container declares {count} positions and holds {len(values)}")
    return values


def _runs(source: _Bytes, count: int) -> _Values:
    """The values of runs, each a start and a length less one."""
    runs = source.halves(2 * source.number(_HALF)).reshape(-1, 2).astype(np.int64)
    if int(runs[:, 1].sum()) + len(runs) != count or (len(runs) and int(runs.sum(axis=1).max()) >= _CONTAINER_VALUES):
        raise ValueError(f"runs do not hold {count} positions")
    lengths = runs[:, 1] + 1
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return (np.repeat(runs[:, 0], lengths) + np.arange(count) - before).astype(np.uint64)
