"""The records and deletes of log blocks as Arrow columns that can be sorted by who wins."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.schemas import record_schema
from hudi_format.log.blocks import BlockType, HeaderKey
from hudi_format.log.content import decode_arrows
from hudi_format.log.deletes import DeleteRecord, decode_deletes
from hudi_format.log.headers import base_instant_of_positions, record_positions
from hudi_format.schemas import OPERATION_FIELD

from hudi_spark.errors import HudiError, Reason
from hudi_spark.merge.keys import KeyRule, field_type, field_values
from hudi_spark.merge.rules import MergeRule
from hudi_spark.schema import BY_NAME, SliceColumns, Source, concatenate, name_in
from hudi_spark.table_state import LocatedBlock

# A place in MySQL's binary log: number of the file, position in it.
_LOG_PLACE: Final = r"^(?P<file>\d{1,18})\.(?P<position>\d{1,18})$"
_LOG_PLACE_PARTS: Final = ("file", "position")


def ordering_names(rule: MergeRule) -> tuple[str, ...]:
    """Names of the ordering columns of a table of versions."""
    if not rule.reads_ordering:
        return ()
    count = len(_LOG_PLACE_PARTS) if rule.ordering_form == "log_places" else len(rule.ordering)
    return tuple(f"ordering {index}" for index in range(count))


def ordering_columns(table: pa.Table, rule: MergeRule) -> list[pa.ChunkedArray]:
    """The ordering values of rows: to be compared, in the form that `sortable` gives, for a merger as they are.

    Clauses: MG-003, MG-007, PL-008.
    """
    if not rule.reads_ordering:
        return []
    if rule.ordering_form == "log_places":
        return _log_places(field_values(table, rule.ordering[0]))
    columns = [field_values(table, name) for name in rule.ordering]
    return [sortable(column) for column in columns] if rule.compares_event_time else columns


def delete_ordering(deletes: Sequence[DeleteRecord], schema: pa.Schema, rule: MergeRule) -> list[pa.ChunkedArray]:
    """The ordering values of the keys of a delete block, in the same form.

    Clauses: LF-017, MG-005, MG-006, MG-007, PL-009.
    """
    names = ordering_names(rule)
    if rule.plain_deletes:
        empty = ordering_columns(schema.empty_table(), rule)
        return [pa.chunked_array([pa.nulls(len(deletes), column.type)]) for column in empty]
    kinds = [field_type(name, schema) for name in rule.ordering] if names else []
    values = [_values(delete, len(kinds)) for delete in deletes]
    columns = [pa.chunked_array([_array([row[index] for row in values], kind)]) for index, kind in enumerate(kinds)]
    return [sortable(column) for column in columns] if rule.compares_event_time else columns


def sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of equal order that Arrow sorts as Java compares: floats by their bits, NaN greatest.

    Clauses: MG-003.
    """
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if not pa.types.is_floating(kind):
        return column
    # Java has one not-a-number, whatever its bits.
    doubles = pc.if_else(pc.is_nan(column), pa.scalar(math.nan, pa.float64()), column.cast(pa.float64()))
    bits = pa.chunked_array([chunk.view(pa.int64()) for chunk in doubles.chunks], pa.int64())
    flipped = pc.bit_wise_xor(bits, pa.scalar(2**63 - 1, pa.int64()))
    return pc.if_else(pc.less(bits, 0), flipped, bits)


def stored_ordering(
    columns: Sequence[pa.ChunkedArray], kinds: Sequence[pa.DataType], rule: MergeRule
) -> list[pa.ChunkedArray]:
    """The ordering values of versions as the table's columns of these types have them: `ordering_columns` backwards.

    Clauses: LC-004, MG-003, PL-008.
    """
    if rule.ordering_form == "log_places" and columns:
        return [pc.binary_join_element_wise(*(column.cast(pa.string()) for column in columns), ".")]
    if not rule.compares_event_time:
        return list(columns)
    return [_unsorted(column, kind) for column, kind in zip(columns, kinds, strict=True)]


def _unsorted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if not pa.types.is_floating(kind):
        return column.cast(kind)
    # What `sortable` turns it turns back.
    bits = pc.if_else(pc.less(column, 0), pc.bit_wise_xor(column, pa.scalar(2**63 - 1, pa.int64())), column)
    return pa.chunked_array([chunk.view(pa.float64()) for chunk in bits.chunks], pa.float64()).cast(kind)


