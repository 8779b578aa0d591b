"""Any bytes at all: every parser answers with values, with its one error, or says what is not built."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from format_strategies import damaged
from hudi_format.avro.files import read_container
from hudi_format.base.files import base_file_footer, read_base_file, write_base_file
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.log.blocks import BlockType, RawBlock, encode_block, read_blocks
from hudi_format.log.content import (
    data_block,
    decode_arrow,
    decode_command,
    decode_deletes,
    decode_records,
    delete_block,
    rollback_block,
)
from hudi_format.log.deletes import DeleteRecord
from hudi_format.log.hfiles import hfile_block
from hudi_format.schemas import arrow_schema
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import check_checksum, parse_properties, serialise_properties
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import (
    CommitMetadata,
    WriteStat,
    parse_commit_metadata,
    serialise_avro,
    serialise_json,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COMMIT = CommitMetadata(
    "UPSERT", False, (WriteStat("f", "p/f", partition_path="p", cdc_stats={"a": 1}),), {}, {"a": "b"}
)
SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "id", "type": ["null", "string"]},
        {"name": "n", "type": ["null", {"type": "array", "items": "long"}]},
        {"name": "d", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}]},
        {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "m", "type": {"type": "map", "values": "double"}},
    ],
}
RECORD = {"id": "a", "n": [1, 2], "d": None, "t": None, "day": None, "m": {"x": 1.0}}
LOG = data_block("20250101000000000", [RECORD] * 3, SCHEMA)
DELETE = delete_block("20250101000000001", [DeleteRecord("k", "p"), DeleteRecord("k", "p", ("a", 1))])
PARQUET = write_base_file(pa.table({"_hoodie_record_key": ["a", "b"], "n": [1, None]}), SCHEMA)
HFILE_BLOCK = hfile_block("20250101000000002", [RECORD], SCHEMA, key_field="id")
PARQUET_BLOCK = encode_block(BlockType.PARQUET_DATA, {}, PARQUET)
PROPERTIES = serialise_properties({"hoodie.table.name": "süd", "hoodie.table.checksum": "1"}, ["x"])
CONTAINERS = [serialise_avro(COMMIT, replace=True), plans.serialise_clean_metadata(plans.CleanMetadata("1"))]

THOROUGH = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answers(use: Callable[..., Any], *arguments: object):
    """The value, or None when it was refused as it should be."""
    try:
        return use(*arguments)
    except (FormatError, UnsupportedFormat):
        return None


@THOROUGH
@given(damaged(PROPERTIES))
def test_properties(data: bytes):
    properties = answers(parse_properties, data, "f")
    if properties is not None:
        answers(check_checksum, properties, "f")
        assert parse_properties(serialise_properties(properties), "f") == properties


@THOROUGH
@given(damaged(serialise_json(COMMIT), *CONTAINERS))
def test_commit_metadata(data: bytes):
    metadata = answers(parse_commit_metadata, data, "f")
    if metadata is not None:
        assert parse_commit_metadata(serialise_json(metadata), "f").extra == metadata.extra


@THOROUGH
@given(damaged(*CONTAINERS))
def test_containers_and_plans(data: bytes):
    answers(read_container, data, "f")
    for form in (plans.CLEAN_METADATA, plans.COMPACTION_PLAN):
        answers(form.parse, data, "f")


@THOROUGH
@given(damaged(LOG + DELETE + rollback_block("2", "1") + LOG, LOG, DELETE, PARQUET_BLOCK, HFILE_BLOCK))
def test_log_files(data: bytes):
    for block in answers(read_blocks, data, "f") or ():
        if isinstance(block, RawBlock):
            for decode in (decode_records, decode_arrow, decode_deletes, decode_command):
                answers(decode, block, "f")


@THOROUGH
@given(damaged(LOG[14:], DELETE[14:], PARQUET), st.sampled_from(list(BlockType)), st.booleans())
def test_content_of_whole_blocks(content: bytes, kind: Any, with_schema: bool):
    header = read_blocks(LOG, "f")[0].header if with_schema else {}
    for block in answers(read_blocks, encode_block(kind, header, content), "f") or ():
        for decode in (decode_records, decode_arrow, decode_deletes, decode_command):
            answers(decode, block, "f")


@THOROUGH
@given(damaged(read_blocks(LOG, "f")[0].content))
def test_avro_content(content: bytes):
    (block,) = read_blocks(encode_block(BlockType.AVRO_DATA, read_blocks(LOG, "f")[0].header, content), "f")
    answers(decode_records, block, "f")
    answers(decode_arrow, block, "f")


@THOROUGH
@given(damaged(read_blocks(HFILE_BLOCK, "f")[0].content))
def test_hfile_content(content: bytes):
    header = read_blocks(HFILE_BLOCK, "f")[0].header
    (block,) = read_blocks(encode_block(BlockType.HFILE_DATA, header, content), "f")
    answers(decode_records, block, "f")
    answers(decode_arrow, block, "f")


@THOROUGH
@given(damaged(read_blocks(DELETE, "f")[0].content))
def test_delete_content(content: bytes):
    (block,) = read_blocks(encode_block(BlockType.DELETE, {}, content), "f")
    answers(decode_deletes, block, "f")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory):
    return LocalStorage(tmp_path_factory.mktemp("bad"))


@THOROUGH
@given(data=damaged(PARQUET))
def test_base_files(storage: LocalStorage, data: bytes):
    storage.put("a.parquet", data)
    answers(read_base_file, storage, "a.parquet")
    answers(base_file_footer, storage, "a.parquet")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**12) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TYPE_NAMES = ("null", "int", "long", "bytes", "record", "array", "map", "enum", "fixed", "r", "x.y")
SCHEMA_KEYS = ("type", "name", "fields", "items", "values", "symbols", "size", "logicalType", "precision", "scale")
SCHEMAS = st.recursive(
    st.sampled_from(TYPE_NAMES) | JSON,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(SCHEMA_KEYS), inner | st.sampled_from(("decimal", "date", "uuid")), max_size=6
        )
    ),
    max_leaves=12,
)


@THOROUGH
@given(SCHEMAS)
def test_schemas(kind: Any):
    answers(arrow_schema, {"type": "record", "name": "r", "fields": [{"name": "a", "type": kind}]}, "f")
    answers(arrow_schema, kind, "f")
