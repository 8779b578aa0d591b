"""Parsers of the metadata table, of deletes in Kryo's form, of header entries, and of files beside the data."""

import base64
import json
import struct
from functools import cache

from fuzz_inputs import Target, allowed, each_block, fixed, golden, placed, real, text
from hudi_format.avro.files import write_container
from hudi_format.base import hfiles as base_hfiles
from hudi_format.errors import Reason
from hudi_format.hfile.blocks import Codec
from hudi_format.hfile.writer import write_hfile
from hudi_format.json_text import read_json
from hudi_format.log import blocks, deletes, headers, kryo_deletes
from hudi_format.metadata import codec, files
from hudi_format.table import bootstrap_index, hash_ring, index_definitions, markers, partition_metafile

_MODEL = b"org.apache.hudi.common.model."


def kryo(data: bytes) -> None:
    """The same payload as a delete list of either version."""
    for version in (1, 2):
        content = struct.pack(">ii", version, len(data)) + data
        allowed(deletes.decode_deletes, _block(blocks.BlockType.DELETE, content), "f")


def _block(
    kind: blocks.BlockType, content: bytes, header: dict[blocks.HeaderKey, str] | None = None
) -> blocks.RawBlock:
    return blocks.RawBlock(kind, 1, 0, len(content), header or {}, content, 0)


def _class(name: bytes) -> bytes:
    return name[:-1] + bytes((name[-1] | 0x80,))


@cache
def _kryo_lists() -> tuple[bytes, ...]:
    """Lists of one delete as Apache Hudi 0.15.0 serialises them, with ordering values of several types."""
    key = b"\1\2" + _class(_MODEL + b"HoodieKey") + b"\1\1" + _class(b"p1") + b"\1" + _class(b"k1")
    array = b"\1\0" + _class(b"[L" + _MODEL + b"DeleteRecord;") + b"\1\2"
    first = array + b"\1\1" + _class(_MODEL + b"DeleteRecord") + b"\1" + key
    orderings = (b"\0", b"\2\1\x0e", b"\x09\1\x0e", b"\3\1" + _class(b"abc"))
    keys = b"\1\0" + _class(b"[L" + _MODEL + b"HoodieKey;") + b"\1\2" + key.replace(b"\1\2", b"\1\1", 1)
    return (keys, *(first + ordering for ordering in orderings))


def header_entries(data: bytes) -> None:
    """What is written into a header as text."""
    key = blocks.HeaderKey
    for entry in (key.RECORD_POSITIONS, key.BLOCK_IDENTIFIER, key.COMPACTED_BLOCK_TIMES, key.IS_PARTIAL):
        block = _block(blocks.BlockType.AVRO_DATA, b"", {entry: text(data)})
        for count in (3, 5000):
            allowed(headers.record_positions, block, count, "f")
        allowed(headers.block_identifier, block, "f")
        headers.compacted_block_times(block)
        headers.is_partial(block)


def positions(data: bytes) -> None:
    header_entries(base64.b64encode(data))


@cache
def _bitmaps() -> tuple[bytes, ...]:
    ranges = ([1, 2, 3], list(range(3)), [5, 70_000, 2**33], list(range(0, 10_000, 2)))
    return tuple(base64.b64decode(headers.record_positions_text(one)) for one in ranges)


def metadata_log(data: bytes) -> None:
    for block in each_block(data):
        allowed(files.decode_metadata_block, block, "f")


def hfile_base(data: bytes) -> None:
    storage = placed("a.hfile", data)
    base_hfiles.read_hfile_base(storage, "a.hfile")


@cache
def _hfile_bases() -> tuple[bytes, ...]:
    schema = {"type": "record", "name": "r", "fields": [{"name": "_hoodie_record_key", "type": "string"}]}
    return (base_hfiles.write_hfile_base([{"_hoodie_record_key": key} for key in ("a", "b", "ü")], schema),)


@cache
def _bootstrap_indexes() -> tuple[bytes, ...]:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}
    value = write_container(schema, [{"a": "x"}])
    return (write_hfile([(b"part=p;fileid=0-0", value)], codec=Codec.GZIP),)


def partition_metafiles(data: bytes) -> None:
    for form in ("properties", "parquet", "orc"):
        allowed(partition_metafile.parse_partition_metafile, data, form, "f")


def marker_files(data: bytes) -> None:
    allowed(markers.parse_marker_path, text(data), "f")
    allowed(markers.parse_marker_type, data, "f")
    allowed(markers.parse_markers, data, "f")


DEFINITIONS = {
    "indexDefinitions": {
        "secondary_index_a": {
            "indexName": "secondary_index_a",
            "indexType": "secondary_index",
            "indexFunction": "",
            "sourceFields": ["a"],
            "indexOptions": {"x": "y"},
        }
    }
}

TABLE_TARGETS: tuple[Target, ...] = (
    Target("Kryo", kryo, _kryo_lists, (kryo_deletes.read_kryo_deletes,)),
    Target("header entries", header_entries, fixed("OjAAAAEAAAA=", "1,2", "20250101000000000,20250102"), ()),
    Target("record positions", positions, _bitmaps, ()),
    Target(
        "metadata logs",
        metadata_log,
        real(".hoodie/metadata/*/.*_2*.log.*"),
        (files.decode_metadata_block, codec.decode_metadata_record),
    ),
    Target("base files in HFile", hfile_base, _hfile_bases, (base_hfiles.read_hfile_base,)),
    Target(
        "bootstrap indexes",
        lambda data: bootstrap_index.parse_bootstrap_index(data, "f"),
        _bootstrap_indexes,
        (bootstrap_index.parse_bootstrap_index,),
    ),
    Target(
        "hash rings",
        lambda data: hash_ring.parse_hash_ring(data, "f"),
        lambda: (hash_ring.serialise_hash_ring(hash_ring.first_ring("p", 4)),),
        (hash_ring.parse_hash_ring,),
    ),
    Target(
        "names of hash rings",
        lambda data: hash_ring.parse_ring_file_name(text(data)),
        fixed("00000000000000.hashing_meta", "20250101000000000.commit"),
        (hash_ring.parse_ring_file_name,),
    ),
    Target(
        "index definitions",
        lambda data: index_definitions.parse_index_definitions(data, "f"),
        lambda: (*golden(".hoodie/.index_defs/*.json"), json.dumps(DEFINITIONS).encode()),
        (index_definitions.parse_index_definitions,),
    ),
    Target(
        "partition metafiles",
        partition_metafiles,
        real("**/.hoodie_partition_metadata"),
        (partition_metafile.parse_partition_metafile,),
    ),
    Target(
        "markers",
        marker_files,
        fixed("p/0f2e-0_0-1-0_20250101000000000.parquet.marker.CREATE\nq/x.marker.APPEND", "TIMELINE_SERVER_BASED"),
        (markers.parse_marker_path, markers.parse_marker_type, markers.parse_markers),
    ),
    Target(
        "JSON",
        lambda data: read_json(data, "f", Reason.TIMELINE_FILE_CORRUPT, "TL-014"),
        fixed('{"a": [1, 2.5, null, "x"], "b": {"c": true}}'),
        (read_json,),
    ),
)
