"""The bytes of the metadata table's records: Avro by the schema that their file embeds, the key left to the HFile."""

import io
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

import fastavro

from hudi_format.avro.schemas import raw_reading_schema, record_schema, schema_text, writing_schema
from hudi_format.errors import DECODING_ERRORS, Reason
from hudi_format.hfile.blocks import Origin
from hudi_format.metadata.record_schemas import NAMESPACE, SchemaRelease, metadata_record_schema
from hudi_format.metadata.records import (
    BloomFilterEntry,
    ColumnStats,
    Content,
    FileEntry,
    FileIdEncoding,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
    file_id_of,
    halves_of,
)
from hudi_format.metadata.wrapped_values import ValueKind, ValueType, Wrapped

_FILES: Final = "filesystemMetadata"
_BLOOM: Final = "BloomFilterMetadata"
_STATS: Final = "ColumnStatsMetadata"
_LOCATION: Final = "recordIndexMetadata"
_SECONDARY: Final = "SecondaryIndexMetadata"
_SCHEMAS_KEPT: Final = 64
_NO_HALF: Final = -1


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _reading(text: str, file: str, reason: Reason) -> Any:
    return raw_reading_schema(record_schema(text, file, reason))


def reading_metadata_schema(text: str, origin: Origin) -> Any:
    """The schema of a file's metadata records in the form that `decode_metadata_record` takes.

    Raises:
        FormatError: the origin's reason when the text is no record schema.

    Clauses: MT-018.

    """
    return _reading(text, origin.file, origin.reason)


def decode_metadata_record(key: bytes, value: bytes, schema: Any, origin: Origin) -> MetadataRecord:
    """The record of an entry of an HFile; where the record has a blank key, the key of the entry is its key.

    Raises:
        FormatError: the origin's reason when it does not decode, or holds nothing of the type that it names.

    Clauses: MT-018.

    """
    stream = io.BytesIO(value)
    try:
        raw: Any = fastavro.schemaless_reader(
            stream, schema, None, return_record_name=True, return_record_name_override=True
        )
        if stream.tell() != len(value):
            raise ValueError(f"{len(value)} bytes are there and {stream.tell()} are taken")
        return metadata_record(raw, key.decode())
    except DECODING_ERRORS as error:
        detail = f"{type(error).__name__} {error}"[:200]
        raise origin.corrupt(0, f"the metadata record of the key {key[:80]!r} does not decode: {detail}") from error


def metadata_record(raw: Mapping[str, Any], key: str) -> MetadataRecord:
    """The value of a record as a reader of Avro gives it, with the names of the records in its unions.

    Raises:
        ValueError: it holds nothing of the type that it names.

    Clauses: MT-018.

    """
    kind = RecordType(raw["type"])
    name, decode = _CONTENTS[kind]
    content = raw.get(name)
    if content is None:
        raise ValueError(f"a record of the type {kind.name} has no {name}")
    return MetadataRecord(raw["key"] or key, kind, decode(content))


def raw_metadata_record(record: MetadataRecord) -> dict[str, Any]:
    """A record by the names of the schema, as `metadata_record` takes it; bounds are pairs of wrapper and value.

    Clauses: MT-018.
    """
    name, _ = _CONTENTS[record.type]
    return {"key": record.key, "type": int(record.type), name: _encode_content(record.content)}


def encode_metadata_record(record: MetadataRecord, release: SchemaRelease = SchemaRelease.V1_1) -> bytes:
    """The bytes of a record, its key left blank; what a release's schema lacks is left out.

    Raises:
        ValueError: the content has no form in the release's schema.

    Clauses: MT-018.

    """
    raw = {**raw_metadata_record(record), "key": ""}
    stream = io.BytesIO()
    try:
        fastavro.schemaless_writer(stream, _writing(release), raw)
    except DECODING_ERRORS as error:
        raise ValueError(f"the record of the key {record.key!r} has no form in schema {release}: {error}") from error
    return stream.getvalue()


def metadata_schema_text(release: SchemaRelease = SchemaRelease.V1_1) -> str:
    """The schema text that stands in an HFile's file info and in a log block's header."""
    return schema_text(metadata_record_schema(release))


@cache
def _writing(release: SchemaRelease) -> Any:
    return writing_schema(metadata_record_schema(release))


def _decode_files(raw: Any) -> FileList:
    return FileList({name: FileEntry(one["size"], one["isDeleted"]) for name, one in raw.items()})


def _decode_bloom(raw: Any) -> BloomFilterEntry:
    return BloomFilterEntry(raw["type"], raw["timestamp"], raw["bloomFilter"], raw["isDeleted"])


