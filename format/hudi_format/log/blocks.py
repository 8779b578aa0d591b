"""Log files as sequences of blocks. All numbers are big-endian.

6    magic #HUDI#
8    block length L: bytes after this field, the last field included
4    log format version, 1
4    block type
var  header: int32 count, then per entry int32 key, int32 length, UTF-8 text
8    content length
var  content
var  footer: the form of the header, always empty
8    total length: L + 6
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from hudi_format.errors import FormatError, Reason

MAGIC = b"#HUDI#"
LOG_FORMAT_VERSION = 1

# Damage that repeats the magic would make a warning of every six bytes.
_MOST_STRETCHES = 8
_LENGTH = struct.Struct(">q")
_PAIR = struct.Struct(">ii")
_COUNT = struct.Struct(">i")
# version, type, empty header, content length, empty footer, total length
_LEAST_BLOCK_LENGTH = 4 + 4 + 4 + 8 + 4 + 8


class BlockType(IntEnum):
    """What a block holds.

    Clauses: LF-005.
    """

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6


class HeaderKey(IntEnum):
    """The entries of a block's header.

    Clauses: LF-006, LF-021, LF-025.
    """

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A whole block with its content still encoded.

    `offset` and `length` span the block in the file, magic and total length included.

    Clauses: LF-001.
    """

    type: BlockType
    format_version: int
    offset: int
    length: int
    header: Mapping[HeaderKey, str] = field(hash=False)
    content: bytes
    content_offset: int


@dataclass(frozen=True, slots=True)
class CorruptBlock:
    """Bytes that are no whole block, up to the next magic or the end of the file.

    Clauses: LF-010.
    """

    offset: int
    length: int
    why: str


def read_blocks(data: bytes, file: str) -> tuple[RawBlock | CorruptBlock, ...]:
    """The blocks of a log file in file order; damaged stretches stand in place as corrupt blocks.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block whose frame is whole and whose inside breaks the format.

    Clauses: LF-001, LF-002, LF-010, LF-011, LF-012.

    """
    blocks: list[RawBlock | CorruptBlock] = []
    position = 0
    while position < len(data):
        why, end = _check_frame(data, position)
        if why is None:
            blocks.append(_read_block(data, position, end, file))
        else:
            end = _resynchronise(data, position)
            _add_corrupt(blocks, CorruptBlock(position, end - position, why))
        position = end
    return tuple(blocks)


def _add_corrupt(blocks: list[RawBlock | CorruptBlock], block: CorruptBlock) -> None:
    """Of a long run of stretches that follow each other the last one spans all that come after it."""
    run = [one for one in blocks[-_MOST_STRETCHES:] if isinstance(one, CorruptBlock)]
    if len(run) == _MOST_STRETCHES:
        last = run[-1]
        blocks[-1] = CorruptBlock(last.offset, last.length + block.length, last.why)
    else:
        blocks.append(block)


def encode_block(
    block_type: BlockType, header: Mapping[HeaderKey, str], content: bytes, format_version: int = LOG_FORMAT_VERSION
) -> bytes:
    """The bytes of one block, header entries in the order of their keys.

    Clauses: LF-001, LF-003, LF-004.
    """
    return b"".join(block_parts(block_type, header, (content,), format_version))


def block_parts(
    block_type: BlockType,
    header: Mapping[HeaderKey, str],
    content: Sequence[Any],
    format_version: int = LOG_FORMAT_VERSION,
) -> list[Any]:
    """The same in parts that follow one another: large content, bytes or buffers, is copied once, by the caller.

    Clauses: LF-001, LF-003, LF-004.
    """
    size = sum(memoryview(part).nbytes for part in content)
    before = _PAIR.pack(format_version, block_type) + _encode_header(header) + _LENGTH.pack(size)
    length = len(before) + size + _COUNT.size + _LENGTH.size
    after = _COUNT.pack(0) + _LENGTH.pack(length + len(MAGIC))
    return [MAGIC + _LENGTH.pack(length) + before, *content, after]


def _check_frame(data: bytes, start: int) -> tuple[str | None, int]:
    """Why the bytes at `start` are no whole block, or None; and where the block ends.

    Clauses: LF-003, LF-010.
    """
    if data[start : start + len(MAGIC)] != MAGIC:
        return "the bytes do not begin with the magic", start
    length_at = start + len(MAGIC)
    if length_at + _LENGTH.size > len(data):
        return "the file ends inside the block length", start
    (length,) = _LENGTH.unpack_from(data, length_at)
    end = length_at + _LENGTH.size + length
    if length < _LEAST_BLOCK_LENGTH:
        return f"a block cannot be {length} bytes long", start
    if end > len(data):
        return f"the block declares {length} bytes, {len(data) - length_at - _LENGTH.size} are left", start
    return _check_end(data, length, end), end