def all_valid(columns: Sequence[pa.ChunkedArray], rows: int) -> pa.ChunkedArray:
    """For each row whether no column is null there."""
    valid = pa.chunked_array([pa.repeat(pa.scalar(value=True), rows)])
    for column in columns:
        valid = pc.and_(valid, pc.is_valid(column))
    return valid


def any_valid(columns: Sequence[pa.ChunkedArray], rows: int) -> pa.ChunkedArray:
    """For each row whether a column is not null there, or there is none."""
    valid = pa.chunked_array([pa.repeat(pa.scalar(value=not columns), rows)])
    for column in columns:
        valid = pc.or_(valid, pc.is_valid(column))
    return valid


def is_unordered(ordering: Sequence[pa.ChunkedArray], rows: int, *, whole: bool) -> pa.ChunkedArray:
    """For each version whether it competes by its position alone: a whole row lacks every ordering value of its own.

    A partial row, and a tombstone, is so where it lacks any.

    Clauses: MG-011.
    """
    return pc.invert((any_valid if whole else all_valid)(ordering, rows))


def beats_what_precedes(versions: pa.Table, rule: MergeRule) -> pa.ChunkedArray:
    """For each version whether it may win over an earlier one for want of an ordering value.

    Clauses: MG-011, MG-013.
    """
    ordering = [versions.column(name) for name in ordering_names(rule)]
    return pc.or_(versions.column(_NATURAL), is_unordered(ordering, versions.num_rows, whole=False))


def exceeds(first: Sequence[pa.ChunkedArray], second: Sequence[pa.ChunkedArray], rows: int) -> pa.ChunkedArray:
    """For each row whether the first values are greater, the leading ones deciding; null where a null stands at that.

    Clauses: MG-003, MG-004, MG-007, MG-011.
    """
    greater = pa.chunked_array([pa.repeat(pa.scalar(value=False), rows)])
    for one, other in reversed(list(zip(first, second, strict=True))):
        same = pc.or_kleene(pc.equal(one, other), pc.and_(pc.is_null(one), pc.is_null(other)))
        greater = pc.if_else(same, greater, pc.greater(one, other))
    return greater


def _log_places(column: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """Clauses: PL-008."""
    parts = pc.extract_regex(column, _LOG_PLACE)
    return [pc.struct_field(parts, name).cast(pa.int64()) for name in _LOG_PLACE_PARTS]


def _values(delete: DeleteRecord, count: int) -> tuple[Any, ...]:
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
    exact = [_in_column(value, kind) if isinstance(value, Decimal) else value for value in values]
    try:
        return pa.array(exact, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_comparable(value, kind) for value in exact], kind)


def _in_column(value: Decimal, kind: pa.DataType) -> Decimal | None:
    """The same number; None where the column has not as many digits of fraction.

    Arrow cuts fractions for columns of whole numbers, and makes other numbers of some beyond 38 digits.
    """
    exact = _without_zeros(value)
    places = kind.scale if pa.types.is_decimal(kind) else 0
    return exact if -int(exact.as_tuple().exponent) <= places else None


def _without_zeros(value: Decimal) -> Decimal:
    """The same number without zeros that end its fraction: deletes spell 15 digits of it, or as many as Java had."""
    sign, digits, exponent = value.as_tuple()
    kept, places = list(digits), int(exponent)
    while places < 0 and kept and kept[-1] == 0:
        kept.pop()
        places += 1
    return Decimal((sign, kept, places)) if kept else Decimal(0)


