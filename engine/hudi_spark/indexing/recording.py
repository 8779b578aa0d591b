"""What an action changes in each index, recorded in the metadata table by one deltacommit of the action's time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.clock import Clock
from hudi_spark.effects.helper import Effects
from hudi_spark.files.written import WRITTEN_SCHEMA, from_rows
from hudi_spark.indexing.deltacommits import Deltacommit
from hudi_spark.indexing.group_places import group_places
from hudi_spark.indexing.groups import GroupFiles, Place, entries_of
from hudi_spark.indexing.index import IndexChanges, Keeping
from hudi_spark.indexing.instants import newest_time
from hudi_spark.indexing.kinds import kind_of
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.indexing.opening import DRIVER, Opening
from hudi_spark.metadata.own_state import OwnState
from hudi_spark.state.slicing import list_file_groups


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

        Clauses: MT-003, MT-004, MT-005.
        """
        keeping, instant = self.keeping, self.keeping.write.requested
        changes = {
            partition: kind.changes(keeping, partition, keeping.write)
            for partition in indexes
            if (kind := kind_of(partition)) is not None
        }
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
