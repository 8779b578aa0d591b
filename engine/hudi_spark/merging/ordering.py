"""Ordering values as Arrow columns that sort as Java compares."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.log.deletes import DeleteRecord

from hudi_spark.merging.fields import field_type, field_values
from hudi_spark.merging.rules import MergeRule

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


def exceeds(first: Sequence[pa.ChunkedArray], second: Sequence[pa.ChunkedArray], rows: int) -> pa.ChunkedArray:
    """For each row whether the first values are greater, the leading ones deciding; null where one is null.

    Clauses: MG-003, MG-004, MG-007.
    """
    greater = pa.chunked_array([pa.repeat(pa.scalar(value=False), rows)])
    for one, other in reversed(list(zip(first, second, strict=True))):
        greater = pc.or_kleene(pc.greater(one, other), pc.and_kleene(pc.equal(one, other), greater))
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
