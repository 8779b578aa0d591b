"""The versions that win among those in the logs of a slice, without its base rows.

Clauses: LC-004, MG-002.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.merging.completing import fold_logs
from hudi_spark.merging.custom import fold_custom_logs
from hudi_spark.merging.fields import field_type
from hudi_spark.merging.kernel import winning_versions
from hudi_spark.merging.log_records import LogRecords
from hudi_spark.merging.ordering import all_valid, ordering_names, stored_ordering
from hudi_spark.merging.rules import MergeRule


@dataclass(frozen=True, slots=True)
class LogWinners:
    """One version a key: rows that stay with their keys, and keys that are deleted.

    `ordering`: for each ordering field that counts what the deletes compete with, as the table's column has it.
    `natural`: the deletes that go without.

    Clauses: LC-004, MG-005.
    """

    rows: pa.Table
    keys: pa.ChunkedArray
    deleted: pa.ChunkedArray
    natural: pa.ChunkedArray
    ordering: Sequence[pa.ChunkedArray]


def log_winners(records: LogRecords, rule: MergeRule) -> LogWinners:
    """What is left of the versions in logs when they have met each other, in the way in which they do in a query.

    Clauses: LC-004, MG-002, MG-003, MG-004, MG-025, RM-001.
    """
    if rule.merger is not None:
        folded, rows = fold_custom_logs(records, rule, rule.merger)
    elif rule.completes or records.partial:
        folded, rows = fold_logs(records, rule)
    else:
        folded = winning_versions(records.versions, rule)
        rows = records.rows.take(_kept(folded).column("row"))
    gone = folded.filter(folded.column("deleted"))
    schema = records.rows.schema
    kinds = [field_type(name, schema) for name in rule.ordering] if ordering_names(rule) else []
    ordering = stored_ordering([gone.column(name) for name in ordering_names(rule)], kinds, rule)
    natural = pc.invert(all_valid(ordering, gone.num_rows)) if ordering else _all(gone.num_rows)
    if "natural" in gone.column_names and ordering:
        natural = pc.or_(natural, gone.column("natural"))
    return LogWinners(rows, _kept(folded).column("key"), gone.column("key"), natural, ordering)


def _kept(folded: pa.Table) -> pa.Table:
    return folded.filter(pc.invert(folded.column("deleted")))


def _all(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(pa.scalar(value=True), count)])
