"""The blocks that an HFile is made of. All numbers are big-endian.

8    magic, says what the block holds
4    bytes after the header, checksums included
4    bytes of the data when unpacked
8    offset of the previous block of this kind; writers differ, nothing reads it
1    kind of checksum
4    bytes covered by one checksum
4    bytes of header and data, checksums excluded
var  data, packed on its own
var  a checksum of four bytes for each stretch begun of header and data
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from hudi_format.checksums import crc32c
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.sources import HFileSource

DATA_MAGIC: Final = b"DATABLK*"
META_MAGIC: Final = b"METABLKc"
ROOT_INDEX_MAGIC: Final = b"IDXROOT2"
INTERMEDIATE_INDEX_MAGIC: Final = b"IDXINTE2"
LEAF_INDEX_MAGIC: Final = b"IDXLEAF2"
FILE_INFO_MAGIC: Final = b"FILEINF2"

MAXIMUM_BLOCK_BYTES: Final = 256 * 1024**2
# Of gzip, from 1, which takes half of the time and an eighth more room, to 9.
USUAL_LEVEL: Final = 6

_HEADER = struct.Struct(">8siiqBii")
_CHECKSUM = struct.Struct(">I")
_BYTES_A_CHECKSUM = 16 * 1024
_GZIP = 16 + zlib.MAX_WBITS


class Codec(IntEnum):
    """How the data of each block is packed; the trailer says which."""

    GZIP = 1
    NONE = 2


class Checksum(IntEnum):
    """The kind of checksum that a block's header names; with NONE the bytes stand there and say nothing."""

    NONE = 0
    CRC32 = 1
    CRC32C = 2


@dataclass(frozen=True, slots=True)
class Origin:
    """Where HFile bytes came from, for the errors they cause: a file of their own or the content of a log block.

    `feature` is what an adapter answers where the bytes are legal and not built.
    """

    file: str
    reason: Reason = Reason.BASE_FILE_CORRUPT
    clause: str = "BF-004"
    limit_clause: str = "BF-004"
    offset: int = 0
    feature: str = "base-hfile"

    def corrupt(self, position: int, message: str) -> FormatError:
        """The error for bytes that break a rule."""
        return FormatError(self.reason, self.clause, self.file, self.offset + position, message)

    def exceeded(self, position: int, message: str) -> FormatError:
        """The error for a declared size that is out of all bounds."""
        return FormatError(Reason.LIMIT_EXCEEDED, self.limit_clause, self.file, self.offset + position, message)

    def unsupported(self, kind: str = "") -> UnsupportedFormat:
        """The answer to legal bytes of a kind that is not built; the kind, such as a codec, follows the feature."""
        return UnsupportedFormat(f"{self.feature}-{kind}" if kind else self.feature, self.file)


@dataclass(frozen=True, slots=True)
class HFileBlock:
    """One block, checked and unpacked; `size` is what it takes in the file."""

    magic: bytes
    offset: int
    size: int
    content: bytes


def read_block(source: HFileSource, offset: int, limit: int, codec: Codec, origin: Origin) -> HFileBlock:
    """The block at an offset, which ends at `limit` at the latest.

    Raises:
        FormatError: the origin's reason when lengths, checksum or packing do not hold; LIMIT_EXCEEDED when the
            data would be huge.

    """
    if not 0 <= offset <= limit - _HEADER.size:
        raise origin.corrupt(max(offset, 0), "the file ends inside the header of an HFile block")
    header = source.read(offset, _HEADER.size)
    if len(header) < _HEADER.size:
        raise origin.corrupt(offset, "the file was cut while it was read")
    magic, size, unpacked, _, kind, stretch, covered = _HEADER.unpack(header)
    left = limit - offset - _HEADER.size
    if not 0 <= size <= left:
        raise origin.corrupt(offset + 8, f"an HFile block declares {size} bytes, {left} are left")
    if not _HEADER.size <= covered <= _HEADER.size + size:
        raise origin.corrupt(offset + 29, f"an HFile block of {size} bytes declares {covered} bytes of data")
    if size > MAXIMUM_BLOCK_BYTES:
        raise origin.exceeded(offset + 8, f"an HFile block declares {size} bytes")
    data = source.read(offset, _HEADER.size + size)
    if len(data) < _HEADER.size + size:
        raise origin.corrupt(offset, "the file was cut while it was read")
    _verify(data[:covered], data[covered:], (kind, stretch), offset, origin)
    content = _unpack(data[_HEADER.size : covered], unpacked, codec, offset, origin)
    return HFileBlock(magic, offset, len(data), content)


