"""Writes HFiles in the form of Apache Hudi's native writer, the same bytes for the same entries."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from hudi_format.hfile.blocks import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    META_MAGIC,
    ROOT_INDEX_MAGIC,
    Checksum,
    Codec,
    encode_hfile_block,
)
from hudi_format.hfile.index import IndexEntry, encode_entry, encode_root_index, encode_row
from hudi_format.hfile.reader import KEY_VALUE_VERSION_KEY
from hudi_format.hfile.trailer import Trailer, encode_file_info, encode_trailer

DATA_BLOCK_BYTES: Final = 1024 * 1024

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_NOWHERE = -1

Entry = tuple[bytes, bytes]


def write_hfile(
    entries: Sequence[Entry],
    info: Mapping[str, bytes] | None = None,
    meta_blocks: Mapping[str, bytes] | None = None,
    *,
    codec: Codec = Codec.GZIP,
    checksum: Checksum = Checksum.NONE,
    block_bytes: int = DATA_BLOCK_BYTES,
) -> bytes:
    """An HFile of these entries, with one level of index; `info` adds to the file info, such as the schema.

    The time of creation in it is zero, so that equal entries give equal bytes.

    Raises:
        ValueError: keys do not rise in the order of their bytes, or a key is longer than an HFile holds.

    """
    if any(one >= next_one for (one, _), (next_one, _) in pairwise(entries)):
        raise ValueError("the keys of an HFile rise in the order of their bytes")
    layout = _Layout(codec, checksum)
    data_index = [layout.add(DATA_MAGIC, key, content) for key, content in _data_blocks(entries, block_bytes)]
    unpacked, last = layout.unpacked, layout.last
    metas = sorted((meta_blocks or {}).items())
    meta_index = [layout.add(META_MAGIC, name.encode(), content) for name, content in metas]
    root = layout.add(ROOT_INDEX_MAGIC, b"", encode_root_index(data_index))
    layout.add(ROOT_INDEX_MAGIC, b"", encode_root_index(meta_index))
    described = layout.add(FILE_INFO_MAGIC, b"", encode_file_info(_file_info(entries, info or {})))
    counts = (unpacked, len(data_index), len(meta_index), len(entries), 1)
    first = data_index[0].offset if data_index else _NOWHERE
    trailer = Trailer(described.offset, root.offset, *counts, first, last if data_index else 0, codec)
    return layout.bytes() + encode_trailer(trailer)


class _Layout:
    """Blocks one after the other, each linked to the one before it of its kind."""

    def __init__(self, codec: Codec, checksum: Checksum) -> None:
        self._codec = codec
        self._checksum = checksum
        self._parts: list[bytes] = []
        self._size = 0
        self._previous: dict[bytes, int] = {}
        self.unpacked = 0
        self.last = _NOWHERE

    def add(self, magic: bytes, key: bytes, content: bytes) -> IndexEntry:
        previous = self._previous.get(magic, _NOWHERE)
        block = encode_hfile_block(magic, content, self._codec, previous, self._checksum)
        entry = IndexEntry(self._size, len(block), key)
        self._parts.append(block)
        self._previous[magic] = self.last = self._size
        self._size += len(block)
        self.unpacked += len(content)
        return entry

    def bytes(self) -> bytes:
        return b"".join(self._parts)


def _data_blocks(entries: Iterable[Entry], block_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    """First key, in the form of an index, and content of each data block; a full block takes no further entry."""
    first, content = b"", bytearray()
    for row, value in entries:
        if len(content) >= block_bytes:
            yield first, bytes(content)
            content.clear()
        if not content:
            first = encode_row(row)
        content += encode_entry(row, value)
    if content:
        yield first, bytes(content)


def _file_info(entries: Sequence[Entry], info: Mapping[str, bytes]) -> dict[str, bytes]:
    count = max(len(entries), 1)
    own = {
        "hfile.LASTKEY": encode_row(entries[-1][0]) if entries else b"",
        "hfile.AVG_KEY_LEN": _INT.pack(sum(len(key) for key, _ in entries) // count),
        "hfile.AVG_VALUE_LEN": _INT.pack(sum(len(value) for _, value in entries) // count),
        KEY_VALUE_VERSION_KEY: _INT.pack(1),
        "MAX_MEMSTORE_TS_KEY": _LONG.pack(0),
        "hfile.CREATE_TIME_TS": _LONG.pack(0),
    }
    return dict(sorted({**info, **own}.items()))
