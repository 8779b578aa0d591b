"""The file that makes a folder a partition, in its three forms.

.hoodie_partition_metadata           properties: comments, commitTime, partitionDepth
.hoodie_partition_metadata.parquet   a Parquet file without rows, the two keys in its footer
.hoodie_partition_metadata.orc       an ORC file without rows, the two keys as user metadata
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from hudi_format.base.parquet_bytes import open_parquet
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.names import PARTITION_METAFILE
from hudi_format.table.properties import parse_properties, serialise_properties

MetafileForm = Literal["properties", "parquet", "orc"]

COMMIT_TIME_KEY: Final = "commitTime"
DEPTH_KEY: Final = "partitionDepth"

_CLAUSE: Final = "SL-002"
_GREATEST_DEPTH: Final = 10_000
_COMMENTS: Final = ("partition metadata",)


@dataclass(frozen=True, slots=True)
class PartitionMetafile:
    """The instant that made a partition and how many folders lie between it and the base path.

    Clauses: SL-002.
    """

    commit_time: str
    depth: int


def metafile_form(name: str) -> MetafileForm | None:
    """The form of a file by its name, or None for another file."""
    forms: Mapping[str, MetafileForm] = {"": "properties", ".parquet": "parquet", ".orc": "orc"}
    return forms.get(name.removeprefix(PARTITION_METAFILE)) if name.startswith(PARTITION_METAFILE) else None


def metafile_name(form: MetafileForm) -> str:
    """The name of a file of this form."""
    return PARTITION_METAFILE if form == "properties" else f"{PARTITION_METAFILE}.{form}"


def parse_partition_metafile(data: bytes, form: MetafileForm, file: str) -> PartitionMetafile:
    """What a partition's file says.

    Raises:
        FormatError: PROPERTIES_INVALID when it is torn or lacks a key; LIMIT_EXCEEDED for one of absurd size.

    Clauses: SL-002.

    """
    keys = _keys(data, form, file)
    commit_time, depth = keys.get(COMMIT_TIME_KEY, "").strip(), keys.get(DEPTH_KEY, "").strip()
    if not commit_time:
        raise _invalid(file, f"there is no {COMMIT_TIME_KEY}")
    if not (depth.isascii() and depth.isdecimal() and len(depth) < len(str(_GREATEST_DEPTH))):
        raise _invalid(file, f"{DEPTH_KEY} is {depth[:40]!r}")
    return PartitionMetafile(commit_time, int(depth))


def serialise_partition_metafile(
    metafile: PartitionMetafile, form: MetafileForm = "properties", comments: Sequence[str] = _COMMENTS
) -> bytes:
    """The bytes of a partition's file; `comments` stand in the properties form only.

    Clauses: SL-002.
    """
    keys = {COMMIT_TIME_KEY: metafile.commit_time, DEPTH_KEY: str(metafile.depth)}
    if form == "properties":
        return serialise_properties(keys, comments)
    return _parquet(keys) if form == "parquet" else _orc(keys)


def _keys(data: bytes, form: MetafileForm, file: str) -> Mapping[str, str]:
    if form == "properties":
        return parse_properties(data, file)
    with refusing(Reason.PROPERTIES_INVALID, _CLAUSE, file, None, f"no {form} file"):
        if form == "orc":
            footer = orc.ORCFile(pa.BufferReader(data)).schema.metadata or {}
        else:
            footer = open_parquet(data, file, None, Reason.PROPERTIES_INVALID, _CLAUSE).metadata.metadata or {}
        return {
            key.decode(): footer[key].decode()
            for key in (COMMIT_TIME_KEY.encode(), DEPTH_KEY.encode())
            if key in footer
        }


def _parquet(keys: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, pa.schema([pa.field("dummyint", pa.int64())]), store_schema=False) as writer:
        writer.add_key_value_metadata(dict(keys))
    return stream.getvalue()


def _orc(keys: Mapping[str, str]) -> bytes:
    """An ORC file without stripes; the Arrow writer has no user metadata, and a tail is all there is to write."""
    types = _message(4, _number(1, 12) + _number(2, 1) + _text(3, "dummyint")) + _message(4, _number(1, 4))
    entries = b"".join(_message(5, _text(1, key) + _text(2, value)) for key, value in keys.items())
    magic = b"ORC"
    footer = _number(1, len(magic)) + _number(2, len(magic)) + types + entries + _number(6, 0) + _number(8, 0)
    version = _message(4, bytes((0, 12)))
    postscript = _number(1, len(footer)) + _number(2, 0) + version + _number(5, 0) + _text(8000, "ORC")
    return magic + footer + postscript + bytes((len(postscript),))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _invalid(file: str, message: str) -> FormatError:
    return FormatError(Reason.PROPERTIES_INVALID, _CLAUSE, file, None, message)
