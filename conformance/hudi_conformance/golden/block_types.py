"""Log blocks of other types: the Avro blocks of a stored log file encoded anew, for `GoldenTable.damage`."""

import io
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from hudi_format.avro_schemas import record_schema
from hudi_format.log_blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log_content import decode_avro_arrow, decode_avro_records
from hudi_format.log_hfiles import hfile_block

from hudi_conformance.golden.questions import Damage


def as_hfile_blocks(name: str) -> Damage:
    """Put the records of a log file into HFile blocks."""
    return _encoded(name, _hfile_block)


def as_parquet_blocks(name: str) -> Damage:
    """Put the records of a log file into Parquet blocks."""
    return _encoded(name, _parquet_block)


def _encoded(name: str, encode: Callable[[RawBlock, str], bytes]) -> Damage:
    def deed(table: Path) -> None:
        path = table / name
        blocks = read_blocks(path.read_bytes(), name)
        path.write_bytes(b"".join(encode(block, name) for block in blocks if isinstance(block, RawBlock)))

    return deed


def _hfile_block(block: RawBlock, file: str) -> bytes:
    schema = record_schema(block.header[HeaderKey.SCHEMA], file)
    return hfile_block(block.header[HeaderKey.INSTANT_TIME], decode_avro_records(block, file), schema)


def _parquet_block(block: RawBlock, file: str) -> bytes:
    rows, sink = decode_avro_arrow(block, file).replace_schema_metadata(None), io.BytesIO()
    pq.write_table(rows, sink, compression="NONE", store_schema=False)
    return encode_block(BlockType.PARQUET_DATA, block.header, sink.getvalue())
