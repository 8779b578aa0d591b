"""HFiles of version 3, the sorted key-value files of metadata tables and of one kind of log block.

From the start: data blocks with index blocks of lower levels between them, meta blocks, the root index of the data,
the root index of the meta blocks, file info, and in the last 4096 bytes the trailer.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from hudi_format.hfile.blocks import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    INTERMEDIATE_INDEX_MAGIC,
    LEAF_INDEX_MAGIC,
    META_MAGIC,
    ROOT_INDEX_MAGIC,
    HFileBlock,
    Origin,
    read_block,
)
from hudi_format.hfile.index import IndexEntry, data_entries, inner_entries, root_entries, row_of_key
from hudi_format.hfile.sources import BytesSource, HFileSource, StoredSource
from hudi_format.hfile.trailer import TRAILER_BYTES, Trailer, parse_file_info, parse_trailer
from hudi_format.limits import columns_limit
from hudi_format.storage import Storage

KEY_VALUE_VERSION_KEY: Final = "KEY_VALUE_VERSION"
MAXIMUM_INDEX_LEVELS: Final = 8

_TAGS_KEY: Final = "hfile.MAX_TAGS_LEN"
_WITH_MVCC = struct.pack(">i", 1)


@dataclass(frozen=True, slots=True)
class HFile:
    """An HFile whose trailer, file info and root index have been read; data blocks are read when requested.

    `rows` are the rows of the root index' keys.

    Clauses: BF-004, MT-024.
    """

    source: HFileSource = field(repr=False)
    origin: Origin
    trailer: Trailer
    info: Mapping[str, bytes] = field(hash=False)
    index: tuple[IndexEntry, ...] = field(repr=False)
    rows: tuple[bytes, ...] = field(repr=False)

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and value of each entry, in file order, at the end checked against the count of the trailer.

        Raises:
            FormatError: the origin's reason when a block does not decode or entries are missing;
                LIMIT_EXCEEDED when the blocks unpack to more than can be held.

        Clauses: BF-004, MT-024.

        """
        count, unpacked = 0, 0
        limit = columns_limit(self.source.size)
        for block in self._data_blocks():
            unpacked += len(block.content)
            if unpacked > limit:
                raise self.origin.exceeded(block.offset, f"the HFile unpacks to over {limit} bytes")
            for entry in self._entries_of(block):
                count += 1
                yield entry
        if count != self.trailer.entry_count:
            message = f"the trailer counts {self.trailer.entry_count} entries, the blocks hold {count}"
            raise self.origin.corrupt(self.source.size - TRAILER_BYTES, message)

    def lookup(self, key: bytes) -> bytes | None:
        """The value of the first entry with this key, or None.

        Raises:
            FormatError: the origin's reason when a block on the way does not decode.

        Clauses: BF-004, MT-024.

        """
        return self.get((key,)).get(key)

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of the keys that are there, from the data blocks alone that may hold them.

        Raises:
            FormatError: the origin's reason when a block on the way does not decode.

        Clauses: BF-004, MT-024.

        """
        found: dict[bytes, bytes] = {}
        wanted = sorted(set(keys))
        for entry, within in self._blocks_of(self.index, self.rows, wanted, self.trailer.index_levels):
            for row, value in self._entries_of(self._data_block(entry)):
                if row in within:
                    found.setdefault(row, value)
        return found

    def starting_with(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Key and value of the entries whose keys begin with a prefix, in their order; no other block is read.

        Raises:
            FormatError: the origin's reason when a block on the way does not decode.

        Clauses: BF-004, MT-024.

        """
        for block in self._in_order(self._leaves_from(self.index, self.rows, prefix, self.trailer.index_levels, set())):
            for row, value in self._entries_of(block):
                if row.startswith(prefix):
                    yield row, value
                elif row > prefix:
                    return

    def meta_block(self, name: str) -> bytes | None:
        """What the meta block of a name holds, or None when there is none.

        Raises:
            FormatError: the origin's reason when the index of the meta blocks or the block does not decode.

        Clauses: BF-004, MT-024.

        """
        after_root = self._block(self.trailer.root_index_offset, ROOT_INDEX_MAGIC)
        index = self._block(after_root.offset + after_root.size, ROOT_INDEX_MAGIC)
        for entry in root_entries(index, self.trailer.meta_index_count, self.origin, exact=True):
            if entry.key == name.encode():
                return self._block(entry.offset, META_MAGIC).content
        return None

    def _blocks_of(
        self, entries: tuple[IndexEntry, ...], rows: tuple[bytes, ...], keys: Sequence[bytes], level: int
    ) -> Iterator[tuple[IndexEntry, set[bytes]]]:
        """The data blocks that may hold some of the sorted keys, with those keys.

        An index key may be smaller than the first row of its block, so a block may turn out not to hold a key.
        """
        # All keys of a call go by the same place, since the keys are sorted.
        places = groupby(keys, key=lambda key: bisect_right(rows, key) - 1)
        for place, within in places:
            if place < 0 or level == 0:
                continue
            if level == 1:
                yield entries[place], set(within)
            else:
                inner = self._inner(entries[place], level)
                below = _rows(inner, entries[place].offset, self.origin)
                yield from self._blocks_of(inner, below, list(within), level - 1)

    def _leaves_from(
        self, entries: tuple[IndexEntry, ...], rows: tuple[bytes, ...], key: bytes, level: int, seen: set[int]
    ) -> Iterator[IndexEntry]:
        """The data blocks from the one on that may hold a key."""
        for place in range(max(bisect_right(rows, key) - 1, 0), len(entries)):
            if level <= 1:
                yield entries[place]
            else:
                self._refuse_seen(entries[place], seen)
                inner = self._inner(entries[place], level)
                below = _rows(inner, entries[place].offset, self.origin)
                yield from self._leaves_from(inner, below, key, level - 1, seen)

    def _entries_of(self, block: HFileBlock) -> Iterator[tuple[bytes, bytes]]:
        with_mvcc = self.info.get(KEY_VALUE_VERSION_KEY) == _WITH_MVCC
        return data_entries(block, self.origin, with_mvcc=with_mvcc)

    def _data_blocks(self) -> Iterator[HFileBlock]:
        return self._in_order(self._leaves(self.index, self.trailer.index_levels, set()))

    def _in_order(self, entries: Iterable[IndexEntry]) -> Iterator[HFileBlock]:
        end = 0
        for entry in entries:
            # Blocks that follow each other cannot be read twice, whatever an index says.
            if entry.offset < end:
                message = "the index names a data block before the one it follows"
                raise self.origin.corrupt(max(entry.offset, 0), message)
            block = self._data_block(entry)
            end = block.offset + block.size
            yield block

    def _leaves(self, entries: tuple[IndexEntry, ...], level: int, seen: set[int]) -> Iterator[IndexEntry]:
        if level <= 1:
            yield from entries
            return
        for entry in entries:
            self._refuse_seen(entry, seen)
            yield from self._leaves(self._inner(entry, level), level - 1, seen)

    def _refuse_seen(self, entry: IndexEntry, seen: set[int]) -> None:
        if entry.offset in seen:
            raise self.origin.corrupt(entry.offset, "an index names the same block twice")
        seen.add(entry.offset)

    def _inner(self, entry: IndexEntry, level: int) -> tuple[IndexEntry, ...]:
        """The entries that an entry of this level leads to."""
        magic = LEAF_INDEX_MAGIC if level == 2 else INTERMEDIATE_INDEX_MAGIC
        return inner_entries(self._block(entry.offset, magic), self.origin)

    def _data_block(self, entry: IndexEntry) -> HFileBlock:
        block = self._block(entry.offset, DATA_MAGIC)
        if block.size != entry.size:
            message = f"the index gives a block {entry.size} bytes, it takes {block.size}"
            raise self.origin.corrupt(block.offset, message)
        return block

    def _block(self, offset: int, magic: bytes) -> HFileBlock:
        return _typed_block(self.source, offset, magic, self.trailer, self.origin)


