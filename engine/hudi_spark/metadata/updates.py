"""The metadata table in step with its table: brought up to an action before the action completes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hudi_format.metadata.partitions import Partition
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.concurrency import Clock, Effects
from hudi_spark.errors import UnsupportedFeature
from hudi_spark.metadata.compaction import DataTable, OwnTable
from hudi_spark.metadata.index import FinishedWrite, Keeping
from hudi_spark.metadata.indexes import (
    keeping_of,
    kind_of,
    statistics_definition,
    wanted_indexes,
    with_fresh_properties,
)
from hudi_spark.metadata.layout import (
    BUILDING_KEY,
    MetadataLayout,
    indexes_of,
    list_indexes,
    planned_indexes,
    write_definitions,
)
from hudi_spark.metadata.recording import (
    Opening,
    Recording,
    create_metadata_table,
    delete_index,
    delete_metadata_table,
    first_instant,
)
from hudi_spark.metadata.rollbacks import Recovery
from hudi_spark.metadata.services import keep_up
from hudi_spark.read import Executor
from hudi_spark.schema import WriterState
from hudi_spark.table_state import (
    METADATA_FOLDER,
    OwnState,
    TableConfiguration,
    Timeline,
    full_timeline,
    load_snapshot,
    load_table,
    refuse_no_folders,
)

ENABLE: Final = "hoodie.metadata.enable"
DELTACOMMIT: Final = "deltacommit"


def update_metadata_table(  # noqa: PLR0917 - an action is reported by all of them
    effects: Effects,
    state: WriterState,
    write: FinishedWrite,
    executor: Executor,
    clock: Clock,
    table: tuple[TableConfiguration, Timeline] | None = None,
) -> None:
    """Bring the metadata table up to an action that has written all its files and is about to complete.

    Called under the table's lock; what others completed since `state` was read is read anew. `table`: configuration and
    timeline, where they were read under this lock already and nobody has changed them. The metadata table is made where
    it is requested and missing, and filled with what had completed before. Indexes that are requested begin, those
    turned off go. A deltacommit of the action's own time holds what the action changes. Where the metadata table is
    turned off, it disappears; a restore takes it away, and the next write makes it anew.

    Raises:
        HudiError: WRITE_CONFLICT when another writer is at work there, without the lock.
        UnsupportedFeature: the table has an index of a kind that this engine cannot keep up; turn it off first.

    Clauses: MT-003, MT-004, MT-005, MT-006, MT-009, MT-022, SR-012.

    """
    enabled = state.options.flag(ENABLE) and write.action != "restore"
    if not enabled and not effects.storage.exists(METADATA_FOLDER):
        return
    with effects.commit_metadata_table(write.requested):
        if enabled:
            current = _current(state, table or load_table(state.storage))
            _Update(effects, current, write, executor, clock).run()
        else:
            drop_metadata_table(effects)


def drop_metadata_table(effects: Effects) -> None:
    """The metadata table disappears: from the properties, then from storage.

    Clauses: MT-007, MT-022.
    """
    list_indexes(effects, ())
    delete_metadata_table(effects)


@dataclass(slots=True)
class _Update:
    effects: Effects
    state: WriterState
    write: FinishedWrite
    executor: Executor
    clock: Clock
    known: Keeping | None = None
    own: OwnState | None = None

    def run(self) -> None:
        self._refuse_unknown()
        if self._keeping().metadata is None:
            if self._others_log():
                return
            refuse_no_folders(self.effects.storage, [METADATA_FOLDER])
            drop_metadata_table(self.effects)
            create_metadata_table(self._inside, self.state.configuration.name, self._layout)
            self._changed()
        self._remove_indexes()
        self._recover()
        self._begin_indexes()
        self._state_columns()
        self._keep_up()
        self._commit()

    def _others_log(self) -> bool:
        """Whether other writers may have put logs whose names do not say whose they are: nothing begins until then.

        Clauses: MT-009, SL-002.
        """
        if self.state.configuration.has_completion_times:
            return False
        pending = self.state.snapshot.timeline.pending(DELTACOMMIT)
        return any(one.requested != self.write.requested for one in pending)

    def _refuse_unknown(self) -> None:
        """Clauses: MT-005."""
        for partition in self._listed:
            if kind_of(partition) is None:
                raise UnsupportedFeature("metadata-index", partition)

    @property
    def _inside(self) -> Effects:
        return self.effects.inside(METADATA_FOLDER)

    @property
    def _layout(self) -> MetadataLayout:
        return MetadataLayout(self.state.configuration.version)

    @property
    def _listed(self) -> tuple[str, ...]:
        return indexes_of(self.state.configuration.properties)

    def _building(self) -> tuple[str, ...]:
        """The indexes that an indexing action builds meanwhile: they are kept, and written to once they have groups.

        Clauses: IG-003.
        """
        marked = indexes_of(self.state.configuration.properties, BUILDING_KEY)
        if not marked:
            return ()
        planned = planned_indexes(self.state.storage, self.state.snapshot.timeline)
        return tuple(one for one in marked if one in planned and one not in self._listed and kind_of(one) is not None)

    def _keeping(self) -> Keeping:
        """What is known now; read once, and anew after a change."""
        if self.known is None:
            self.known = keeping_of(self.state, self.executor, self._own(), self.write)
        return self.known

    def _own(self) -> OwnState:
        if self.own is None:
            self.own = OwnState(self._inside.storage)
        return self.own

    def _changed(self) -> None:
        self.state, self.known, self.own = with_fresh_properties(self.state), None, None

    def _remove_indexes(self) -> None:
        """What the options turn off, and what a failed writer left half built.

        Clauses: IX-002, MT-007.
        """
        keeping = self._keeping()
        kinds = {partition: kind_of(partition) for partition in self._listed}
        off = [partition for partition, kind in kinds.items() if kind is not None and kind.dropped(keeping, partition)]
        marked = indexes_of(self.state.configuration.properties, BUILDING_KEY)
        building = self._building()
        half = [one for one in marked if one not in (*self._listed, *building)]
        if not (off or half) and marked == building:
            return
        kept = [one for one in self._listed if one not in off]
        self._list(kept, building=(*half, *building))
        for partition in (*off, *half):
            delete_index(self._inside, partition)
        definitions = {name: one for name, one in keeping.definitions.items() if name not in off}
        self._define(keeping.definitions, definitions)
        self._list(kept, building)

    def _recover(self) -> None:
        """Clauses: MT-006."""
        recovery, data = Recovery(self._inside, *self._own().table, self._layout), self.state.snapshot.timeline
        whole = partial(full_timeline, self.state.storage, self.state.configuration, data)
        for failed in recovery.failed(data, whole, self.write.requested, self.write.rolled_back or ""):
            recovery.roll_back(failed, self.write.requested, self.clock)
            self._changed()

    def _begin_indexes(self) -> None:
        """Clauses: MT-009, MT-017, MT-021."""
        listed, building = self._listed, self._building()
        new = [one for one in wanted_indexes(self._keeping()) if one not in (*listed, *building)]
        if not new or self._others_log():
            return
        self._list(listed, building=(*new, *building))
        for partition in new:
            delete_index(self._inside, partition)
            self._begin(partition)
            self._changed()
        self._list((*listed, *new), building)

    def _begin(self, partition: str) -> None:
        keeping, kind = self._keeping(), kind_of(partition)
        if kind is None:
            return
        configuration, timeline = self._own().table
        started = kind.begin(keeping, partition)
        instant = first_instant(self._inside.storage, timeline, self._layout)
        Opening(self._inside, configuration, self._layout, self.executor).begin(partition, started, instant, self.clock)
        if started.definition is not None:
            self._define(keeping.definitions, {**keeping.definitions, started.definition.name: started.definition})

    def _state_columns(self) -> None:
        """The definition of the statistics of columns names the columns that this action's files have them of.

        Clauses: IX-001, MT-011.
        """
        keeping = self._keeping()
        name = str(Partition.COLUMN_STATS)
        if name in self._listed and name in keeping.definitions:
            stated = statistics_definition(keeping)
            self._define(keeping.definitions, {**keeping.definitions, name: stated})

    def _keep_up(self) -> None:
        """Clauses: MT-015, MT-016."""
        storage, configuration, timeline = self.state.storage, self.state.configuration, self.state.snapshot.timeline
        data = DataTable(storage, configuration, timeline, self._listed)
        table = OwnTable(
            self._inside, *self._own().table, self._layout, data, self.state.options, self.executor, self.clock
        )
        if keep_up(table, self.write.requested):
            self._changed()

    def _commit(self) -> None:
        """Clauses: MT-003, MT-004, MT-005."""
        keeping = self._keeping()
        built = (one for one in self._building() if keeping.groups.get(one))
        recording = Recording(self._inside, self._own(), keeping, self._layout)
        recording.record((*self._listed, *built), self.clock)

    def _define(self, before: Mapping[str, IndexDefinition], after: Mapping[str, IndexDefinition]) -> None:
        """Clauses: IX-001."""
        if before == after:
            return
        configuration = self.state.configuration
        path = write_definitions(self.effects, configuration.properties, after)
        properties = configuration.properties
        list_indexes(self.effects, indexes_of(properties), indexes_of(properties, BUILDING_KEY), definitions_path=path)
        self.state = with_fresh_properties(self.state)

    def _list(self, whole: list[str] | tuple[str, ...], building: list[str] | tuple[str, ...] = ()) -> None:
        """Clauses: MT-007."""
        if list_indexes(self.effects, whole, building):
            self._changed()


def _current(state: WriterState, table: tuple[TableConfiguration, Timeline]) -> WriterState:
    """The same with all that has completed by now, under the lock: others may have written since the write began."""
    configuration, timeline = table
    if timeline.completed_data() == state.snapshot.timeline.completed_data():
        return replace(state, snapshot=replace(state.snapshot, configuration=configuration, timeline=timeline))
    return replace(state, snapshot=load_snapshot(state.storage))
