"""What the change feed's log blocks hold: records of the Avro container of data blocks, in one of three schemas.

OP_KEY_ONLY         op, record_key
DATA_BEFORE         op, record_key, before
DATA_BEFORE_AFTER   op, ts_ms, before, after
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from hudi_format.avro.schemas import schema_text
from hudi_format.compat import StrEnum
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block
from hudi_format.log.content import decode_avro_arrow, encode_avro_records

OPERATIONS = ("i", "u", "d")


class LoggingMode(StrEnum):
    """How much of a change a table logs, as `hoodie.table.cdc.supplemental.logging.mode` spells it.

    Clauses: CD-008.
    """

    OP_KEY_ONLY = "OP_KEY_ONLY"
    DATA_BEFORE = "DATA_BEFORE"
    DATA_BEFORE_AFTER = "DATA_BEFORE_AFTER"


COLUMNS: Mapping[LoggingMode, tuple[str, ...]] = {
    LoggingMode.OP_KEY_ONLY: ("op", "record_key"),
    LoggingMode.DATA_BEFORE: ("op", "record_key", "before"),
    LoggingMode.DATA_BEFORE_AFTER: ("op", "ts_ms", "before", "after"),
}
"""The fields of a logged change; images hold the table's columns without the meta fields."""


def decode_changes(block: RawBlock, file: str) -> pa.Table:
    """The changes in a block of the change feed: the columns of its mode, images as structs.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode, its fields are those of no mode, or a change
            lacks its operation or its key; LIMIT_EXCEEDED for an unbounded schema.
        UnsupportedFormat: an image has a column type that Arrow cannot hold.

    Clauses: CD-009, LF-013.

    """
    changes = decode_avro_arrow(block, file, (BlockType.CDC_DATA,))
    _refuse_other_fields(block, file, changes)
    for name in {"op", "record_key", "ts_ms"} & set(changes.column_names):
        if not pa.types.is_string(changes.column(name).type) or changes.column(name).null_count:
            raise _corrupt(file, block, f"a change has no text as its {name}")
    other = set(changes.column("op").to_pylist()) - set(OPERATIONS)
    if other:
        raise _corrupt(file, block, f"{min(other)!r} is no operation of a change")
    return changes


def change_block(instant: str, changes: Iterable[Mapping[str, Any]], mode: LoggingMode, table_schema: Any) -> bytes:
    """A whole block of the change feed; of each change the fields that the mode keeps are written.

    Clauses: CD-009, LF-001.
    """
    schema = change_schema(mode, table_schema)
    records = [{name: instant if name == "ts_ms" else change.get(name) for name in COLUMNS[mode]} for change in changes]
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(schema)}
    return encode_block(BlockType.CDC_DATA, header, encode_avro_records(records, schema))


def change_schema(mode: LoggingMode, table_schema: Mapping[str, Any]) -> dict[str, Any]:
    """The Avro schema of a mode's changes; `table_schema` is that of the table's rows, without meta fields.

    Clauses: CD-009.
    """
    if mode is LoggingMode.OP_KEY_ONLY:
        keys = [{"name": name, "type": ["string", "null"]} for name in COLUMNS[mode]]
        return {"type": "record", "name": "Record", "fields": keys}
    image: Any = table_schema
    fields: list[dict[str, Any]] = []
    for name in COLUMNS[mode]:
        kind: Any = "string"
        if name in {"before", "after"}:
            # An Avro schema defines a record once; the second image refers to it by name.
            kind, image = image, table_schema["name"]
        fields.append({"name": name, "type": ["null", kind], "doc": "", "default": None})
    space = str(table_schema.get("namespace", ""))
    return {"type": "record", "name": "CDC", "namespace": space, "fields": fields}


def _refuse_other_fields(block: RawBlock, file: str, changes: pa.Table) -> None:
    """The fields decide the mode, in any order; images are records."""
    names = sorted(changes.column_names)
    if names not in [sorted(known) for known in COLUMNS.values()]:
        raise _corrupt(file, block, f"a change has the fields {', '.join(names)[:80]}")
    for name in {"before", "after"} & set(names):
        if not pa.types.is_struct(changes.column(name).type):
            raise _corrupt(file, block, f"the {name} image is no record")


def _corrupt(file: str, block: RawBlock, message: str) -> FormatError:
    return FormatError(Reason.LOG_CONTENT_CORRUPT, "CD-009", file, block.content_offset, message)
