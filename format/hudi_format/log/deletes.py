"""Delete blocks: the keys they remove and the ordering values they compete with.

int32 version | int32 length | payload
version 3: Avro binary of HoodieDeleteRecordList; versions 1 and 2: Kryo, which only writers before 0.14 made
"""

import io
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

import fastavro
from fastavro.schema import parse_schema

from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.log.blocks import BlockType, RawBlock
from hudi_format.log.kryo_deletes import read_kryo_deletes

DELETE_VERSION = 3
NO_ORDERING_VALUE = 0

Ordering = Any

_KRYO_VERSIONS = (1, 2)
_HEAD = struct.Struct(">ii")
_NAMESPACE = "org.apache.hudi.avro.model"
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15}

# Name of the wrapper record without "Wrapper", and the type of its only field. The order is that of the union.
WRAPPERS: Final[Mapping[str, Any]] = {
    "Boolean": "boolean",
    "Int": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Bytes": "bytes",
    "String": "string",
    "Date": {"type": "int", "logicalType": "date"},
    "Decimal": _DECIMAL,
    "TimeMicros": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicros": {"type": "long", "logicalType": "timestamp-micros"},
}
_KINDS: Final = (
    (bool, "Boolean"),
    (int, "Long"),
    (float, "Double"),
    (bytes, "Bytes"),
    (str, "String"),
    (datetime, "TimestampMicros"),
    (date, "Date"),
    (Decimal, "Decimal"),
    (time, "TimeMicros"),
    (tuple, "Array"),
)


@dataclass(frozen=True, slots=True)
class DeleteRecord:
    """One deleted key.

    `ordering` is None, a value, or a tuple for several ordering fields.
    `kind` names its wrapper in the file: `Int` with 0 means that the delete has no ordering value.

    Clauses: LF-008.
    """

    key: str | None
    partition: str | None
    ordering: Ordering = NO_ORDERING_VALUE
    kind: str | None = None


def decode_deletes(block: RawBlock, file: str) -> list[DeleteRecord]:
    """The deleted keys of a delete block, in file order.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode.

    Clauses: LF-008, LF-013.

    """
    version, payload = _payload(block, file)
    offset = block.content_offset + _HEAD.size
    with refusing(Reason.LOG_CONTENT_CORRUPT, "LF-008", file, offset, "the delete list does not decode"):
        if version in _KRYO_VERSIONS:
            return [DeleteRecord(*one) for one in read_kryo_deletes(payload, version)]
        return _avro_deletes(payload)


def encode_deletes(deletes: Sequence[DeleteRecord]) -> bytes:
    """The content of a delete block of version 3.

    Raises:
        ValueError: an ordering value that has no wrapper.

    Clauses: LF-008.

    """
    stream = io.BytesIO()
    records = [
        {"recordKey": one.key, "partitionPath": one.partition, "orderingVal": _wrap(one.ordering, one.kind)}
        for one in deletes
    ]
    fastavro.schemaless_writer(stream, _SCHEMA, {"deleteRecordList": records})
    payload = stream.getvalue()
    return _HEAD.pack(DELETE_VERSION, len(payload)) + payload


def _avro_deletes(payload: bytes) -> list[DeleteRecord]:
    stream = io.BytesIO(payload)
    decoded: Any = fastavro.schemaless_reader(stream, _SCHEMA, None, return_record_name=True)
    if stream.tell() != len(payload):
        raise ValueError(f"{len(payload) - stream.tell()} bytes stand after the list")
    return [_delete(record) for record in decoded["deleteRecordList"]]


def _payload(block: RawBlock, file: str) -> tuple[int, bytes]:
    """The version of the content and the bytes of its list."""
    content = block.content
    if block.type is not BlockType.DELETE:
        raise _corrupt(file, block.offset, f"a block of type {block.type.name} holds no deletes")
    if len(content) < _HEAD.size:
        raise _corrupt(file, block.content_offset, "the content ends inside version and length")
    version, length = _HEAD.unpack_from(content)
    if version not in (DELETE_VERSION, *_KRYO_VERSIONS):
        raise _corrupt(file, block.content_offset, f"version {version} of delete content is unknown")
    if length != len(content) - _HEAD.size:
        message = f"the delete list declares {length} bytes, {len(content) - _HEAD.size} are there"
        raise _corrupt(file, block.content_offset + 4, message)
    return version, content[_HEAD.size :]


def _delete(record: Mapping[str, Any]) -> DeleteRecord:
    ordering, kind = _unwrap(record["orderingVal"])
    return DeleteRecord(record["recordKey"], record["partitionPath"], ordering, kind)


def _unwrap(wrapped: Any) -> tuple[Ordering, str | None]:
    if wrapped is None:
        return None, None
    name, record = wrapped
    kind = name.rpartition(".")[2].removesuffix("Wrapper")
    if kind == "Array":
        return tuple(_unwrap(item)[0] for item in record["wrappedValues"] or ()), kind
    return record["value"], kind


def _wrap(value: Ordering, kind: str | None) -> Any:
    if value is None:
        return None
    kind = kind or _kind_of(value)
    if kind == "Array":
        return _name(kind), {"wrappedValues": [_wrap(item, _kind_inside(item)) for item in value]}
    return _name(kind), {"value": value}


def _kind_of(value: Ordering) -> str:
    """The wrapper of a bare value; a bare 0 means that there is no ordering value."""
    if type(value) is int and value == NO_ORDERING_VALUE:
        return "Int"
    return _kind_inside(value) or ""


def _kind_inside(value: Ordering) -> str | None:
    if value is None:
        return None
    for python_type, kind in _KINDS:
        if isinstance(value, python_type):
            return kind
    raise ValueError(f"{type(value).__name__} is no ordering value")


def _name(kind: str) -> str:
    return f"{_NAMESPACE}.{kind}Wrapper"


def _wrapper(kind: str, value: Any) -> dict[str, Any]:
    fields = [{"name": "value", "type": value}]
    return {"type": "record", "name": f"{kind}Wrapper", "namespace": _NAMESPACE, "fields": fields}


def _schema() -> Any:
    wrappers = [_wrapper(kind, value) for kind, value in WRAPPERS.items()]
    local_date = _wrapper("LocalDate", {"type": "int", "logicalType": "date"})
    items = ["null", *(_name(kind) for kind in WRAPPERS), local_date]
    array = {
        "type": "record",
        "name": "ArrayWrapper",
        "namespace": _NAMESPACE,
        "fields": [{"name": "wrappedValues", "type": ["null", {"type": "array", "items": items}]}],
    }
    delete = {
        "type": "record",
        "name": "HoodieDeleteRecord",
        "namespace": _NAMESPACE,
        "fields": [
            {"name": "recordKey", "type": ["null", "string"]},
            {"name": "partitionPath", "type": ["null", "string"]},
            {"name": "orderingVal", "type": ["null", *wrappers, array]},
        ],
    }
    fields = [{"name": "deleteRecordList", "type": {"type": "array", "items": delete}}]
    return parse_schema(
        {"type": "record", "name": "HoodieDeleteRecordList", "namespace": _NAMESPACE, "fields": fields},
        named_schemas={},
    )


_SCHEMA = _schema()


def _corrupt(file: str, offset: int, message: str) -> FormatError:
    return FormatError(Reason.LOG_CONTENT_CORRUPT, "LF-008", file, offset, message)
