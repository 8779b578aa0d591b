"""Log blocks of other types: the Avro blocks of a stored log file encoded anew, for `GoldenTable.damage`."""

import base64
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pyroaring
from hudi_format.avro.schemas import record_schema
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import decode_avro_arrow, decode_avro_records
from hudi_format.log.hfiles import hfile_block

from hudi_conformance.corpus.golden.questions import Damage


def as_hfile_blocks(name: str) -> Damage:
    """Put the records of a log file into HFile blocks."""
    return _encoded(name, _hfile_block)


def as_parquet_blocks(name: str) -> Damage:
    """Put the records of a log file into Parquet blocks."""
    return _encoded(name, _parquet_block)


def with_positions(name: str, base_instant: str, positions: Sequence[int]) -> Damage:
    """Let the blocks of a log file state the rows of a base file that their records change."""
    stated = base64.b64encode(pyroaring.BitMap64(positions).serialize()).decode()

    def positioned(block: RawBlock, _file: str) -> bytes:
        keys = HeaderKey.RECORD_POSITIONS, HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS
        header = {**block.header, **dict(zip(keys, (stated, base_instant), strict=True))}
        return encode_block(block.type, header, block.content)

    return _encoded(name, positioned)


def _encoded(name: str, encode: Callable[[RawBlock, str], bytes]) -> Damage:
    def edit(table: Path) -> None:
        path = table / name
        blocks = read_blocks(path.read_bytes(), name)
        path.write_bytes(b"".join(encode(block, name) for block in blocks if isinstance(block, RawBlock)))

    return edit


def _hfile_block(block: RawBlock, file: str) -> bytes:
    schema = record_schema(block.header[HeaderKey.SCHEMA], file)
    return hfile_block(block.header[HeaderKey.INSTANT_TIME], decode_avro_records(block, file), schema)


def _parquet_block(block: RawBlock, file: str) -> bytes:
    rows, sink = decode_avro_arrow(block, file).replace_schema_metadata(None), io.BytesIO()
    pq.write_table(rows, sink, compression="NONE", store_schema=False)
    return encode_block(BlockType.PARQUET_DATA, block.header, sink.getvalue())
