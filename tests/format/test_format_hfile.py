"""HFiles: what the writer makes is read whole and by key; the shapes that only HBase's writer makes; bad bytes."""

import hashlib
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from format_strategies import damaged
from hudi_format.checksums import crc32c
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile import blocks as hfile_blocks
from hudi_format.hfile.blocks import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    INTERMEDIATE_INDEX_MAGIC,
    LEAF_INDEX_MAGIC,
    ROOT_INDEX_MAGIC,
    Checksum,
    Codec,
    Origin,
    encode_hfile_block,
)
from hudi_format.hfile.index import IndexEntry, encode_entry, encode_root_index, encode_row
from hudi_format.hfile.reader import HFile, open_hfile, open_stored_hfile
from hudi_format.hfile.trailer import Trailer, encode_file_info, encode_trailer
from hudi_format.hfile.writer import write_hfile
from hudi_format.storage import LocalStorage
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

ORIGIN = Origin("f.hfile")
ENTRIES = st.dictionaries(st.binary(max_size=200), st.binary(max_size=40), max_size=12).map(
    lambda entries: sorted(entries.items())
)
PACKED = st.sampled_from(list(Codec))
CHECKED = st.sampled_from(list(Checksum))
# What a key of HBase's index holds after its row.
TAIL = b"\0\x7f" + b"\xff" * 7 + b"\4"
MVCC = {"KEY_VALUE_VERSION": struct.pack(">i", 1)}


def read(data: bytes, origin: Origin = ORIGIN):
    return open_hfile(data, origin)


@settings(deadline=None)
@given(ENTRIES, PACKED, CHECKED, st.integers(1, 200), st.dictionaries(st.text(max_size=4), st.binary(max_size=9)))
@example([(bytes(128), b""), (bytes(32767), b"")], Codec.NONE, Checksum.CRC32C, 1, {})
def test_what_is_written_is_read_whole_and_by_key(
    entries: Any, codec: Codec, checksum: Checksum, block_bytes: int, metas: dict[str, bytes]
):
    info = {"schema": b"{}"}
    data = write_hfile(entries, info, metas, codec=codec, checksum=checksum, block_bytes=block_bytes)
    opened = read(data)
    assert list(opened.entries()) == entries
    assert all(opened.lookup(key) == value for key, value in entries)
    assert (opened.info["schema"], opened.trailer.entry_count) == (b"{}", len(entries))
    assert {name: opened.meta_block(name) for name in metas} == metas
    assert write_hfile(entries, info, metas, codec=codec, checksum=checksum, block_bytes=block_bytes) == data


@settings(deadline=None)
@given(ENTRIES, st.binary(max_size=200), st.integers(1, 200))
def test_a_key_that_is_not_there_is_not_found(entries: Any, key: bytes, block_bytes: int):
    assert read(write_hfile(entries, block_bytes=block_bytes)).lookup(key) == dict(entries).get(key)


ALPHABET = st.binary(max_size=4).map(lambda key: bytes(byte % 3 for byte in key))
FEW_LETTERS = st.dictionaries(ALPHABET, st.binary(max_size=9), max_size=30).map(lambda found: sorted(found.items()))


@settings(deadline=None)
@given(FEW_LETTERS, st.lists(ALPHABET, max_size=8), st.integers(1, 80))
def test_keys_and_prefixes_find_what_a_whole_read_finds(entries: Any, wanted: list[bytes], block_bytes: int):
    opened = read(write_hfile(entries, block_bytes=block_bytes))
    assert opened.get(wanted) == {key: value for key, value in entries if key in wanted}
    for prefix in (b"", *wanted):
        assert list(opened.starting_with(prefix)) == [pair for pair in entries if pair[0].startswith(prefix)]


