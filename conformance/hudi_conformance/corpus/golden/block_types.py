"""Stored files encoded anew, for `GoldenTable.damage`: Avro blocks of logs as other types, Parquet in other forms."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyroaring
from hudi_format.avro.files import read_container, write_container
from hudi_format.avro.schemas import record_schema
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import decode_avro_arrow, decode_avro_records
from hudi_format.log.hfiles import hfile_block

from hudi_conformance.corpus.golden.questions import Damage


def as_hfile_blocks(name: str) -> Damage:
    """Put the records of a log file into HFile blocks."""
    return _encoded(name, _hfile_block)


def as_parquet_blocks(name: str, **form: Any) -> Damage:
    """Put the records of a log file into Parquet blocks; `form` as pyarrow's writer takes it."""
    return _encoded(name, partial(_parquet_block, form=form))


def in_another_form(name: str, row_group_size: int = 100, **form: Any) -> Damage:
    """Write a base file with other encodings, types of the format or packing; its rows and footer keys stay.

    The commits that name the file state its new size.
    """

    def edit(table: Path) -> None:
        path, sink = table / name, io.BytesIO()
        opened = pq.ParquetFile(pa.BufferReader(path.read_bytes()))
        rows = opened.read().replace_schema_metadata(None)
        keys = {key.decode(): value.decode() for key, value in opened.metadata.metadata.items()}
        with pq.ParquetWriter(sink, rows.schema, store_schema=False, **form) as writer:
            writer.write_table(rows, row_group_size)
            writer.add_key_value_metadata(dict(sorted(keys.items())))
        path.write_bytes(sink.getvalue())
        for commit in table.glob(".hoodie/timeline/*_*commit"):
            _restate_size(commit, name, len(sink.getvalue()))

    return edit


def _restate_size(commit: Path, name: str, size: int) -> None:
    schema, (record,) = read_container(commit.read_bytes(), commit.name)
    for stats in record["partitionToWriteStats"].values():
        for stat in stats:
            if stat["path"] == name:
                stat.update(fileSizeInBytes=size, totalWriteBytes=size)
    commit.write_bytes(write_container(schema, [record]))


def with_positions(name: str, base_instant: str, positions: Sequence[int]) -> Damage:
    """Let the blocks of a log file state the rows of a base file that their records change."""
    stated = base64.b64encode(pyroaring.BitMap64(positions).serialize()).decode()

    def positioned(block: RawBlock, _file: str) -> bytes:
        keys = HeaderKey.RECORD_POSITIONS, HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS
        header = {**block.header, **dict(zip(keys, (stated, base_instant), strict=True))}
        return encode_block(block.type, header, block.content)

    return _encoded(name, positioned)


def under_another_name(name: str, old: str, new: str) -> Damage:
    """Let the schemas of a log file's blocks call the records otherwise: their namespaces, and those of their parts."""

    def renamed(block: RawBlock, _file: str) -> bytes:
        schema = block.header[HeaderKey.SCHEMA].replace(old, new)
        return encode_block(block.type, {**block.header, HeaderKey.SCHEMA: schema}, block.content)

    return _encoded(name, renamed)


def _encoded(name: str, encode: Callable[[RawBlock, str], bytes]) -> Damage:
    def edit(table: Path) -> None:
        path = table / name
        blocks = read_blocks(path.read_bytes(), name)
        path.write_bytes(b"".join(encode(block, name) for block in blocks if isinstance(block, RawBlock)))

    return edit


def _hfile_block(block: RawBlock, file: str) -> bytes:
    schema = record_schema(block.header[HeaderKey.SCHEMA], file)
    return hfile_block(block.header[HeaderKey.INSTANT_TIME], decode_avro_records(block, file), schema)


def _parquet_block(block: RawBlock, file: str, form: Mapping[str, Any]) -> bytes:
    rows, sink = decode_avro_arrow(block, file).replace_schema_metadata(None), io.BytesIO()
    pq.write_table(rows, sink, **{"compression": "NONE", "store_schema": False, **form})
    return encode_block(BlockType.PARQUET_DATA, block.header, sink.getvalue())
