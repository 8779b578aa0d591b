"""HFile data blocks hold the records that an Avro data block of the same schema holds."""

import json
import struct
from typing import Any

import pytest
from format_strategies import TEXT
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.writer import write_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import data_block, decode_arrow, decode_records
from hudi_format.log.hfiles import hfile_block
from hypothesis import given, settings
from hypothesis import strategies as st

SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "_hoodie_record_key", "type": ["null", "string"]},
        {"name": "n", "type": ["null", "long"]},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
    ],
}
RECORDS = st.dictionaries(TEXT, st.none() | st.integers(-(2**62), 2**62), max_size=8).map(
    lambda numbers: [
        {"_hoodie_record_key": key, "n": numbers[key], "at": None} for key in sorted(numbers, key=str.encode)
    ]
)


def block_of(data: bytes) -> RawBlock:
    (block,) = read_blocks(data, "f")
    assert isinstance(block, RawBlock)
    return block


def whole(content: bytes, schema: Any = SCHEMA) -> RawBlock:
    return block_of(encode_block(BlockType.HFILE_DATA, {HeaderKey.SCHEMA: json.dumps(schema)}, content))


@settings(deadline=None)
@given(RECORDS)
def test_records_are_those_of_an_avro_block(records: list[dict[str, Any]]):
    one, other = block_of(hfile_block("1", reversed(records), SCHEMA)), block_of(data_block("1", records, SCHEMA))
    assert one.header == other.header
    assert decode_records(one, "f") == decode_records(other, "f") == records
    assert decode_arrow(one, "f").equals(decode_arrow(other, "f"))


def test_two_records_of_one_key_are_not_written():
    record = {"_hoodie_record_key": "a", "n": 1, "at": None}
    with pytest.raises(ValueError, match="keys"):
        hfile_block("1", [record, record], SCHEMA)


GOOD = b"\2\2a\0\0"


@pytest.mark.parametrize("value", [b"", GOOD[:-1], GOOD + b"\0", b"\6", b"\2\4\xff\xff\0\0"])
def test_a_value_that_is_no_record_is_refused_at_the_content_of_its_block(value: bytes):
    block = whole(write_hfile([(b"a", value)]))
    for decode in (decode_records, decode_arrow):
        with pytest.raises(FormatError) as caught:
            decode(block, "x.log")
        assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-013")
        assert (caught.value.file, caught.value.offset) == ("x.log", block.content_offset)


@pytest.mark.parametrize("content", [b"", bytes(5000), write_hfile([(b"a", GOOD)])[1:]])
def test_content_that_is_no_hfile_is_refused_within_its_block(content: bytes):
    block = whole(content)
    with pytest.raises(FormatError) as caught:
        decode_arrow(block, "x.log")
    assert caught.value.reason == Reason.LOG_CONTENT_CORRUPT
    assert block.content_offset <= (caught.value.offset or 0) <= block.content_offset + len(content)


def test_a_block_without_schema_is_refused():
    block = block_of(encode_block(BlockType.HFILE_DATA, {}, write_hfile([(b"a", GOOD)])))
    with pytest.raises(FormatError) as caught:
        decode_records(block, "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.LOG_CONTENT_CORRUPT, "LF-007")


def test_a_huge_block_inside_a_log_is_a_limit():
    content = bytearray(write_hfile([(b"a", GOOD)]))
    content[12:16] = struct.pack(">i", 2**31 - 1)
    with pytest.raises(FormatError) as caught:
        decode_arrow(whole(bytes(content)), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.LIMIT_EXCEEDED, "LF-007")


def test_an_hfile_of_another_version_names_the_feature():
    with pytest.raises(UnsupportedFormat) as caught:
        decode_arrow(whole(write_hfile([(b"a", GOOD)])[:-1] + b"\2"), "f")
    assert caught.value.feature == "log-hfile"


def test_only_the_metadata_tables_records_take_their_key_from_the_hfile():
    fields = [{"name": "key", "type": "string"}]
    named = {
        "type": "record",
        "name": "HoodieMetadataRecord",
        "namespace": "org.apache.hudi.avro.model",
        "fields": fields,
    }
    content = write_hfile([(b"k", b"\0")])
    assert decode_records(whole(content, named), "f") == [{"key": "k"}]
    assert decode_records(whole(content, {**named, "name": "orders"}), "f") == [{"key": ""}]
    with pytest.raises(FormatError):
        decode_records(whole(write_hfile([(b"\xff", b"\0")]), named), "f")