def encode_hfile_block(
    magic: bytes, content: bytes, codec: Codec, previous: int, checksum: Checksum, *, level: int = USUAL_LEVEL
) -> bytes:
    """The bytes of one block; `level` is that of gzip."""
    packed = _pack(content, level) if codec is Codec.GZIP else content
    covered = _HEADER.size + len(packed)
    stretches = -(-covered // _BYTES_A_CHECKSUM)
    size = len(packed) + stretches * _CHECKSUM.size
    header = _HEADER.pack(magic, size, len(content), previous, checksum, _BYTES_A_CHECKSUM, covered)
    return header + packed + _checksums(header + packed, checksum, _BYTES_A_CHECKSUM)


def _verify(covered: bytes, stored: bytes, declared: tuple[int, int], offset: int, origin: Origin) -> None:
    kind, stretch = declared
    if kind not in set(Checksum):
        raise origin.corrupt(offset + 24, f"checksum kind {kind} is unknown")
    if kind == Checksum.NONE:
        return
    if stretch <= 0 or len(stored) != -(-len(covered) // stretch) * _CHECKSUM.size:
        message = f"{len(stored)} bytes of checksums stand for {len(covered)} bytes, one for {stretch}"
        raise origin.corrupt(offset + 25, message)
    if _checksums(covered, Checksum(kind), stretch) != stored:
        raise origin.corrupt(offset, f"the {Checksum(kind).name} of an HFile block is not that of its bytes")


def _checksums(covered: bytes, kind: Checksum, stretch: int) -> bytes:
    return b"".join(_CHECKSUM.pack(_checksum(part, kind)) for part in _stretches(covered, stretch))


def _stretches(covered: bytes, stretch: int) -> Iterator[bytes]:
    return (covered[start : start + stretch] for start in range(0, len(covered), stretch))


def _checksum(part: bytes, kind: Checksum) -> int:
    if kind is Checksum.NONE:
        return 0
    return zlib.crc32(part) if kind is Checksum.CRC32 else crc32c(part)


def _unpack(packed: bytes, size: int, codec: Codec, offset: int, origin: Origin) -> bytes:
    if size > MAXIMUM_BLOCK_BYTES:
        raise origin.exceeded(offset + 12, f"an HFile block declares {size} bytes unpacked")
    content = _inflate(packed, max(size, 0), offset, origin) if codec is Codec.GZIP else packed
    if len(content) != size:
        raise origin.corrupt(offset + 12, f"an HFile block declares {size} bytes unpacked and holds others")
    return content


def _inflate(packed: bytes, size: int, offset: int, origin: Origin) -> bytes:
    inflater = zlib.decompressobj(_GZIP)
    try:
        # One byte more than declared, so that a longer content shows without being held.
        content = inflater.decompress(packed, size + 1)
    except zlib.error as error:
        raise origin.corrupt(offset + _HEADER.size, f"the data of an HFile block does not unpack: {error}") from error
    if len(content) <= size and (not inflater.eof or inflater.unused_data):
        raise origin.corrupt(offset + _HEADER.size, "the data of an HFile block is no whole gzip member")
    return content


def _pack(content: bytes, level: int) -> bytes:
    deflater = zlib.compressobj(level, wbits=_GZIP)
    return deflater.compress(content) + deflater.flush()
