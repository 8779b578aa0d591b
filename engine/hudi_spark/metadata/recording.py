"""A metadata table created and filled, and what each action changes in its indexes, by one deltacommit.

Of the data table's properties an index is listed as being built before its folder appears and as whole after its first
deltacommit; it leaves the list before its folder disappears.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_format.metadata.partitions import file_group_of_id
from hudi_format.names import PARTITION_METAFILE
from hudi_format.storage import Storage
from hudi_format.table.partition_metafile import PartitionMetafile, serialise_partition_metafile
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import PROPERTIES_FILE, with_checksum
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import Clock, Effects
from hudi_spark.files import WRITTEN_SCHEMA, from_rows
from hudi_spark.metadata.file_groups import Deltacommit, GroupFiles, Place, entries_of, group_places
from hudi_spark.metadata.index import IndexChanges, Keeping, NewIndex
from hudi_spark.metadata.indexes import kind_of
from hudi_spark.metadata.layout import OPENING_TOKEN, MetadataLayout, newest_time
from hudi_spark.read import Executor, TaskIdentity
from hudi_spark.table_state import (
    METADATA_FOLDER,
    OwnState,
    TableConfiguration,
    Timeline,
    full_timeline,
    list_file_groups,
    load_configuration,
    undone_instants,
)

DRIVER: Final = TaskIdentity(0, 0, 0)


def create_metadata_table(inside: Effects, table_name: str, layout: MetadataLayout) -> None:
    """An empty metadata table: its properties.

    Clauses: MT-001, PR-005.
    """
    properties = with_checksum(layout.properties(table_name))
    inside.put_properties(PROPERTIES_FILE, serialise_properties(properties))


def delete_metadata_table(effects: Effects) -> None:
    """The folder of the metadata table disappears; the properties do not list it any more.

    Clauses: MT-007, MT-022.
    """
    effects.storage.delete_folder(METADATA_FOLDER)


def delete_index(inside: Effects, partition: str) -> None:
    """The folder of one index disappears; the properties do not list it any more.

    Clauses: IX-002, MT-007.
    """
    inside.storage.delete_folder(partition)


def first_instant(inside: Storage, timeline: Timeline, layout: MetadataLayout) -> str:
    """The instant by which an index begins: one that no other had, archived ones neither, nor one that was rolled back.

    Before version 8 writers name their logs after it, and their commits tell of logs that went with the older one.

    Clauses: MT-021, SL-005, HS-001.
    """
    whole = full_timeline(inside, load_configuration(inside), timeline)
    return layout.initial_instant((*(one.requested for one in whole.instants), *undone_instants(inside, timeline)))


@dataclass(frozen=True, slots=True)
class Opening:
    """Begins indexes; `inside` and `configuration` are those of the metadata table.

    Clauses: MT-009, MT-017, MT-021.
    """

    inside: Effects
    configuration: TableConfiguration
    layout: MetadataLayout
    executor: Executor

    def begin(self, partition: str, new: NewIndex, instant: str, clock: Clock) -> None:
        """The first deltacommit of an index: its groups, and a base file in each that holds something already.

        Clauses: MT-009, MT-017, MT-021.
        """
        commit = Deltacommit(self.inside, self.configuration, self.layout, instant, self.layout.opening_operation)
        commit.begin()
        files = GroupFiles(self.inside, self.layout, partition, instant)
        self.open_groups(files, new.file_ids)
        stats = self._base_files(files, new)
        commit.complete(stats, clock.instant())

    def fill(self, partition: str, new: NewIndex, instant: str) -> None:
        """A base file in each group of an index that holds something already, by the instant that opened the groups.

        Clauses: IG-002, MT-017.
        """
        self._base_files(GroupFiles(self.inside, self.layout, partition, instant), new)

    def open_groups(self, files: GroupFiles, file_ids: Iterable[str]) -> bool:
        """The folder of an index, and the first log of each of some groups; whether there is anything new.

        Clauses: MT-017, SL-002.
        """
        content = serialise_partition_metafile(PartitionMetafile(files.instant, 1))
        metafile_put = self.inside.put_partition_metafile(files.instant, files.partition, PARTITION_METAFILE, content)
        ordered = sorted(file_ids, key=file_group_of_id)
        for file_id in ordered:
            files.open(file_id, OPENING_TOKEN)
        return metafile_put or bool(ordered)

    def _base_files(self, files: GroupFiles, new: NewIndex) -> tuple[WriteStat, ...]:
        content = new.content
        if content.entries is not None:
            flow = content.entries.shuffled(["file_id"]).map(files.base_files, WRITTEN_SCHEMA)
            stats = tuple(one.stat for one in from_rows(flow.gathered()))
            files.remove_strays(stats)
            return stats
        rows = entries_of(IndexChanges(content.records), new.file_ids, self.layout)
        return tuple(one.stat for one in from_rows(files.base_files(rows, DRIVER)))


@dataclass(frozen=True, slots=True)
class Recording:
    """Records an action; `inside` and `own` are the metadata table's, as `keeping` knows it.

    Clauses: MT-003, MT-005.
    """

    inside: Effects
    own: OwnState
    keeping: Keeping
    layout: MetadataLayout

    def record(self, indexes: Iterable[str], clock: Clock) -> None:
        """The deltacommit, with what changes in these indexes.

        Raises:
            HudiError: BASE_FILE_MISSING where storage holds no file group of one of them.

        Clauses: MT-003, MT-004, MT-005.

        """
        keeping, instant = self.keeping, self.keeping.write.requested
        changes = {
            partition: kind.changes(keeping, partition, keeping.write)
            for partition in indexes
            if (kind := kind_of(partition)) is not None
        }
        for partition, one in changes.items():
            if _is_any(one) and not one.opened:
                keeping.groups_of(partition)
        configuration, timeline = self.own.table
        known = self._places(changes)
        places = {partition: known.get(partition, {}) for partition in changes}
        commit = Deltacommit(self.inside, configuration, self.layout, instant)
        commit.begin({partition: places[partition] for partition, one in changes.items() if _is_any(one)})
        stats = [stat for partition, one in changes.items() for stat in self._logs(partition, one, places[partition])]
        commit.complete(stats, clock.instant(max(newest_time(timeline), instant)))

    def _places(self, changes: Mapping[str, IndexChanges]) -> dict[str, dict[str, Place]]:
        """Where the logs of each group go, once those groups are open that begin with the action.

        Clauses: MT-017.
        """
        (configuration, timeline), instant = self.own.table, self.keeping.write.requested
        opening = Opening(self.inside, configuration, self.layout, self.keeping.executor)
        opened = [
            opening.open_groups(GroupFiles(self.inside, self.layout, partition, instant), one.opened)
            for partition, one in changes.items()
        ]
        own = OwnState(self.inside.storage) if any(opened) else self.own
        return group_places(own.storage, timeline, self.layout, list_file_groups(own.storage, own.listing), instant)

    def _logs(self, partition: str, changes: IndexChanges, places: Mapping[str, Place]) -> tuple[WriteStat, ...]:
        files = GroupFiles(self.inside, self.layout, partition, self.keeping.write.requested, places)
        few = entries_of(changes, places, self.layout)
        if changes.entries is None:
            return tuple(one.stat for one in from_rows(files.logs(few, DRIVER)))
        flow = changes.entries.together(self.keeping.executor.rows(few)) if few.num_rows else changes.entries
        written = flow.shuffled(["file_id"]).map(files.logs, WRITTEN_SCHEMA).gathered()
        stats = tuple(one.stat for one in from_rows(written))
        files.remove_strays(stats)
        return stats


def _is_any(changes: IndexChanges) -> bool:
    return bool(changes.records or changes.deleted or changes.entries is not None)
