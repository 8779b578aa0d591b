"""Merging by a merger that the user registered."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.merging.folding import KEY, fold, fold_over
from hudi_spark.merging.log_records import LogRecords
from hudi_spark.merging.mergers import CarriedMerger, Versions
from hudi_spark.merging.ordering import ordering_columns, ordering_names
from hudi_spark.merging.rules import MergeRule

_KNOWN, _DELETED = "known", "deleted"
# Columns of the table stand beside those of the merge, so each kind has its prefix.
_ROW, _UNSET = "row:", "unset:"


def merge_custom(
    base: pa.Table, base_keys: pa.ChunkedArray, records: LogRecords, rule: MergeRule, carried: CarriedMerger
) -> pa.Table:
    """The merged rows of the keys in the logs; every row of `base` has one of them.

    Clauses: RM-001, RM-003, RM-004, RM-005, RM-006.
    """
    folding = _Custom(base.schema, rule, carried, tuple(sorted({name for out, _ in records.missing for name in out})))
    logs = folding.log_versions(records)
    merged = fold_over(folding.base_versions(base, base_keys), logs, folding.pair, base_first=rule.deletes_reach_base)
    present = merged.filter(pc.invert(merged.column(_DELETED)))
    return folding.versions(present).rows


def fold_custom_logs(records: LogRecords, rule: MergeRule, carried: CarriedMerger) -> tuple[pa.Table, pa.Table]:
    """The versions in logs merged among themselves, one line a key, and the rows of those that are no deletes.

    Clauses: LC-004, RM-001.
    """
    unset = tuple(sorted({name for out, _ in records.missing for name in out}))
    folding = _Custom(records.rows.schema, rule, carried, unset)
    merged = fold(folding.log_versions(records), folding.pair)
    return merged, folding.versions(merged.filter(pc.invert(merged.column(_DELETED)))).rows


class _Custom:
    """Turns tables that fold into `Versions` and back, and asks the merger."""

    def __init__(self, schema: pa.Schema, rule: MergeRule, carried: CarriedMerger, partial: tuple[str, ...]) -> None:
        self._schema = schema
        self._rule = rule
        self._carried = carried
        self._partial = partial

    def base_versions(self, base: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
        """A version of each base row."""
        count = base.num_rows
        true, false = (pa.repeat(pa.scalar(value), count) for value in (True, False))
        return self._table(keys, true, false, ordering_columns(base, self._rule), base, [false] * len(self._partial))

    def log_versions(self, records: LogRecords) -> pa.Table:
        """The versions in the logs; a tombstone's columns are null."""
        versions = records.versions
        places = versions.column("row")
        rows = records.rows.take(places)
        unset = [pc.fill_null(records.left_out(name).take(places), fill_value=False) for name in self._partial]
        ordering = [versions.column(name) for name in ordering_names(self._rule)]
        return self._table(versions.column(KEY), pc.is_valid(places), versions.column(_DELETED), ordering, rows, unset)

    def pair(self, older: pa.Table, newer: pa.Table) -> pa.Table:
        """What the merger makes of versions that meet."""
        first, second = self.versions(older), self.versions(newer)
        merged = self._carried.merger.merge(first, second, self._carried.context)
        unset = [merged.unset.get(name, pa.repeat(pa.scalar(value=False), len(merged))) for name in self._partial]
        rows = merged.rows.select(self._schema.names).cast(self._schema)
        ordering = self._kept_ordering(merged, first, second)
        return self._table(older.column(KEY), merged.known, merged.deleted, ordering, rows, unset)

    def versions(self, table: pa.Table) -> Versions:
        """Lines of a folding table as the merger sees them."""
        one = table.combine_chunks()
        rows = pa.Table.from_arrays([one.column(_ROW + name) for name in self._schema.names], schema=self._schema)
        ordering = pa.table([one.column(name) for name in ordering_names(self._rule)], names=list(self._rule.ordering))
        unset = {name: one_chunk(one.column(_UNSET + name)) for name in self._partial}
        return Versions(rows, one_chunk(one.column(_KNOWN)), one_chunk(one.column(_DELETED)), ordering, unset)

    def _kept_ordering(self, merged: Versions, older: Versions, newer: Versions) -> list[pa.ChunkedArray]:
        """Ordering values of the merged columns, else those that the merger answers, else those of either version.

        Clauses: RM-005.
        """
        of_rows = ordering_columns(merged.rows, self._rule)
        given = (merged.ordering, newer.ordering, older.ordering)
        return [pc.coalesce(column, *(table.column(index) for table in given)) for index, column in enumerate(of_rows)]

    def _table(  # noqa: PLR0917 - one line of a table needs them all
        self,
        keys: object,
        known: object,
        deleted: object,
        ordering: Sequence[object],
        rows: pa.Table,
        unset: Sequence[object],
    ) -> pa.Table:
        names = [KEY, _KNOWN, _DELETED, *ordering_names(self._rule)]
        names += [_ROW + name for name in self._schema.names] + [_UNSET + name for name in self._partial]
        return pa.table([keys, known, deleted, *ordering, *rows.columns, *unset], names=names)
