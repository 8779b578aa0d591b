"""Writes HFiles in the form of Apache Hudi's native writer, the same bytes for the same entries."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_format.hfile.blocks import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    META_MAGIC,
    ROOT_INDEX_MAGIC,
    USUAL_LEVEL,
    Checksum,
    Codec,
    encode_hfile_block,
)
from hudi_format.hfile.index import IndexEntry, encode_entries, encode_root_index, encode_row
from hudi_format.hfile.reader import KEY_VALUE_VERSION_KEY
from hudi_format.hfile.trailer import Trailer, encode_file_info, encode_trailer
from hudi_format.texts import byte_texts

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
    keys, values = (pa.array([entry[part] for entry in entries], pa.large_binary()) for part in range(2))
    return write_hfile_columns(keys, values, info, meta_blocks, codec=codec, checksum=checksum, block_bytes=block_bytes)


def write_hfile_columns(
    keys: pa.Array | pa.ChunkedArray,
    values: pa.Array | pa.ChunkedArray,
    info: Mapping[str, bytes] | None = None,
    meta_blocks: Mapping[str, bytes] | None = None,
    *,
    codec: Codec = Codec.GZIP,
    checksum: Checksum = Checksum.NONE,
    block_bytes: int = DATA_BLOCK_BYTES,
    level: int = USUAL_LEVEL,
) -> bytes:
    """The same of columns of keys and values, binary or string; `level` is that of gzip.

    Raises:
        ValueError: as `write_hfile`.

    """
    rows, contents = _binary(keys), _binary(values)
    if pc.all(pc.less(rows[:-1], rows[1:])).as_py() is False:
        raise ValueError("the keys of an HFile rise in the order of their bytes")
    layout = _Layout(codec, checksum, level)
    blocks = _data_blocks(rows, contents, block_bytes)
    data_index = [layout.add(DATA_MAGIC, key, content) for key, content in blocks]
    unpacked, last = layout.unpacked, layout.last
    metas = sorted((meta_blocks or {}).items())
    meta_index = [layout.add(META_MAGIC, name.encode(), content) for name, content in metas]
    root = layout.add(ROOT_INDEX_MAGIC, b"", encode_root_index(data_index))
    layout.add(ROOT_INDEX_MAGIC, b"", encode_root_index(meta_index))
    described = layout.add(FILE_INFO_MAGIC, b"", encode_file_info(_file_info(rows, contents, info or {})))
    counts = (unpacked, len(data_index), len(meta_index), len(rows), 1)
    first = data_index[0].offset if data_index else _NOWHERE
    trailer = Trailer(described.offset, root.offset, *counts, first, last if data_index else 0, codec)
    return layout.bytes() + encode_trailer(trailer)


class _Layout:
    """Blocks one after the other, each linked to the one before it of its kind."""

    def __init__(self, codec: Codec, checksum: Checksum, level: int) -> None:
        self._codec = codec
        self._level = level
        self._checksum = checksum
        self._parts: list[bytes] = []
        self._size = 0
        self._previous: dict[bytes, int] = {}
        self.unpacked = 0
        self.last = _NOWHERE

    def add(self, magic: bytes, key: bytes, content: bytes) -> IndexEntry:
        previous = self._previous.get(magic, _NOWHERE)
        block = encode_hfile_block(magic, content, self._codec, previous, self._checksum, level=self._level)
        entry = IndexEntry(self._size, len(block), key)
        self._parts.append(block)
        self._previous[magic] = self.last = self._size
        self._size += len(block)
        self.unpacked += len(content)
        return entry

    def bytes(self) -> bytes:
        return b"".join(self._parts)


def _binary(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.large_binary())


def _data_blocks(rows: pa.Array, values: pa.Array, block_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    """First key, in the form of an index, and content of each data block; a full block takes no further entry."""
    texts = byte_texts(encode_entries(rows, values))
    start = 0
    while start < len(texts):
        begin = int(texts.offsets[start])
        end = min(int(np.searchsorted(texts.offsets, begin + block_bytes)), len(texts))
        yield encode_row(rows[start].as_py()), texts.units[begin : int(texts.offsets[end])].tobytes()
        start = end


def _file_info(rows: pa.Array, values: pa.Array, info: Mapping[str, bytes]) -> dict[str, bytes]:
    count = max(len(rows), 1)
    own = {
        "hfile.LASTKEY": encode_row(rows[-1].as_py()) if len(rows) else b"",
        "hfile.AVG_KEY_LEN": _INT.pack(_bytes_of(rows) // count),
        "hfile.AVG_VALUE_LEN": _INT.pack(_bytes_of(values) // count),
        KEY_VALUE_VERSION_KEY: _INT.pack(1),
        "MAX_MEMSTORE_TS_KEY": _LONG.pack(0),
        "hfile.CREATE_TIME_TS": _LONG.pack(0),
    }
    return dict(sorted({**info, **own}.items()))


def _bytes_of(column: pa.Array) -> int:
    return int(byte_texts(column).offsets[-1])