def open_hfile(data: bytes, origin: Origin) -> HFile:
    """The HFile of these bytes, its data not yet read.

    Raises:
        FormatError: the origin's reason when trailer, file info or root index do not decode; LIMIT_EXCEEDED for
            sizes out of all bounds.
        UnsupportedFormat: another major version, a packing that is neither gzip nor none, or entries with tags.

    Clauses: BF-004, MT-024.

    """
    return open_hfile_source(BytesSource(data), origin)


def open_stored_hfile(storage: Storage, path: str, origin: Origin | None = None) -> HFile:
    """An HFile in a storage; of its data only the blocks are read that a call needs.

    Raises:
        FormatError: BASE_FILE_MISSING, or as `open_hfile`.
        UnsupportedFormat: as `open_hfile`.

    Clauses: BF-004, RD-011.

    """
    return open_hfile_source(StoredSource(storage, path), origin or Origin(path))


def open_hfile_source(source: HFileSource, origin: Origin) -> HFile:
    """The HFile of a source.

    Raises:
        FormatError: as `open_hfile`.
        UnsupportedFormat: as `open_hfile`.

    Clauses: BF-004, MT-024.

    """
    trailer = parse_trailer(source, origin)
    if not min(trailer.data_index_count, 1) <= trailer.index_levels <= MAXIMUM_INDEX_LEVELS:
        raise origin.corrupt(source.size - TRAILER_BYTES, f"the index has {trailer.index_levels} levels")
    info_block = _typed_block(source, trailer.file_info_offset, FILE_INFO_MAGIC, trailer, origin)
    info = parse_file_info(info_block.content, info_block.offset, origin)
    if _TAGS_KEY in info:
        raise origin.unsupported()
    root = _typed_block(source, trailer.root_index_offset, ROOT_INDEX_MAGIC, trailer, origin)
    index = root_entries(root, trailer.data_index_count, origin, exact=trailer.index_levels <= 1)
    return HFile(source, origin, trailer, info, index, _rows(index, root.offset, origin))


def _typed_block(source: HFileSource, offset: int, magic: bytes, trailer: Trailer, origin: Origin) -> HFileBlock:
    block = read_block(source, offset, source.size - TRAILER_BYTES, trailer.codec, origin)
    if block.magic != magic:
        raise origin.corrupt(offset, f"a block begins with {block.magic!r} where {magic!r} belongs")
    return block


def _rows(entries: tuple[IndexEntry, ...], offset: int, origin: Origin) -> tuple[bytes, ...]:
    return tuple(row_of_key(entry.key, offset, origin) for entry in entries)
