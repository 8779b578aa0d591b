"""Which indexes an indexing action builds, and from which state of the table on.

Clauses: IG-001, IG-002.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hudi_adapter.reasons import Reason
from hudi_format.metadata.partitions import Partition
from hudi_format.timeline.plans import IndexPartition, IndexPlan

from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.indexing.keeping import keeping_of
from hudi_spark.indexing.kinds import KINDS, kind_of, wanted_indexes
from hudi_spark.indexing.planned import planned_indexes
from hudi_spark.indexing.table_state import BUILDING_KEY, indexes_of
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import WRITE_ACTIONS, Timeline

_NAMED: Final = ("partitions", "indexes")


def plan_indexing(work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> IndexPlan | None:
    """The indexes that are asked for, by name or by options, and are neither there nor on their way.

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
    names = [one for one in _asked_for(work, snapshot, asked) if one not in taken]
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


def _asked_for(work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Names in the order in which indexes begin; some need others."""
    given = next((asked[name] for name in _NAMED if asked.get(name)), None)
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
