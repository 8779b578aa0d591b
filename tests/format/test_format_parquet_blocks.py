"""Parquet blocks: written rows come back with their types."""

from typing import Any

import pyarrow as pa
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import decode_arrow
from hudi_format.log.parquet_blocks import parquet_block
from hudi_format.schemas import arrow_schema

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "t_record",
    "fields": [
        {"name": "_hoodie_record_key", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}


def test_rows_of_a_parquet_block_come_back_with_their_types():
    schema = arrow_schema(SCHEMA)
    rows = pa.table([["a", None], [1, 2], [pa.scalar(1).as_py()] * 2, [["x"], []]], schema=schema)
    (block,) = read_blocks(parquet_block("20250101000000000", rows, SCHEMA, {HeaderKey.IS_PARTIAL: "true"}), "f")
    assert isinstance(block, RawBlock)
    assert (block.type, block.header[HeaderKey.IS_PARTIAL]) == (BlockType.PARQUET_DATA, "true")
    assert decode_arrow(block, "f").cast(schema).equals(rows)