def _decode_stats(raw: Any) -> ColumnStats:
    kind = raw.get("valueType")
    return ColumnStats(
        file_name=raw["fileName"],
        column_name=raw["columnName"],
        minimum=_unwrapped(raw["minValue"]),
        maximum=_unwrapped(raw["maxValue"]),
        value_count=raw["valueCount"],
        null_count=raw["nullCount"],
        total_size=raw["totalSize"],
        total_uncompressed_size=raw["totalUncompressedSize"],
        is_deleted=raw["isDeleted"],
        is_tight_bound=raw.get("isTightBound", False),
        value_type=None if kind is None else ValueType(ValueKind(kind["typeOrdinal"]), kind["additionalInfo"]),
    )


def _decode_location(raw: Any) -> RecordLocation:
    encoding = FileIdEncoding(raw["fileIdEncoding"])
    if encoding is FileIdEncoding.UUID:
        file_id = file_id_of(raw["fileIdHighBits"], raw["fileIdLowBits"], raw["fileIndex"])
    else:
        file_id = raw["fileId"]
    if raw["partitionName"] is None or file_id is None:
        raise ValueError("a location has no partition or no file id")
    return RecordLocation(raw["partitionName"], file_id, raw["instantTime"], encoding, raw.get("position"))


def _decode_secondary(raw: Any) -> SecondaryEntry:
    return SecondaryEntry(raw["isDeleted"])


def _unwrapped(raw: Any) -> Wrapped | None:
    if raw is None:
        return None
    name, record = raw
    kind = name.rpartition(".")[2].removesuffix("Wrapper")
    if kind == "Array":
        return Wrapped(kind, tuple(_unwrapped(item) for item in record["wrappedValues"] or ()))
    return Wrapped(kind, record["value"])


def _encode_content(content: Content) -> Any:
    match content:
        case FileList():
            return {name: {"size": one.size, "isDeleted": one.is_deleted} for name, one in content.entries.items()}
        case BloomFilterEntry(type_code, instant, text, is_deleted):
            return {"type": type_code, "timestamp": instant, "bloomFilter": text, "isDeleted": is_deleted}
        case ColumnStats():
            return _encode_stats(content)
        case RecordLocation():
            return _encode_location(content)
        case SecondaryEntry(is_deleted):
            return {"isDeleted": is_deleted}


def _encode_stats(stats: ColumnStats) -> dict[str, Any]:
    kind = stats.value_type
    return {
        "fileName": stats.file_name,
        "columnName": stats.column_name,
        "minValue": _wrapped(stats.minimum),
        "maxValue": _wrapped(stats.maximum),
        "valueCount": stats.value_count,
        "nullCount": stats.null_count,
        "totalSize": stats.total_size,
        "totalUncompressedSize": stats.total_uncompressed_size,
        "isDeleted": stats.is_deleted,
        "isTightBound": stats.is_tight_bound,
        "valueType": None if kind is None else {"typeOrdinal": int(kind.kind), "additionalInfo": kind.detail},
    }


def _encode_location(location: RecordLocation) -> dict[str, Any]:
    """With text as encoding, what would be the parts of a UUID holds -1."""
    high, low, index, text = _NO_HALF, _NO_HALF, _NO_HALF, location.file_id
    if location.encoding is FileIdEncoding.UUID:
        high, low, index = halves_of(location.file_id)
        text = ""
    return {
        "partitionName": location.partition,
        "fileIdHighBits": high,
        "fileIdLowBits": low,
        "fileIndex": index,
        "fileId": text,
        "instantTime": location.instant_ms,
        "fileIdEncoding": int(location.encoding),
        "position": location.position,
    }


def _wrapped(wrapped: Wrapped | None) -> Any:
    if wrapped is None:
        return None
    name = f"{NAMESPACE}.{wrapped.wrapper}Wrapper"
    if wrapped.wrapper == "Array":
        return name, {"wrappedValues": [_wrapped(item) for item in wrapped.value]}
    return name, {"value": wrapped.value}


_CONTENTS: Final[Mapping[RecordType, tuple[str, Callable[[Any], Content]]]] = {
    RecordType.ALL_PARTITIONS: (_FILES, _decode_files),
    RecordType.FILES: (_FILES, _decode_files),
    RecordType.COLUMN_STATS: (_STATS, _decode_stats),
    RecordType.BLOOM_FILTER: (_BLOOM, _decode_bloom),
    RecordType.RECORD_INDEX: (_LOCATION, _decode_location),
    RecordType.PARTITION_STATS: (_STATS, _decode_stats),
    RecordType.SECONDARY_INDEX: (_SECONDARY, _decode_secondary),
}

__all__ = [
    "decode_metadata_record",
    "encode_metadata_record",
    "metadata_record",
    "metadata_schema_text",
    "reading_metadata_schema",
]