def _comparable(value: Any, kind: pa.DataType) -> Any:
    try:
        return pa.scalar(value, kind).as_py()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


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
    `missing`: for each data block the columns that its partial updates leave out, and its number of records.
    `positions`: for each version the row of the base file that it changes, where merging goes by positions.

    Clauses: MG-002, MG-003, MG-005, MG-006, MG-008, MG-021.
    """

    rows: pa.Table
    versions: pa.Table
    missing: tuple[tuple[frozenset[str], int], ...] = ()
    positions: pa.ChunkedArray | None = None

    @property
    def partial(self) -> bool:
        """Whether some record leaves a column out."""
        return any(names for names, _ in self.missing)

    def left_out(self, name: str) -> pa.ChunkedArray:
        """For each of `rows` whether it is a partial update without the column."""
        parts = [pa.repeat(pa.scalar(name in names), count) for names, count in self.missing]
        return pa.chunked_array(parts, pa.bool_())


def decode_log_records(
    blocks: Sequence[LocatedBlock],
    schema: pa.Schema,
    keys: KeyRule,
    rule: MergeRule,
    columns: SliceColumns = BY_NAME,
    *,
    positions_in: str | None = None,
) -> LogRecords:
    """Data and delete blocks, in merge order, as Arrow columns.

    `positions_in` is the instant of the base file in which positions are wanted, if every block states them.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when a block's content does not decode.
        UnsupportedFormat: log-cdc; log-hfile for an HFile of another version or packing.
        HudiError: SCHEMA_INCOMPATIBLE, KEY_MISSING.

    Clauses: LF-007, LF-008, LF-013, LF-025, DM-004, MG-021, MG-022.

    """
    form = version_schema(schema, rule)
    rows: list[pa.Table] = []
    versions: list[pa.Table] = []
    missing: list[tuple[frozenset[str], int]] = []
    positions: list[pa.Array | None] = []
    count = 0
    marks = frozenset({DELETED_FIELD, OPERATION_FIELD, rule.delete_field or DELETED_FIELD})
    decoded_blocks = _decoded(blocks, schema, columns, marks)
    for one in blocks:
        if one.block.type is BlockType.DELETE:
            versions.append(_deletes(one, schema, keys, rule))
        else:
            _, decoded = next(decoded_blocks)
            conformed = columns.conform(decoded, schema, one.file, one.instant)
            rows.append(conformed)
            versions.append(_data(one, decoded, conformed, count, form, keys, rule))
            missing.append((_left_out(one, decoded, schema, columns), conformed.num_rows))
            count += conformed.num_rows
        positions.append(_positions(one, versions[-1].num_rows, positions_in))
    return LogRecords(concatenate(rows, schema), concatenate(versions, form), tuple(missing), _all(positions))


def decode_rows(blocks: Sequence[LocatedBlock], schema: pa.Schema, columns: SliceColumns) -> Iterator[pa.Table]:
    """The records of each data block as they were written, in the columns of a schema; null for one that it lacks.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when a block's content does not decode.
        UnsupportedFormat: log-hfile for an HFile of another version or packing.
        HudiError: SCHEMA_INCOMPATIBLE.

    Clauses: LF-007, LF-013, LF-025, DM-004, RD-019.

    """
    for one, decoded in _decoded(blocks, schema, columns):
        yield columns.conform(decoded, schema, one.file, one.instant)


def _decoded(
    blocks: Sequence[LocatedBlock], schema: pa.Schema, columns: SliceColumns, marks: frozenset[str] = frozenset()
) -> Iterator[tuple[LocatedBlock, pa.Table]]:
    """The data blocks, each with its records; those beside each other that read alike are decoded together."""
    data = (one for one in blocks if one.block.type is not BlockType.DELETE)
    for names, together in groupby(data, lambda one: frozenset(columns.names(schema, one.instant))):
        found = list(together)
        tables = decode_arrows([one.block for one in found], [one.file for one in found], names | marks)
        for one, table in zip(found, tables, strict=True):
            _refuse_other_case(one, names - set(table.column_names))
            yield one, table


def _refuse_other_case(one: LocatedBlock, absent: frozenset[str]) -> None:
    """A column that a block lacks reads as null, unless it has one whose name differs in nothing but case.

    Clauses: DM-004.
    """
    text = one.block.header.get(HeaderKey.SCHEMA)
    if not (absent and text):
        return
    stored = [str(field["name"]) for field in record_schema(text, one.file)["fields"]]
    for name in sorted(absent):
        other = name_in(stored, name, one.file, absent)
        if other not in {None, name}:
            message = f"the block has column {other!r} in place of {name!r}"
            hint = "write the rows again under the table's names"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, one.file, one.block.offset, hint)


def _positions(one: LocatedBlock, records: int, base_instant: str | None) -> pa.Array | None:
    """Clauses: LF-023."""
    if base_instant is None or base_instant_of_positions(one.block) != base_instant:
        return None
    return record_positions(one.block, records, one.file)


def _all(parts: Sequence[pa.Array | None]) -> pa.ChunkedArray | None:
    """The parts one after the other; None where one is missing, or there are none."""
    there = [part for part in parts if part is not None]
    return pa.chunked_array(there) if there and len(there) == len(parts) else None


def is_partial(one: LocatedBlock) -> bool:
    """Whether a data block's records hold the columns of its own schema only.

    Clauses: LF-025.
    """
    return one.block.header.get(HeaderKey.IS_PARTIAL, "").lower() == "true"


def _left_out(one: LocatedBlock, decoded: pa.Table, schema: pa.Schema, columns: SliceColumns) -> frozenset[str]:
    """Clauses: MG-021, MG-022."""
    if not is_partial(one):
        return frozenset()
    sources = columns.sources(schema, one.instant)
    return frozenset(name for name in schema.names if sources.get(name, Source(name)).name not in decoded.column_names)


def version_schema(schema: pa.Schema, rule: MergeRule) -> pa.Schema:
    """The columns of `LogRecords.versions`, for rows of a schema."""
    ordering = ordering_columns(schema.empty_table(), rule)
    fields = [(_KEY, pa.string()), (_ROW, pa.int64()), (_DELETED, pa.bool_()), (_NATURAL, pa.bool_())]
    fields += [(name, column.type) for name, column in zip(ordering_names(rule), ordering, strict=True)]
    return pa.schema(fields)


def _data(  # noqa: PLR0917 - one line of a table needs them all
    one: LocatedBlock, decoded: pa.Table, rows: pa.Table, first: int, form: pa.Schema, keys: KeyRule, rule: MergeRule
) -> pa.Table:
    count = rows.num_rows
    ordering = ordering_columns(rows, rule)
    natural = is_unordered(ordering, count, whole=not is_partial(one))
    numbers = pa.chunked_array([pa.arange(first, first + count)])
    flagged, marked = flagged_deletes(decoded), marked_deletes(decoded, rule)
    if rule.plain_marks:
        natural = pc.or_(natural, pc.or_(flagged, marked))
    columns = [_present(keys.keys(rows), one), numbers, pc.or_(flagged, marked), natural, *ordering]
    return pa.Table.from_arrays(columns, schema=form)


def _present(keys: pa.ChunkedArray, one: LocatedBlock) -> pa.ChunkedArray:
    """Clauses: DM-001."""
    if keys.null_count:
        message = f"{keys.null_count} records have no record key"
        hint = "find out which writer made the block"
        raise HudiError(Reason.KEY_MISSING, "DM-001", message, one.file, one.block.offset, hint)
    return keys


def flagged_deletes(decoded: pa.Table) -> pa.ChunkedArray:
    """For each data record whether a field of Hudi's own says that it deletes its key.

    Clauses: MG-008, MG-014.
    """
    deleted = pa.chunked_array([pa.repeat(pa.scalar(value=False), decoded.num_rows)])
    names = set(decoded.column_names)
    if DELETED_FIELD in names and pa.types.is_boolean(decoded.schema.field(DELETED_FIELD).type):
        deleted = pc.or_(deleted, pc.fill_null(decoded.column(DELETED_FIELD), fill_value=False))
    if OPERATION_FIELD in names:
        for operation in DELETE_OPERATIONS:
            deleted = pc.or_(deleted, _equals(decoded.column(OPERATION_FIELD), operation))
    return deleted


def marked_deletes(decoded: pa.Table, rule: MergeRule) -> pa.ChunkedArray:
    """For each data record whether its delete field holds the delete marker.

    Clauses: MG-008, PL-006, PL-007, PL-008.
    """
    if rule.delete_marker is None or rule.delete_field not in decoded.column_names:
        return pa.chunked_array([pa.repeat(pa.scalar(value=False), decoded.num_rows)])
    column = decoded.column(rule.delete_field).cast(pa.string())
    if rule.marker_of_any_case:
        return _equals(pc.utf8_lower(column), rule.delete_marker.lower())
    return _equals(column, rule.delete_marker)


def _equals(column: pa.ChunkedArray, text: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.equal(column.cast(pa.string()), text), fill_value=False)


def _deletes(one: LocatedBlock, schema: pa.Schema, keys: KeyRule, rule: MergeRule) -> pa.Table:
    """Clauses: LF-008, LF-017, MG-005, MG-006, PL-009."""
    deletes = decode_deletes(one.block, one.file)
    count = len(deletes)
    ordering = delete_ordering(deletes, schema, rule)
    texts = _present(pa.chunked_array([pa.array([delete.key for delete in deletes], pa.string())]), one)
    natural = is_unordered(ordering, count, whole=False)
    places, deleted = pa.nulls(count, pa.int64()), pa.repeat(pa.scalar(value=True), count)
    columns = [keys.stored(texts), places, deleted, natural, *ordering]
    return pa.Table.from_arrays(columns, schema=version_schema(schema, rule))
