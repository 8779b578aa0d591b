"""The indexing service: an index of an existing table, built beside its writers.

under the lock   marked as being built, its groups opened: whoever completes from here on writes to it
without          what had completed by then goes into base files of the same groups
under the lock   nobody passed it by: it is whole; else it is built again, while nobody completes

The groups are opened by a completed deltacommit of their own, so that no writer takes it for one that lost its writer;
the base files have its instant, and nobody reads them before the index is whole.

Clauses: IG-001, IG-002, IG-005, IG-007.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hudi_format.errors import FormatError
from hudi_format.metadata.partitions import Partition, is_expression_index
from hudi_format.names import TimelineFileName
from hudi_format.timeline.plans import (
    IndexCommit,
    IndexPartition,
    IndexPlan,
    serialise_index_commit,
    serialise_index_plan,
)

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.metadata import (
    BUILDING_KEY,
    INDEXING,
    KINDS,
    MetadataLayout,
    NewIndex,
    Opening,
    delete_index,
    first_instant,
    index_plan,
    indexes_of,
    keeping_of,
    kind_of,
    list_indexes,
    metadata_groups,
    planned_indexes,
    read_definitions,
    refuse_unfit,
    wanted_indexes,
    write_definitions,
)
from hudi_spark.services.service import ServicePlan
from hudi_spark.table_state import (
    DATA_ACTIONS,
    METADATA_FOLDER,
    WRITE_ACTIONS,
    Instant,
    Snapshot,
    Timeline,
    load_configuration,
    load_table,
)
from hudi_spark.write import Outcome, TableWork, state_of_table

_NAMED: Final = ("partitions", "indexes")


def plan_indexing(work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> IndexPlan | None:
    """The indexes that are requested, by name or by options, and are neither there nor on their way.

    `asked`: under `partitions` or `indexes` the names of partitions of the metadata table, in a list or with commas
    between. None where nothing remains, or where the table has no completed write.

    Raises:
        HudiError: CONFIG_INVALID for a table without metadata table.
        UnsupportedFeature: an index of an unknown kind, or one that the table's version does not have.

    Clauses: IG-001, IG-002.

    """
    properties = snapshot.configuration.properties
    listed = indexes_of(properties)
    if Partition.FILES not in listed:
        hint = "write to it with hoodie.metadata.enable first: that makes the list of files"
        raise HudiError(Reason.CONFIG_INVALID, "IG-001", "the table has no metadata table", hint=hint)
    taken = {*listed, *indexes_of(properties, BUILDING_KEY), *planned_indexes(work.storage, snapshot.timeline)}
    names = [one for one in _requested_indexes(work, snapshot, params) if one not in taken]
    upto = last_contiguous_write(snapshot.timeline)
    if not names or upto is None:
        return None
    return IndexPlan(index_partition_infos=tuple(covered(name, upto) for name in names))


def covered(name: str, upto: str) -> IndexPartition:
    """An index, and the last write that it holds."""
    return IndexPartition(metadata_partition_path=name, index_upto_instant=upto, extra_metadata={})


def last_contiguous_write(timeline: Timeline) -> str | None:
    """The last completed write before which no write is pending.

    Clauses: IG-002.
    """
    pending = [one.requested for one in timeline.instants if not one.is_completed and one.action in WRITE_ACTIONS]
    first = min(pending, default=None)
    done = (one.requested for one in timeline.completed_data())
    return max((one for one in done if first is None or one < first), default=None)


def _requested_indexes(work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> tuple[str, ...]:
    """Names in the order in which indexes begin; some need others."""
    given = next((params[name] for name in _NAMED if params.get(name)), None)
    if given is None:
        state = state_of_table(work.storage, snapshot, work.options)
        return wanted_indexes(keeping_of(state, work.executor))
    listed = given.split(",") if isinstance(given, str) else [str(one) for one in given]
    # Apache Hudi's own names of the kinds are these in capitals.
    names = [one.strip().lower() if one.strip().isupper() else one.strip() for one in listed]
    for name in names:
        if kind_of(name) is None:
            raise UnsupportedFeature("index-kind", name)
    return _ordered(dict.fromkeys(one for one in names if one))


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: next(at for at, kind in enumerate(KINDS) if kind.holds(name))))


_HOLDER = "indexing"
_INDEXED_ACTIONS = (*DATA_ACTIONS, "clean", "rollback")


@dataclass(frozen=True, slots=True)
class _StartedIndex:
    """An index whose groups are open: what it holds of the table as it was, and the instant of its files."""

    snapshot: Snapshot
    new: NewIndex
    opening: Opening
    instant: str


def build_index(work: TableWork, name: str) -> None:
    """The index is whole from now on; nothing where it is already.

    Raises:
        HudiError: CONFIG_INVALID for an index that the table cannot have.
        UnsupportedFeature: one that its version does not have.

    Clauses: IG-002, IG-003, IG-004, IG-005, IG-006.

    """
    with work.lock(_HOLDER):
        if name in _listed(work):
            return
        started = _begin(work, name)
    filled = _fill(started, name)
    with work.lock(_HOLDER):
        if not (filled and _is_kept_by_all(work, name, started)):
            _fill_or_raise(_begin(work, name), name)
        _list(work, (*_listed(work), name), tuple(one for one in _marked(work) if one != name))


def give_up(work: TableWork, names: tuple[str, ...]) -> None:
    """What was built of indexes that are not whole goes, and their marks.

    Clauses: IG-007.
    """
    with work.lock(_HOLDER):
        half = [one for one in names if one not in _listed(work)]
        _list(work, _listed(work), tuple(one for one in _marked(work) if one not in half))
        for name in half:
            delete_index(work.effects.inside(METADATA_FOLDER), name)


def _begin(work: TableWork, name: str) -> _StartedIndex:
    """Marked, defined, and with open groups; what an earlier attempt left goes. Under the lock.

    Clauses: IG-003, IX-001, MT-009, MT-017, MT-021.
    """
    inside = work.effects.inside(METADATA_FOLDER)
    _list(work, _listed(work), tuple(sorted({*_marked(work), name})))
    delete_index(inside, name)
    snapshot = work.snapshot()
    keeping = keeping_of(state_of_table(work.storage, snapshot, work.options), work.executor)
    refuse_unfit(keeping, name)
    kind = kind_of(name)
    assert kind is not None, name
    new = kind.begin(keeping, name)
    configuration, timeline = load_table(inside.storage)
    layout = MetadataLayout(snapshot.configuration.version)
    instant = first_instant(inside.storage, timeline, layout)
    _define(work, new)
    opening = Opening(inside, configuration, layout, work.executor)
    opening.begin(name, NewIndex(new.file_ids, replace(new.content, records=(), entries=None)), instant, work.clock)
    return _StartedIndex(snapshot, new, opening, instant)


def _fill(started: _StartedIndex, name: str) -> bool:
    """Whether all that had completed is in; not where files went meanwhile that it was to be read from."""
    try:
        _fill_or_raise(started, name)
    except (HudiError, FormatError, OSError):
        return False
    return True


def _fill_or_raise(started: _StartedIndex, name: str) -> None:
    started.opening.fill(name, started.new, started.instant)


def _is_kept_by_all(work: TableWork, name: str, started: _StartedIndex) -> bool:
    """Whether every action that completed since the groups were opened has written to the index as well.

    What goes by the statistics of other files needs those of the files that it was begun without.

    Clauses: IG-004.
    """
    since = _completed_since(work, started)
    if since and (name == Partition.PARTITION_STATS or is_expression_index(name)):
        return False
    inside = work.effects.inside(METADATA_FOLDER).storage
    _, timeline = load_table(inside)
    completed = {one.requested for one in timeline.instants if one.is_completed}
    groups = metadata_groups(inside)
    bases = [one.name.instant for (within, _), each in groups.items() if within == name for one in each.base_files]
    return (
        name in _marked(work)
        and started.instant in completed
        and since <= completed
        and set(bases) <= {started.instant}
    )


def _completed_since(work: TableWork, started: _StartedIndex) -> frozenset[str]:
    def completed_of(timeline: Timeline) -> frozenset[str]:
        return frozenset(
            one.requested for one in timeline.instants if one.is_completed and one.action in _INDEXED_ACTIONS
        )

    return completed_of(work.snapshot().timeline) - completed_of(started.snapshot.timeline)


def _listed(work: TableWork) -> tuple[str, ...]:
    return indexes_of(load_configuration(work.storage).properties)


def _marked(work: TableWork) -> tuple[str, ...]:
    return indexes_of(load_configuration(work.storage).properties, BUILDING_KEY)


def _list(work: TableWork, whole: tuple[str, ...], building: tuple[str, ...]) -> None:
    list_indexes(work.effects, whole, building)


def _define(work: TableWork, new: NewIndex) -> None:
    """Clauses: IX-001."""
    properties = load_configuration(work.storage).properties
    known = read_definitions(work.storage, properties)
    if new.definition is None or known.get(new.definition.name) == new.definition:
        return
    path = write_definitions(work.effects, properties, {**known, new.definition.name: new.definition})
    list_indexes(work.effects, _listed(work), _marked(work), definitions_path=path)


_OPERATION = "INDEX"


@dataclass(frozen=True, slots=True)
class Indexing:
    """Builds indexes of an existing table.

    Clauses: IG-001, IG-006.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """The indexes to build; None where there are all that are requested.

        Clauses: IG-001, IG-002.
        """
        plan = plan_indexing(work, snapshot, params)
        return None if plan is None else ServicePlan(INDEXING, serialise_index_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is an indexing."""
        del work
        return pending.action == INDEXING

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Build what was planned, one index after the other; each is used as soon as it is whole.

        Raises:
            HudiError: CONFIG_INVALID for an index that the table cannot have; what was built goes, the plan waits.

        Clauses: IG-003, IG-004, IG-005, IG-007.

        """
        plan = index_plan(work.storage, pending)
        if pending.state == "REQUESTED":
            with work.lock(pending.requested):
                configuration = work.snapshot().configuration
                name = TimelineFileName(pending.requested, INDEXING, "INFLIGHT")
                work.effects.create_instant(configuration, name)
        try:
            for one in plan.index_partition_infos:
                build_index(work, one.metadata_partition_path or "")
        except (HudiError, FormatError, UnsupportedFeature):
            self._take_back(work, pending, plan)
            raise
        return self._complete(work, pending, plan)

    def _complete(self, work: TableWork, pending: Instant, plan: IndexPlan) -> Outcome:
        """Clauses: IG-004, IG-005."""
        with work.lock(pending.requested) as holding:
            snapshot = work.snapshot()
            upto = last_contiguous_write(snapshot.timeline) or pending.requested
            infos = tuple(covered(one.metadata_partition_path or "", upto) for one in plan.index_partition_infos)
            timed = snapshot.configuration.has_completion_times
            completed = work.time(snapshot.timeline, pending.requested) if timed else None
            name = TimelineFileName(pending.requested, INDEXING, "COMPLETED", completed)
            content = serialise_index_commit(IndexCommit(index_partition_infos=infos))
            holding.complete(snapshot.configuration, name, content)
        return Outcome(pending.requested, completed, INDEXING, _OPERATION)

    def _take_back(self, work: TableWork, pending: Instant, plan: IndexPlan) -> None:
        """Clauses: IG-007."""
        give_up(work, tuple(one.metadata_partition_path or "" for one in plan.index_partition_infos))
        with work.lock(pending.requested):
            name = TimelineFileName(pending.requested, INDEXING, "INFLIGHT")
            work.effects.delete_instant(work.snapshot().configuration, name)
