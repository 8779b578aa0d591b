"""The records and deletes of log blocks as Arrow columns that can be sorted by who wins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.log.blocks import BlockType
from hudi_format.log.content import decode_arrow
from hudi_format.log.deletes import DeleteRecord, decode_deletes
from hudi_format.schemas import OPERATION_FIELD

from hudi_spark.errors import HudiError
from hudi_spark.merging.keys import KeyRule
from hudi_spark.merging.log_scan import LocatedBlock
from hudi_spark.merging.modes import MergeRule
from hudi_spark.schemas.columns import concatenate, conform

DELETED_FIELD: Final = "_hoodie_is_deleted"
# A delete, and the row that an update replaces.
DELETE_OPERATIONS: Final = ("D", "-U")

_KEY, _ROW, _DELETED, _NATURAL = "key", "row", "deleted", "natural"


@dataclass(frozen=True, slots=True)
class LogRecords:
    """All versions of records in a slice's logs, oldest first.

    `rows`: the data records, in the columns that the query needs.
    `versions`: one line for each data record and delete: key, row in `rows` (null for a delete block's keys),
    deleted, natural (no ordering value: competes by position alone), and the ordering values.

    Clauses: MG-002, MG-003, MG-005, MG-006, MG-008.
    """

    rows: pa.Table
    versions: pa.Table


def decode_log_records(blocks: Sequence[LocatedBlock], schema: pa.Schema, keys: KeyRule, rule: MergeRule) -> LogRecords:
    """Data and delete blocks, in merge order, as Arrow columns.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when a block's content does not decode.
        UnsupportedFormat: log-cdc, log-delete-kryo; log-hfile for an HFile of another version or packing.
        HudiError: SCHEMA_INCOMPATIBLE, KEY_MISSING.

    Clauses: LF-007, LF-008, LF-013, DM-004.

    """
    form = _version_schema(schema, rule)
    rows: list[pa.Table] = []
    versions: list[pa.Table] = []
    count = 0
    for one in blocks:
        if one.block.type is BlockType.DELETE:
            versions.append(_deletes(one, schema, keys, rule))
        else:
            decoded = decode_arrow(one.block, one.file)
            conformed = conform(decoded, schema, one.file)
            rows.append(conformed)
            versions.append(_data(one, decoded, conformed, count, form, keys, rule))
            count += conformed.num_rows
    return LogRecords(concatenate(rows, schema), concatenate(versions, form))


def ordering_names(rule: MergeRule) -> tuple[str, ...]:
    """Names of the ordering columns of `LogRecords.versions`."""
    return tuple(f"ordering {index}" for index in range(len(rule.ordering))) if rule.compares_event_time else ()


def sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of equal order that Arrow sorts as Java compares: floats by their bits, NaN greatest.

    Clauses: MG-003.
    """
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if not pa.types.is_floating(kind):
        return column
    bits = pa.chunked_array([chunk.view(pa.int64()) for chunk in column.cast(pa.float64()).chunks], pa.int64())
    flipped = pc.bit_wise_xor(bits, pa.scalar(2**63 - 1, pa.int64()))
    return pc.if_else(pc.less(bits, 0), flipped, bits)


def ordering_columns(table: pa.Table, rule: MergeRule) -> list[pa.ChunkedArray]:
    """The ordering values of rows of the table's columns, in the form that `sortable` gives."""
    return [sortable(table.column(name)) for name in rule.ordering] if rule.compares_event_time else []


def all_valid(columns: Sequence[pa.ChunkedArray], rows: int) -> pa.ChunkedArray:
    """For each row whether no column is null there."""
    valid = pa.chunked_array([pa.repeat(pa.scalar(value=True), rows)])
    for column in columns:
        valid = pc.and_(valid, pc.is_valid(column))
    return valid


def _version_schema(schema: pa.Schema, rule: MergeRule) -> pa.Schema:
    ordering = ordering_columns(schema.empty_table(), rule)
    fields = [(_KEY, pa.string()), (_ROW, pa.int64()), (_DELETED, pa.bool_()), (_NATURAL, pa.bool_())]
    fields += [(name, column.type) for name, column in zip(ordering_names(rule), ordering, strict=True)]
    return pa.schema(fields)


def _data(  # noqa: PLR0917 - one line of a table needs them all
    one: LocatedBlock, decoded: pa.Table, rows: pa.Table, first: int, form: pa.Schema, keys: KeyRule, rule: MergeRule
) -> pa.Table:
    count = rows.num_rows
    ordering = ordering_columns(rows, rule)
    # Without an ordering value a version competes by its position alone.
    natural = pc.invert(all_valid(ordering, count))
    numbers = pa.chunked_array([pa.array(range(first, first + count), pa.int64())])
    columns = [_present(keys.keys(rows), one), numbers, _is_delete(decoded, rule), natural, *ordering]
    return pa.Table.from_arrays(columns, schema=form)


def _present(keys: pa.ChunkedArray, one: LocatedBlock) -> pa.ChunkedArray:
    """Clauses: DM-001."""
    if keys.null_count:
        message = f"{keys.null_count} records have no record key"
        hint = "find out which writer made the block"
        raise HudiError(Reason.KEY_MISSING, "DM-001", message, one.file, one.block.offset, hint)
    return keys


def _is_delete(decoded: pa.Table, rule: MergeRule) -> pa.ChunkedArray:
    """For each data record whether it deletes its key.

    Clauses: MG-008.
    """
    deleted = pa.chunked_array([pa.repeat(pa.scalar(value=False), decoded.num_rows)])
    names = set(decoded.column_names)
    if DELETED_FIELD in names and pa.types.is_boolean(decoded.schema.field(DELETED_FIELD).type):
        deleted = pc.or_(deleted, pc.fill_null(decoded.column(DELETED_FIELD), fill_value=False))
    if OPERATION_FIELD in names:
        for operation in DELETE_OPERATIONS:
            deleted = pc.or_(deleted, _equals(decoded.column(OPERATION_FIELD), operation))
    if rule.delete_field in names and rule.delete_marker is not None:
        deleted = pc.or_(deleted, _equals(decoded.column(rule.delete_field), rule.delete_marker))
    return deleted


def _equals(column: pa.ChunkedArray, text: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.equal(column.cast(pa.string()), text), fill_value=False)


def _deletes(one: LocatedBlock, schema: pa.Schema, keys: KeyRule, rule: MergeRule) -> pa.Table:
    """Clauses: LF-008, LF-017, MG-005, MG-006."""
    deletes = decode_deletes(one.block, one.file)
    kinds = [schema.field(name).type for name in rule.ordering] if rule.compares_event_time else []
    values = [_ordering_values(delete, len(kinds)) for delete in deletes]
    raw = [pa.chunked_array([_array([row[index] for row in values], kind)]) for index, kind in enumerate(kinds)]
    texts = _present(pa.chunked_array([pa.array([delete.key for delete in deletes], pa.string())]), one)
    columns = [
        keys.stored(texts),
        pa.nulls(len(deletes), pa.int64()),
        pa.repeat(pa.scalar(value=True), len(deletes)),
        pc.invert(all_valid(raw, len(deletes))),
        *(sortable(column) for column in raw),
    ]
    return pa.Table.from_arrays(columns, schema=_version_schema(schema, rule))


def _ordering_values(delete: DeleteRecord, count: int) -> tuple[Any, ...]:
    """As many ordering values as there are ordering fields, all None when the delete has none to compare.

    The int 0 stands for no ordering value, whatever the type of the ordering field.

    Clauses: LF-017, MG-005, MG-006, MG-007.
    """
    values = delete.ordering if isinstance(delete.ordering, tuple) else (delete.ordering,)
    if len(values) != count or (delete.kind == "Int" and delete.ordering == 0):
        return (None,) * count
    return values


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values in the type of their ordering column; one of a type that does not compare becomes null."""
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_comparable(value, kind) for value in values], kind)


def _comparable(value: Any, kind: pa.DataType) -> Any:
    try:
        return pa.scalar(value, kind).as_py()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