def test_a_lookup_in_a_stored_file_reads_some_of_its_blocks(tmp_path: Path):
    rows = [(b"%06d" % number, hashlib.shake_128(b"%d" % number).digest(2000)) for number in range(2000)]
    (tmp_path / "f.hfile").write_bytes(data := write_hfile(rows, block_bytes=100_000))
    storage = CountingStorage(tmp_path)
    opened = open_stored_hfile(storage, "f.hfile")
    assert opened.get([b"000007", b"001999", b"x"]) == {b"000007": rows[7][1], b"001999": rows[1999][1]}
    assert [key for key, _ in opened.starting_with(b"00123")] == [b"00123%d" % digit for digit in range(10)]
    assert storage.bytes_read < len(data) / 5
    assert list(opened.entries()) == rows


class CountingStorage(LocalStorage):
    bytes_read = 0

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self.bytes_read += length
        return super().read_range(path, offset, length)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FormatError) as caught:
        open_stored_hfile(LocalStorage(tmp_path), "absent.hfile")
    assert (caught.value.reason, caught.value.file) == (Reason.BASE_FILE_MISSING, "absent.hfile")


@pytest.mark.parametrize("keys", [(b"b", b"a"), (b"a", b"a")])
def test_keys_that_no_reader_would_find_are_not_written(keys: tuple[bytes, ...]):
    with pytest.raises(ValueError, match="key"):
        write_hfile([(key, b"") for key in keys])


def test_a_key_whose_length_has_no_room_is_refused_by_name():
    """A key may come from any row; the length of one has 15 bits."""
    write_hfile([(bytes(32767), b"")])
    with pytest.raises(FormatError, match="32768 bytes") as caught:
        write_hfile([(bytes(32768), b"")])
    assert (caught.value.reason, caught.value.clause) == (Reason.LIMIT_EXCEEDED, "MT-024")


def test_the_checksum_is_castagnolis():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0


class Parts:
    """An HFile put together block by block."""

    def __init__(self, codec: Codec = Codec.NONE) -> None:
        self.codec = codec
        self.data = b""

    def add(self, magic: bytes, content: bytes, key: bytes = b"") -> IndexEntry:
        block = encode_hfile_block(magic, content, self.codec, -1, Checksum.NONE)
        self.data += block
        return IndexEntry(len(self.data) - len(block), len(block), key)

    def rows(self, *rows: bytes, key: bytes | None = None) -> IndexEntry:
        """A data block of rows that are their own values."""
        content = b"".join(encode_entry(row, row) for row in rows)
        return self.add(DATA_MAGIC, content, encode_row(rows[0] if key is None else key) + TAIL)

    def inner(self, magic: bytes, *entries: IndexEntry) -> IndexEntry:
        """An index block below the root."""
        parts = [struct.pack(">qi", one.offset, one.size) + one.key for one in entries]
        ends = [sum(map(len, parts[:index])) for index in range(len(parts) + 1)]
        head = struct.pack(f">{len(ends) + 1}i", len(parts), *ends)
        return self.add(magic, head + b"".join(parts), entries[0].key)

    def done(
        self, root: list[IndexEntry], entries: int, levels: int = 1, info: Any = None, after: bytes = b""
    ) -> HFile:
        index = self.add(ROOT_INDEX_MAGIC, encode_root_index(root) + after)
        self.add(ROOT_INDEX_MAGIC, b"")
        about = self.add(FILE_INFO_MAGIC, encode_file_info(MVCC if info is None else info))
        trailer = Trailer(about.offset, index.offset, 0, len(root), 0, entries, levels, 0, 0, self.codec)
        return read(self.data + encode_trailer(trailer))


@pytest.mark.parametrize("codec", list(Codec))
def test_an_index_of_three_levels_leads_to_every_entry(codec: Codec):
    parts = Parts(codec)
    leaves = [
        parts.inner(LEAF_INDEX_MAGIC, parts.rows(first, first + b"1"), parts.rows(first + b"2"))
        for first in (b"b", b"d", b"f", b"h")
    ]
    inner = [parts.inner(INTERMEDIATE_INDEX_MAGIC, *leaves[:2]), parts.inner(INTERMEDIATE_INDEX_MAGIC, *leaves[2:])]
    # HBase puts where the middle is after a root index that has levels below it.
    opened = parts.done(inner, 12, levels=3, after=bytes(16))
    rows = [first + rest for first in (b"b", b"d", b"f", b"h") for rest in (b"", b"1", b"2")]
    assert list(opened.entries()) == [(row, row) for row in rows]
    assert opened.get([*rows, b"a", b"c", b"z"]) == {row: row for row in rows}
    for prefix in (b"", b"a", b"b", b"d", b"d2", b"e", b"h", b"h3"):
        assert [row for row, _ in opened.starting_with(prefix)] == [row for row in rows if row.startswith(prefix)]
    assert [opened.lookup(row) for row in (b"", b"a", b"b3", b"c", b"e", b"z")] == [None] * 6


