"""Indexes made and taken away as actions of their own, beside the writes that keep them.

made         planned in the timeline, defined, marked as being built, filled from all that has completed, whole
taken away   out of the properties, out of the definitions, out of storage; no action stands for it
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from hudi_format.metadata.partitions import (
    Partition,
    index_partitions,
    is_expression_index,
    is_secondary_index,
)
from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.table.index_definitions import IndexDefinition
from hudi_format.timeline.plans import (
    IndexCommit,
    IndexPartition,
    IndexPlan,
    serialise_index_commit,
    serialise_index_plan,
)

from hudi_spark.concurrency import Clock, Effects
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.metadata.expressions import results_of
from hudi_spark.metadata.index import Keeping
from hudi_spark.metadata.indexes import keeping_of, kind_of, with_fresh_properties
from hudi_spark.metadata.layout import (
    BUILDING_KEY,
    INDEXING,
    MetadataLayout,
    indexes_of,
    list_indexes,
    planned_indexes,
    read_definitions,
    write_definitions,
)
from hudi_spark.metadata.recording import Opening, delete_index, first_instant
from hudi_spark.metadata.secondary_index import checked_column, refuse_kind
from hudi_spark.read import Executor
from hudi_spark.schema import WriterState
from hudi_spark.table_state import METADATA_FOLDER, PARTITIONS_KEY, Instant, load_configuration, load_table

ACTION: Final = INDEXING
_NOTHING_YET: Final = "00000000000000000"


def create_index(
    effects: Effects, state: WriterState, definition: IndexDefinition, executor: Executor, clock: Clock
) -> tuple[str, str | None]:
    """Make an index of everything that has completed; requested and completion time of its action, as `Outcome` has it.

    Called under the table's lock; `state` is that of the table under the lock. Writes that are on their way complete
    after it, and log to it. An action of the same index that died is gone on with.

    Raises:
        HudiError: CONFIG_INVALID without a metadata table, for an index that is there already, for a definition that
            does not fit the table.
        UnsupportedFeature: an index that the table's version does not have.

    Clauses: IG-001, IG-002, IG-005, IX-001, IX-002, MT-009.

    """
    making = _Making(effects, state, definition, executor, clock)
    making.check()
    return making.run()


def drop_index(effects: Effects, state: WriterState, name: str) -> None:
    """Take an index away, by its name or that of its partition. Called under the table's lock.

    Raises:
        HudiError: CONFIG_INVALID for an index that is not there, for the list of files, and for the record index
            while secondary indexes need it.

    Clauses: IX-002, IX-032, MT-007.

    """
    state = with_fresh_properties(state)
    properties = state.configuration.properties
    listed, definitions = indexes_of(properties), read_definitions(state.storage, properties)
    known = {*listed, *definitions}
    name = next((one for one in index_partitions(name) if one in known), name)
    if name not in known:
        raise _refused(f"the table has no index {name!r}; it has {', '.join(listed)}")
    if name == Partition.FILES:
        raise _refused("the list of files goes with the whole metadata table: turn hoodie.metadata.enable off")
    leading = [one for one in listed if is_secondary_index(one)]
    if name == Partition.RECORD_INDEX and leading:
        raise _refused(f"{', '.join(leading)} needs the record index: drop it first")
    list_indexes(effects, [one for one in listed if one != name])
    if name in definitions:
        _define(effects, state, {key: one for key, one in definitions.items() if key != name})
    delete_index(effects.inside(METADATA_FOLDER), name)


def refuse_unfit(keeping: Keeping, name: str, definition: IndexDefinition | None = None) -> None:
    """Nothing when the table can have an index.

    Raises:
        HudiError: CONFIG_INVALID for a definition that does not fit the table.
        UnsupportedFeature: an index of an unknown kind, or one that the table's version does not have.

    Clauses: IG-001, IX-002, IX-032, IX-041.

    """
    if kind_of(name) is None:
        raise UnsupportedFeature("index-kind", name)
    own = is_secondary_index(name) or is_expression_index(name)
    if own and not MetadataLayout(keeping.state.configuration.version).has_completion_times:
        raise UnsupportedFeature("index-before-version-8", name)
    if definition is not None and is_secondary_index(name):
        checked_column(keeping, definition)
        refuse_kind(keeping, definition)
    if definition is not None and is_expression_index(name):
        results_of(keeping, definition)


@dataclass(slots=True)
class _Making:
    effects: Effects
    state: WriterState
    definition: IndexDefinition
    executor: Executor
    clock: Clock

    def check(self) -> None:
        """Refuse what cannot be made before anything is written.

        Clauses: IG-001, IX-002, IX-032, IX-041.
        """
        self.state = with_fresh_properties(self.state)
        name, listed = self.definition.name, indexes_of(self.state.configuration.properties)
        if Partition.FILES not in listed:
            raise _refused("the table has no metadata table: write to it with hoodie.metadata.enable first")
        if name in listed:
            raise _refused(f"the table has {name} already")
        refuse_unfit(self._keeping(), name, self.definition)

    def run(self) -> tuple[str, str | None]:
        pending = self._pending()
        instant = pending.requested if pending else self.clock.instant(self._newest())
        covered = IndexPartition(metadata_partition_path=self.definition.name, index_upto_instant=self._last_write())
        if pending is None:
            self._put(instant, "REQUESTED", serialise_index_plan(IndexPlan(index_partition_infos=(covered,))))
        if pending is None or pending.state == "REQUESTED":
            self._put(instant, "INFLIGHT", b"")
        self._build()
        content = serialise_index_commit(IndexCommit(index_partition_infos=(covered,)))
        completed = self.clock.instant(instant) if self._layout.has_completion_times else None
        name = TimelineFileName(instant, ACTION, "COMPLETED", completed)
        self.effects.complete_instant(self.state.configuration, name, content)
        return instant, completed

    def _build(self) -> None:
        """Defined, marked, filled, whole.

        Clauses: IX-001, IG-003, IG-005, MT-021.
        """
        name, listed = self.definition.name, indexes_of(self.state.configuration.properties)
        inside = self.effects.inside(METADATA_FOLDER)
        self._list(listed, building=(name,))
        delete_index(inside, name)
        kind = kind_of(name)
        if kind is None:
            return
        keeping = self._keeping()
        keeping = replace(keeping, definitions={**keeping.definitions, name: self.definition})
        building = kind.begin(keeping, name)
        configuration, timeline = load_table(inside.storage)
        first = first_instant(inside.storage, timeline, self._layout)
        Opening(inside, configuration, self._layout, self.executor).begin(name, building, first, self.clock)
        if building.definition is not None:
            _define(self.effects, self.state, {**keeping.definitions, name: building.definition})
        self._list((*listed, name))

    @property
    def _layout(self) -> MetadataLayout:
        return MetadataLayout(self.state.configuration.version)

    def _keeping(self) -> Keeping:
        return keeping_of(self.state, self.executor)

    def _pending(self) -> Instant | None:
        """The action that was to make the index and died, if there is one.

        Clauses: IG-001.
        """
        return planned_indexes(self.state.storage, self.state.snapshot.timeline).get(self.definition.name)

    def _newest(self) -> str:
        times = (one.at("completed") for one in self.state.snapshot.timeline.instants)
        return max((*times, *(one.requested for one in self.state.snapshot.timeline.instants)), default="")

    def _last_write(self) -> str:
        """The last completed write before which none is pending.

        Clauses: IG-002.
        """
        timeline = self.state.snapshot.timeline
        pending = [one.requested for one in timeline.instants if not one.is_completed and one.action != ACTION]
        done = [one.requested for one in timeline.completed_data()]
        return max((one for one in done if not pending or one < min(pending)), default=_NOTHING_YET)

    def _put(self, instant: str, step: TimelineState, content: bytes) -> None:
        name = TimelineFileName(instant, ACTION, step)
        self.effects.create_instant(self.state.configuration, name, content)

    def _list(self, whole: tuple[str, ...], building: tuple[str, ...] = ()) -> None:
        list_indexes(self.effects, whole, building)
        self.state = with_fresh_properties(self.state)


def _define(effects: Effects, state: WriterState, definitions: Mapping[str, IndexDefinition]) -> None:
    """Clauses: IX-001."""
    configuration = load_configuration(state.storage)
    path = write_definitions(effects, configuration.properties, definitions)
    whole, building = (indexes_of(configuration.properties, key) for key in (PARTITIONS_KEY, BUILDING_KEY))
    list_indexes(effects, whole, building, definitions_path=path)


def _refused(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "IX-002", message)
