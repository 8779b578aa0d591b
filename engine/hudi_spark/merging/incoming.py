"""Rows that are about to be written, as versions of records."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.merging.kernel import merge
from hudi_spark.merging.keys import RECORD_KEY, KeyRule
from hudi_spark.merging.log_records import LogRecords, flagged_deletes, marked_deletes, version_schema
from hudi_spark.merging.ordering import all_valid, ordering_columns
from hudi_spark.merging.rules import MergeRule


def incoming_records(
    rows: pa.Table,
    rule: MergeRule,
    *,
    deletes: pa.ChunkedArray | None = None,
    missing: frozenset[str] = frozenset(),
    keys: pa.ChunkedArray | None = None,
) -> LogRecords:
    """Incoming rows, oldest first, as the versions that a merge takes.

    `deletes`: rows that remove their key whatever ordering value they have. `missing`: columns that the rows, being
    partial updates, leave out. `keys`: by what versions meet, where that is more than `_hoodie_record_key`.

    Clauses: MG-003, MG-005, MG-008, MG-021.
    """
    count = rows.num_rows
    none = pa.chunked_array([pa.repeat(pa.scalar(value=False), count)])
    unconditional = none if deletes is None else deletes
    flagged, marked = flagged_deletes(rows), marked_deletes(rows, rule)
    ordering = ordering_columns(rows, rule)
    natural = pc.or_(pc.invert(all_valid(ordering, count)), unconditional)
    if rule.plain_marks:
        natural = pc.or_(natural, pc.or_(flagged, marked))
    deleted = pc.or_(pc.or_(flagged, marked), unconditional)
    met_by = rows.column(RECORD_KEY) if keys is None else keys
    columns = [met_by, pa.chunked_array([pa.arange(0, count)]), deleted, natural, *ordering]
    versions = pa.Table.from_arrays(columns, schema=version_schema(rows.schema, rule))
    return LogRecords(rows, versions, ((missing, count),))


def combined(
    rows: pa.Table, rule: MergeRule, missing: frozenset[str] = frozenset(), keys: pa.ChunkedArray | None = None
) -> pa.Table:
    """One row for each key: its versions merged, oldest first. Rows that delete stay, being versions like others.

    `keys` as for `incoming_records`.

    Clauses: MG-002, MG-003, MG-004, DM-001.
    """
    met_by = rows.column(RECORD_KEY) if keys is None else keys
    if pc.count_distinct(met_by).as_py() == rows.num_rows:
        return rows
    records = incoming_records(rows, rule, missing=missing, keys=met_by)
    alive = pa.chunked_array([pa.repeat(pa.scalar(value=False), rows.num_rows)])
    place = records.versions.column_names.index("deleted")
    versions = records.versions.set_column(place, "deleted", alive)
    kept = LogRecords(records.rows, versions, records.missing)
    return merge(rows.schema.empty_table(), kept, KeyRule(), rule)