def test_an_index_key_may_stand_between_two_blocks():
    parts = Parts()
    opened = parts.done([parts.rows(b"apple"), parts.rows(b"plum", b"quince", key=b"c")], 3)
    assert [opened.lookup(row) for row in (b"apple", b"plum", b"quince")] == [b"apple", b"plum", b"quince"]
    assert [opened.lookup(row) for row in (b"b", b"c", b"d", b"plumb")] == [None] * 4
    assert [row for row, _ in opened.starting_with(b"p")] == [b"plum"]


def test_without_mvcc_no_number_follows_an_entry():
    parts = Parts()
    content = b"".join(encode_entry(row, row)[:-1] for row in (b"a", b"b"))
    opened = parts.done([parts.add(DATA_MAGIC, content, encode_row(b"a"))], 2, info={})
    assert list(opened.entries()) == [(b"a", b"a"), (b"b", b"b")]


def refusal(use: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        use()
    return caught.value


def test_an_index_that_goes_round_is_refused():
    parts = Parts()
    block = parts.rows(b"a")
    leaf = parts.inner(LEAF_INDEX_MAGIC, block)
    opened = parts.done([leaf, leaf], 2, levels=2)
    assert refusal(lambda: list(opened.entries())).reason == Reason.BASE_FILE_CORRUPT
    again = Parts()
    block = again.rows(b"a")
    assert "before" in refusal(lambda: list(again.done([block, block], 2).entries())).message


@pytest.mark.parametrize("checksum", [Checksum.CRC32, Checksum.CRC32C])
@settings(deadline=None)
@given(at=st.integers(0, 10**9), flip=st.integers(1, 255))
def test_a_changed_byte_of_a_checked_block_is_seen(checksum: Checksum, at: int, flip: int):
    """A block of more than one stretch, so that each stretch is seen to be checked."""
    entries = [(b"%03d" % index, bytes(200)) for index in range(200)]
    data = bytearray(write_hfile(entries, codec=Codec.NONE, checksum=checksum))
    position = 33 + at % 40_000
    data[position] ^= flip
    error = refusal(lambda: list(read(bytes(data)).entries()))
    assert (error.reason, error.offset) == (Reason.BASE_FILE_CORRUPT, 0)
    assert checksum.name in error.message


def test_a_block_that_would_unpack_to_more_than_can_be_held_is_not_unpacked(monkeypatch: pytest.MonkeyPatch):
    data = write_hfile([(b"a", bytes(5000))])
    declared = bytearray(data)
    declared[12:16] = struct.pack(">i", 2**31 - 1)
    assert refusal(lambda: list(read(bytes(declared)).entries())).reason == Reason.LIMIT_EXCEEDED
    monkeypatch.setattr(hfile_blocks, "MAXIMUM_BLOCK_BYTES", 5000)
    assert refusal(lambda: list(read(data).entries())).reason == Reason.LIMIT_EXCEEDED


def test_a_block_that_unpacks_to_more_than_it_declares_is_refused():
    data = bytearray(write_hfile([(b"a", bytes(5000))]))
    data[12:16] = struct.pack(">i", 4999)
    assert refusal(lambda: list(read(bytes(data)).entries())).reason == Reason.BASE_FILE_CORRUPT


def test_entries_that_the_trailer_does_not_count_are_refused():
    parts = Parts()
    opened = parts.done([parts.rows(b"a")], 2)
    assert "counts 2 entries" in refusal(lambda: list(opened.entries())).message


def trailer_of(**changes: Any) -> bytes:
    values = dict.fromkeys(("file_info_offset", "root_index_offset", "unpacked_bytes", "data_index_count"), 0)
    values |= dict.fromkeys(("meta_index_count", "entry_count", "first_data_offset", "last_data_offset"), 0)
    return encode_trailer(Trailer(**{**values, "index_levels": 1, "codec": Codec.NONE, **changes}))


@pytest.mark.parametrize(
    "data",
    [
        trailer_of(codec=4),
        trailer_of()[:-1] + b"\2",
        write_hfile([(b"a", b"")], {"hfile.MAX_TAGS_LEN": b"\0\0\0\1"}),
    ],
)
def test_another_packing_or_version_or_tags_are_legal_and_not_built(data: bytes):
    with pytest.raises(UnsupportedFormat) as caught:
        read(data)
    assert caught.value.feature in {"base-hfile", "base-hfile-lz4"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(4096),
        trailer_of(),
        trailer_of(file_info_offset=2**63),
        trailer_of(index_levels=9),
        trailer_of(index_levels=0, data_index_count=1),
        b'TRABLK"$'.ljust(4095, b"\0") + b"\3",
        b'TRABLK"$'.ljust(4092, b"\xff") + b"\0\0\0\3",
    ],
)
def test_what_is_no_hfile_is_refused_with_the_file_and_where(data: bytes):
    error = refusal(lambda: read(data))
    assert (error.reason, error.clause, error.file) == (Reason.BASE_FILE_CORRUPT, "BF-004", "f.hfile")
    assert error.offset is not None