def _check_end(data: bytes, length: int, end: int) -> str | None:
    """Clauses: LF-003, LF-010."""
    (total,) = _LENGTH.unpack_from(data, end - _LENGTH.size)
    if total - len(MAGIC) != length:
        return f"the block declares {length} bytes at its start and {total - len(MAGIC)} at its end"
    follower = data[end : end + len(MAGIC)]
    if len(follower) == len(MAGIC) and follower != MAGIC:
        return "what follows the block is neither the magic nor the end of the file"
    return None


def _resynchronise(data: bytes, start: int) -> int:
    """The offset of the next magic, searched for from just after the magic of the bad block.

    Clauses: LF-011.
    """
    begin = start + (len(MAGIC) if data.startswith(MAGIC, start) else 1)
    found = data.find(MAGIC, begin)
    return len(data) if found < 0 else found


def _read_block(data: bytes, start: int, end: int, file: str) -> RawBlock:
    position = start + len(MAGIC) + _LENGTH.size
    version, ordinal = _PAIR.unpack_from(data, position)
    block_type = _block_type(version, ordinal, file, position)
    header_at = position + _PAIR.size
    limit = end - _LENGTH.size
    entries, position = _read_map(data, header_at, limit, file)
    header = {_header_key(key, file, header_at): text for key, text in entries.items()}
    if position + _LENGTH.size > limit:
        raise _corrupt("LF-003", file, position, "the block ends inside its content length")
    (length,) = _LENGTH.unpack_from(data, position)
    content_at = position + _LENGTH.size
    if not 0 <= length <= limit - content_at:
        raise _corrupt("LF-003", file, position, f"the content declares {length} bytes, {limit - content_at} are left")
    _, footer_end = _read_map(data, content_at + length, limit, file)
    if footer_end != limit:
        raise _corrupt("LF-003", file, footer_end, f"{limit - footer_end} bytes stand between footer and total length")
    content = data[content_at : content_at + length]
    return RawBlock(block_type, version, start, end - start, header, content, content_at)


def _block_type(version: int, ordinal: int, file: str, offset: int) -> BlockType:
    """Clauses: LF-005, LF-014."""
    if version != LOG_FORMAT_VERSION:
        raise _corrupt("LF-014", file, offset, f"log format version {version} is unknown")
    if ordinal == BlockType.CORRUPT or ordinal not in set(BlockType):
        raise _corrupt("LF-014", file, offset + 4, f"block type {ordinal} is unknown")
    return BlockType(ordinal)


def _header_key(ordinal: int, file: str, offset: int) -> HeaderKey:
    if ordinal not in set(HeaderKey):
        raise _corrupt("LF-006", file, offset, f"header key {ordinal} is unknown")
    return HeaderKey(ordinal)


def _read_map(data: bytes, position: int, limit: int, file: str) -> tuple[dict[int, str], int]:
    """The entries of a header or footer and the offset after it.

    Clauses: LF-004.
    """
    if position + _COUNT.size > limit:
        raise _corrupt("LF-004", file, position, "the block ends inside a map")
    (count,) = _COUNT.unpack_from(data, position)
    if not 0 <= count <= len(HeaderKey):
        raise _corrupt("LF-004", file, position, f"a map declares {count} entries")
    position += _COUNT.size
    entries: dict[int, str] = {}
    for _ in range(count):
        key, text, position = _read_entry(data, position, limit, file)
        entries[key] = text
    return entries, position


def _read_entry(data: bytes, position: int, limit: int, file: str) -> tuple[int, str, int]:
    if position + _PAIR.size > limit:
        raise _corrupt("LF-004", file, position, "the block ends inside a map")
    key, length = _PAIR.unpack_from(data, position)
    begin = position + _PAIR.size
    if not 0 <= length <= limit - begin:
        raise _corrupt("LF-004", file, position, f"a map entry declares {length} bytes, {limit - begin} are left")
    try:
        return key, data[begin : begin + length].decode(), begin + length
    except UnicodeDecodeError as error:
        raise _corrupt("LF-004", file, begin, f"the text of key {key} is not UTF-8") from error


def _encode_header(header: Mapping[HeaderKey, str]) -> bytes:
    parts = [_COUNT.pack(len(header))]
    for key in sorted(header):
        text = header[key].encode()
        parts.append(_PAIR.pack(key, len(text)) + text)
    return b"".join(parts)


def _corrupt(clause: str, file: str, offset: int, message: str) -> FormatError:
    return FormatError(Reason.LOG_CONTENT_CORRUPT, clause, file, offset, message)
