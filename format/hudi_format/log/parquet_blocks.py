"""Parquet data blocks: a whole Parquet file with the Avro schema of its rows in the footer, nothing around it."""

import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_format.avro.schemas import schema_text
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block


def parquet_block(instant: str, rows: pa.Table, schema: Any, header: Mapping[HeaderKey, str] | None = None) -> bytes:
    """A whole Parquet data block; the rows have the columns of the Avro schema, meta fields first.

    Clauses: LF-001, LF-005, LF-027.
    """
    text = schema_text(schema)
    entries = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: text, **(header or {})}
    return encode_block(BlockType.PARQUET_DATA, entries, parquet_content(rows, text))


def parquet_content(rows: pa.Table, schema: str, compression: str = "GZIP", level: int | None = None) -> bytes:
    """The content of a Parquet data block; `schema` is the text of the rows' Avro schema, `level` that of compression.

    Clauses: LF-027.
    """
    stream = io.BytesIO()
    bare = rows.replace_schema_metadata(None)
    packed = {"compression": compression, "compression_level": level}
    with pq.ParquetWriter(stream, bare.schema, store_schema=False, **packed) as writer:
        writer.write_table(bare)
        writer.add_key_value_metadata({"parquet.avro.schema": schema, "writer.model.name": "avro"})
    return stream.getvalue()