def test_inside_a_log_block_the_offset_counts_from_the_start_of_the_log():
    origin = Origin("x.log", Reason.LOG_CONTENT_CORRUPT, "LF-013", "LF-007", 1000, "log-hfile")
    error = refusal(lambda: read(bytes(5000), origin))
    assert (error.reason, error.clause, error.offset) == (Reason.LOG_CONTENT_CORRUPT, "LF-013", 1904)


ROWS = [(b"%02d" % index, zlib.compress(b"%d" % index)) for index in range(20)]
SAMPLES = [
    write_hfile(ROWS, {"schema": b"s"}, {"m": b"1"}, codec=codec, checksum=checksum, block_bytes=100)
    for codec in Codec
    for checksum in (Checksum.NONE, Checksum.CRC32)
]


def two_levels() -> bytes:
    parts = Parts()
    leaves = [
        parts.inner(LEAF_INDEX_MAGIC, parts.rows(b"a"), parts.rows(b"b")),
        parts.inner(LEAF_INDEX_MAGIC, parts.rows(b"c")),
    ]
    source = parts.done(leaves, 3, levels=2).source
    return source.read(0, source.size)


UNBUILT = {"base-hfile", *(f"base-hfile-{codec}" for codec in ("lzo", "snappy", "lz4", "bzip2", "zstd"))}


def uses(data: bytes) -> None:
    opened = read(data)
    opened.lookup(b"07")
    opened.get(row for row, _ in ROWS)
    list(opened.starting_with(b"1"))
    opened.meta_block("m")
    list(opened.entries())


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(*SAMPLES, two_levels()))
def test_any_bytes_are_read_or_refused_with_the_one_error(data: bytes):
    try:
        uses(data)
    except (FormatError, UnsupportedFormat) as refused:
        named = getattr(refused, "reason", None) or getattr(refused, "feature", None)
    else:
        return
    assert named in {Reason.BASE_FILE_CORRUPT, Reason.LIMIT_EXCEEDED, *UNBUILT}


@pytest.mark.parametrize("sample", [*SAMPLES, two_levels()], ids=range(len(SAMPLES) + 1))
def test_every_byte_set_to_each_extreme_is_read_or_refused(sample: bytes):
    whole = len(sample) - 4096 + 80
    for at in range(whole):
        for value in (0, 0x7F, 0x80, 0xFF):
            changed = sample[:at] + bytes((value,)) + sample[at + 1 :]
            try:
                uses(changed)
            except (FormatError, UnsupportedFormat):
                continue
