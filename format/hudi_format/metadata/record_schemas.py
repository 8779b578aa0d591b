"""The Avro schema of the metadata table's records, as each line of releases embeds it in its files.

0.15  eleven fields, the five meta fields included; bounds without LocalDate and Array
1.0   + secondary index, tight bounds, positions, LocalDate
1.1   + value types, Array
"""

from functools import cache
from typing import Any, Final

from hudi_format.compat import StrEnum
from hudi_format.metadata.wrapped_values import WRAPPERS
from hudi_format.schemas import with_meta_fields

NAMESPACE: Final = "org.apache.hudi.avro.model"
RECORD_NAME: Final = "HoodieMetadataRecord"

_TEXT: Final = {"type": "string", "avro.java.string": "String"}
_WRAPPED: Final[dict[str, Any]] = {
    "Boolean": "boolean",
    "Int": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Bytes": "bytes",
    "String": _TEXT,
    "Date": "int",
    "Decimal": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
    "TimeMicros": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicros": "long",
    "LocalDate": "int",
}


class SchemaRelease(StrEnum):
    """The releases from which on a schema was written."""

    V0_15 = "0.15"
    V1_0 = "1.0"
    V1_1 = "1.1"


@cache
def metadata_record_schema(release: SchemaRelease = SchemaRelease.V1_1) -> dict[str, Any]:
    """The record schema of a release, meta fields first.

    Clauses: MT-018.
    """
    fields = [
        {"name": "key", "type": _TEXT},
        {"name": "type", "type": "int"},
        {"name": "filesystemMetadata", "type": ["null", _file_list()]},
        _nullable("BloomFilterMetadata", _bloom_filter()),
        _nullable("ColumnStatsMetadata", _column_stats(release)),
        _nullable("recordIndexMetadata", _record_index(release)),
    ]
    if release is not SchemaRelease.V0_15:
        fields.append(_nullable("SecondaryIndexMetadata", _record("HoodieSecondaryIndexInfo", [_deleted()])))
    return with_meta_fields({"type": "record", "name": RECORD_NAME, "namespace": NAMESPACE, "fields": fields})


def wrappers_of(release: SchemaRelease) -> tuple[str, ...]:
    """The kinds of bounds that a release's schema has, in the order of its union."""
    left_out = {SchemaRelease.V0_15: 2, SchemaRelease.V1_0: 1, SchemaRelease.V1_1: 0}[release]
    return WRAPPERS[: len(WRAPPERS) - left_out]


def _file_list() -> dict[str, Any]:
    entry = _record("HoodieMetadataFileInfo", [{"name": "size", "type": "long"}, _deleted()])
    return {"type": "map", "values": entry, "avro.java.string": "String"}


def _bloom_filter() -> dict[str, Any]:
    named = [("type", _TEXT), ("timestamp", _TEXT), ("bloomFilter", "bytes")]
    fields = [{"name": name, "type": kind} for name, kind in named]
    return _record("HoodieMetadataBloomFilter", [*fields, _deleted()])


def _column_stats(release: SchemaRelease) -> dict[str, Any]:
    wrappers = wrappers_of(release)
    numbers = [_nullable(name, "long") for name in ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")]
    fields = [
        _nullable("fileName", _TEXT),
        _nullable("columnName", _TEXT),
        {"name": "minValue", "type": ["null", *(_wrapper(kind) for kind in wrappers)], "default": None},
        {"name": "maxValue", "type": ["null", *(f"{kind}Wrapper" for kind in wrappers)], "default": None},
        *numbers,
        _deleted(),
    ]
    if release is not SchemaRelease.V0_15:
        fields.append({"name": "isTightBound", "type": "boolean", "default": False})
    if release is SchemaRelease.V1_1:
        kinds = [{"name": "typeOrdinal", "type": "int"}, _nullable("additionalInfo", _TEXT)]
        fields.append(_nullable("valueType", _record("HoodieValueTypeInfo", kinds)))
    return _record("HoodieMetadataColumnStats", fields)


def _wrapper(kind: str) -> dict[str, Any]:
    if kind != "Array":
        return _record(f"{kind}Wrapper", [{"name": "value", "type": _WRAPPED[kind]}])
    items = ["null", *(f"{name}Wrapper" for name in WRAPPERS if name != "Array")]
    return _record("ArrayWrapper", [_nullable("wrappedValues", {"type": "array", "items": items})])


def _record_index(release: SchemaRelease) -> dict[str, Any]:
    named = [("partitionName", _TEXT), ("fileIdHighBits", "long"), ("fileIdLowBits", "long"), ("fileIndex", "int")]
    fields = [_nullable(name, kind) for name, kind in (*named, ("fileId", _TEXT), ("instantTime", "long"))]
    fields.append({"name": "fileIdEncoding", "type": "int", "default": 0})
    if release is not SchemaRelease.V0_15:
        fields.append(_nullable("position", "long"))
    return _record("HoodieRecordIndexInfo", fields)


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": fields}


def _nullable(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}


def _deleted() -> dict[str, Any]:
    return {"name": "isDeleted", "type": "boolean"}
