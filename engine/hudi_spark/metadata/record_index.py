"""The record index kept: where each record key lives.

begun      every key that a snapshot reads, in the group that has it, since the instant of the group's slice
changed    a key that a touched group has and had not: added; one that it had and has not: taken out
moved      a key taken out of one group and added to another: added, whatever the order
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.metadata.columns import record_bytes
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import FileIdEncoding, RecordLocation, RecordType, halves_of
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.merge import RECORD_KEY
from hudi_spark.metadata.file_groups import Series, entries_table, series_of
from hudi_spark.metadata.index import (
    ENTRIES,
    FinishedWrite,
    GroupReading,
    GroupTask,
    IndexChanges,
    Keeping,
    NewIndex,
    count_rows,
    group_changes,
    whole_groups,
)
from hudi_spark.metadata.layout import MetadataLayout, milliseconds_of
from hudi_spark.options import Options
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.schema import one_chunk
from hudi_spark.table_state import TableConfiguration

# What releases take a record of such an index to weigh.
_BYTES_A_RECORD: Final = 48


def groups_for(options: Options, records: int, *, partitioned: bool = False) -> int:
    """The number of groups that options give an index of so many records, of the whole table or of one partition.

    Clauses: MT-017.
    """
    scope = "hoodie.metadata." if partitioned else "hoodie.metadata.global."
    least, most = (options.number(f"{scope}record.level.index.{end}.filegroup.count") for end in ("min", "max"))
    growth = options.decimal("hoodie.metadata.record.index.growth.factor")
    most_bytes = options.number("hoodie.metadata.record.index.max.filegroup.size")
    return estimated_groups(records, least, most, growth, most_bytes)


def estimated_groups(records: int, least: int, most: int, growth: float, most_bytes: int) -> int:
    """As many groups as hold the records that are expected, within the bounds.

    Clauses: MT-017.
    """
    held = math.ceil(records * growth) // max(most_bytes // _BYTES_A_RECORD, 1)
    if least == most or held <= least:
        return max(least, 1)
    return max(min(held, most), 1)


GLOBAL_KEY: Final = "hoodie.metadata.global.record.level.index.enable"
PARTITIONED_KEY: Final = "hoodie.metadata.record.level.index.enable"
PARTITIONED_OPTION: Final = "isPartitioned"


@dataclass(frozen=True, slots=True)
class RecordIndex:
    """The index of record keys, over the whole table or for each partition by itself.

    Clauses: IX-020, IX-021, IX-022, IX-023.
    """

    def holds(self, partition: str) -> bool:
        """Whether a partition of the metadata table is the record index."""
        return partition == Partition.RECORD_INDEX

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The record index, where it is there or options request it.

        Raises:
            UnsupportedFeature: record-index-without-keys, where the table stores no record keys.

        """
        options = keeping.state.options
        if not (self._configured(options) or keeping.groups.get(Partition.RECORD_INDEX)):
            return ()
        if not keeping.state.configuration.populates_meta_fields:
            raise UnsupportedFeature("record-index-without-keys", "the table stores no record keys")
        return (Partition.RECORD_INDEX,)

    def dropped(self, keeping: Keeping, partition: str) -> bool:  # noqa: ARG002 - there is one
        """Whether options say that there shall be no record index."""
        options = keeping.state.options
        given = [key for key in (GLOBAL_KEY, PARTITIONED_KEY) if options.given(key)]
        return bool(given) and not self._configured(options)

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The index of every key that a snapshot reads; one small job counts the keys, one reads them.

        Clauses: IX-020, IX-022, MT-009.
        """
        del partition
        state, layout = keeping.state, MetadataLayout(keeping.state.configuration.version)
        partitioned = _initial_by_partition(state.options, layout)
        tasks = GroupReading(state, (RECORD_KEY,)).tasks(whole_groups(state))
        counts = zip((one.change.partition for one in tasks), count_rows(tasks, keeping.executor), strict=True)
        numbers = _group_counts(counts, state.options, partitioned=partitioned)
        file_ids = tuple(file_id for name, count in sorted(numbers.items()) for file_id in _file_ids(name, count))
        entries = self.expected(keeping, file_ids)
        return NewIndex(file_ids, IndexChanges(entries=entries), _definition(layout, partitioned=partitioned))

    def expected(self, keeping: Keeping, file_ids: Iterable[str]) -> Flow:
        """The entries of every key that a snapshot reads, as `ENTRIES`, in these groups.

        Clauses: IX-020, IX-022.
        """
        state = keeping.state
        release = MetadataLayout(state.configuration.version).release
        keys = _Keys(series_of(file_ids), release, state.configuration)
        return keeping.executor.tasks(
            GroupReading(state, (RECORD_KEY,)).tasks(whole_groups(state)), keys.all_of, ENTRIES
        )

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """What an action adds to the index and takes from it.

        Clauses: IX-021, IX-022.
        """
        state = keeping.state
        changed = [one for one in group_changes(state, write) if not one.updates_only]
        if not changed:
            return IndexChanges()
        # An index of each partition has no groups before there are rows.
        found = keeping.groups_of(partition) if state.snapshot.slices else keeping.groups.get(partition, ())
        series = series_of(found)
        new = _new_groups(series, {one.partition for one in changed}, state.options)
        layout = MetadataLayout(state.configuration.version)
        keys = _Keys({**series, **series_of(new)}, layout.release, state.configuration, write.requested)
        tasks = GroupReading(state, (RECORD_KEY,), write.requested).tasks(changed)
        return IndexChanges(entries=keeping.executor.tasks(tasks, keys.changed_of, ENTRIES), opened=new)

    def _configured(self, options: Options) -> bool:
        return options.flag(GLOBAL_KEY) or options.flag(PARTITIONED_KEY)


def is_partitioned(definitions: Mapping[str, IndexDefinition]) -> bool:
    """Whether the record index of a table is one for each partition.

    Clauses: IX-022.
    """
    known = definitions.get(Partition.RECORD_INDEX)
    return known is not None and known.options.get(PARTITIONED_OPTION, "").lower() == "true"


@dataclass(frozen=True, slots=True)
class _Keys:
    """Turns the keys of file groups into entries; what tasks run.

    `series`: the groups of the index, by the partition that they are for. `since`: the action that adds keys; without
    one, that of each slice.
    """

    series: Mapping[str | None, Series] = field(hash=False)
    release: SchemaRelease
    configuration: TableConfiguration
    since: str | None = None

    def all_of(self, task: GroupTask, _: TaskIdentity) -> pa.Table:
        """An entry for each key."""
        keys = _unique(task.rows_after())
        return self._entries(task, keys, keys.slice(0, 0))

    def changed_of(self, task: GroupTask, _: TaskIdentity) -> pa.Table:
        """An entry for each key added, and one without a value for each that is gone."""
        before, after = _unique(task.rows_before()), _unique(task.rows_after())
        return self._entries(task, _without(after, before), _without(before, after))

    def _entries(self, task: GroupTask, added: pa.Array, gone: pa.Array) -> pa.Table:
        change = task.change
        instant = self.since or (change.after.base_instant if change.after is not None else "")
        place = location(change.partition, change.file_id, milliseconds_of(instant, self.configuration))
        series = self.series[None] if None in self.series else self.series[change.partition]
        value = record_bytes(RecordType.RECORD_INDEX, place, self.release)
        return entries_table(series, added, value, gone)


def location(partition: str, file_id: str, instant_ms: int) -> RecordLocation:
    """The place of a file group, its id as halves of a UUID where it is one.

    Clauses: IX-023.
    """
    try:
        halves_of(file_id)
    except ValueError:
        return RecordLocation(partition, file_id, instant_ms, FileIdEncoding.TEXT)
    return RecordLocation(partition, file_id, instant_ms)


def _unique(rows: pa.Table) -> pa.Array:
    return pc.unique(one_chunk(rows.column(RECORD_KEY)))


def _without(keys: pa.Array, others: pa.Array) -> pa.Array:
    return keys.filter(pc.invert(pc.is_in(keys, value_set=others)))


def _initial_by_partition(options: Options, layout: MetadataLayout) -> bool:
    """Version 9 alone has indexes by partition.

    Raises:
        UnsupportedFeature: partitioned-record-index, for an older table.

    Clauses: IX-022.

    """
    partitioned = options.flag(PARTITIONED_KEY) and not options.flag(GLOBAL_KEY)
    if partitioned and layout.release is not SchemaRelease.V1_1:
        raise UnsupportedFeature("partitioned-record-index", "a table of a version before 9 has none")
    return partitioned


def _group_counts(counts: Iterable[tuple[str, int]], options: Options, *, partitioned: bool) -> dict[str | None, int]:
    """How many groups there are for each partition, or under None for the whole table."""
    found: Counter[str | None] = Counter() if partitioned else Counter({None: 0})
    for partition, keys in counts:
        found[partition if partitioned else None] += keys
    return {name: groups_for(options, keys, partitioned=partitioned) for name, keys in found.items()}


def _file_ids(partition: str | None, count: int) -> Iterable[str]:
    """The groups of a partition, or of the whole table.

    Raises:
        UnsupportedFeature: partitioned-record-index, where the path would end the file id within the names of files.

    Clauses: IX-022, SL-004.

    """
    if partition is not None and "_" in partition:
        what = f"no file id holds the `_` of the partition {partition!r}; drop the index, or set {GLOBAL_KEY}"
        raise UnsupportedFeature("partitioned-record-index", what)
    return (metadata_file_id(Partition.RECORD_INDEX, number, partition) for number in range(count))


def _new_groups(series: Mapping[str | None, Series], partitions: set[str], options: Options) -> tuple[str, ...]:
    """The groups that partitions without any get; an index of the whole table has all of its groups."""
    if None in series:
        return ()
    count = options.number("hoodie.metadata.record.level.index.min.filegroup.count")
    return tuple(file_id for name in sorted(partitions - series.keys()) for file_id in _file_ids(name, count))


def _definition(layout: MetadataLayout, *, partitioned: bool) -> IndexDefinition | None:
    """From version 9 on the index is among the definitions.

    Clauses: IX-001.
    """
    if layout.release is not SchemaRelease.V1_1:
        return None
    options = {PARTITIONED_OPTION: str(partitioned).lower()}
    return IndexDefinition(Partition.RECORD_INDEX, Partition.RECORD_INDEX, "", (), options)
