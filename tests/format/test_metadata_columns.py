"""Files of a metadata table out of columns: the bytes that the same records give one by one."""

import pyarrow as pa
import pytest
from format_strategies import TEXT
from hudi_format.errors import FormatError, Reason
from hudi_format.hfile.blocks import Codec, Origin
from hudi_format.hfile.index import encode_entries, encode_entry
from hudi_format.hfile.reader import open_hfile
from hudi_format.hfile.writer import write_hfile_columns
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.deletes import DeleteRecord, decode_deletes, encode_deletes
from hudi_format.metadata.columns import (
    columns_base_file,
    columns_block,
    columns_delete_block,
    in_key_order,
    record_bytes,
)
from hudi_format.metadata.files import decode_metadata_block, metadata_base_file
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import FileIdEncoding, MetadataRecord, RecordLocation, RecordType
from hypothesis import given, settings
from hypothesis import strategies as st

FILE_ID = "ba70a2a3-6a1c-4c2c-b8a7-8a0e2a2e0f4f-7"
KEYS = st.lists(TEXT, max_size=20, unique=True)
RELEASES = st.sampled_from(list(SchemaRelease))
PLACES = [
    RecordLocation("p=1", FILE_ID, 1_700_000_000_000),
    RecordLocation("", "any file id", 0, FileIdEncoding.TEXT),
]


def ordered(keys: list[str]) -> pa.ChunkedArray:
    return in_key_order(pa.table({"key": pa.array(keys, pa.string())})).column("key")


def only_block(data: bytes) -> RawBlock:
    (block,) = read_blocks(data, "f")
    assert isinstance(block, RawBlock)
    return block


@settings(deadline=None)
@given(KEYS, RELEASES, st.sampled_from(PLACES))
def test_a_block_of_columns_holds_the_records(keys: list[str], release: SchemaRelease, place: RecordLocation):
    column = ordered(keys)
    values = pa.chunked_array([pa.repeat(record_bytes(RecordType.RECORD_INDEX, place, release), len(keys))])
    block = only_block(columns_block("001", column, values, release))
    assert block.header[HeaderKey.INSTANT_TIME] == "001"
    expected = [MetadataRecord(key, RecordType.RECORD_INDEX, place) for key in sorted(keys, key=str.encode)]
    assert list(decode_metadata_block(block, "f")) == expected


@settings(deadline=None)
@given(KEYS)
def test_a_base_file_of_columns_is_that_of_its_records(keys: list[str]):
    records = [MetadataRecord(key, RecordType.RECORD_INDEX, PLACES[0]) for key in keys]
    values = pa.chunked_array([pa.repeat(record_bytes(RecordType.RECORD_INDEX, PLACES[0]), len(keys))])
    made = open_hfile(columns_base_file(ordered(keys), values), Origin("f"))
    known = open_hfile(metadata_base_file(records), Origin("f"))
    assert (list(made.entries()), made.info) == (list(known.entries()), known.info)
    assert made.meta_block("bloomFilter") == known.meta_block("bloomFilter")


@settings(deadline=None)
@given(KEYS, TEXT)
def test_a_delete_block_of_columns_is_that_of_its_keys(keys: list[str], partition: str):
    block = only_block(columns_delete_block("001", partition, pa.chunked_array([keys], pa.string())))
    deletes = [DeleteRecord(key, partition) for key in keys]
    assert (block.type, block.content) == (BlockType.DELETE, encode_deletes(deletes))
    assert [one.key for one in decode_deletes(block, "f")] == keys


@given(st.lists(st.tuples(st.binary(max_size=300), st.binary(max_size=40)), max_size=9))
def test_entries_of_columns_are_entries_one_by_one(entries: list[tuple[bytes, bytes]]):
    rows, values = (pa.array([entry[part] for entry in entries], pa.large_binary()) for part in range(2))
    assert encode_entries(rows, values).to_pylist() == [encode_entry(*entry) for entry in entries]


def test_a_key_too_long_and_keys_that_do_not_rise_are_refused():
    values = pa.array([b"", b""])
    with pytest.raises(FormatError, match="longer") as caught:
        write_hfile_columns(pa.array([b"a", b"b" * 2**15]), values)
    assert caught.value.reason is Reason.LIMIT_EXCEEDED
    for keys in (["a", "a"], ["b", "a"]):
        with pytest.raises(ValueError, match="rise"):
            write_hfile_columns(pa.array(keys), values, codec=Codec.NONE)
