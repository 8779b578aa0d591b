"""Indexing: a partition of the metadata table is built beside running writers, and used once it is whole (RFC-45)."""

from collections.abc import Callable
from typing import TypeAlias

from hudi_model.actions import Action, State
from hudi_model.configuration import property_names
from hudi_model.contents import IndexPlan
from hudi_model.effects import CommitMetadataTable, Effects, PutProperties
from hudi_model.rejection import Unsupported
from hudi_model.services import plans
from hudi_model.settings import switch
from hudi_model.tables import OpenTable, Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS

INDEXES = {
    "hoodie.metadata.index.bloom.filter.enable": "bloom_filters",
    "hoodie.metadata.index.column.stats.enable": "column_stats",
    "hoodie.metadata.index.partition.stats.enable": "partition_stats",
    "hoodie.metadata.record.index.enable": "record_index",
}
Build: TypeAlias = Callable[[Table, IndexPlan], Table]
"""How partitions come about: from the table, up to the instant of the plan."""
BUILT, BUILDING = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"


def schedule(table: Table, requested: InstantTime, settings: plans.Settings) -> Effects:
    """A plan of the indexes that are wanted and neither built nor being built, up to the last write without a gap.

    Clauses: IG-001, IG-002.
    """
    opened = open_table(table)
    present = {one for key in (BUILT, BUILDING) for one in property_names(opened.configuration.properties, key)}
    wanted = tuple(name for key, name in sorted(INDEXES.items()) if switch(settings, key) and name not in present)
    upto = last_without_gap(opened)
    return plans.request(table, requested, Action.INDEXING, IndexPlan(wanted, upto)) if wanted and upto else ()


def last_without_gap(opened: OpenTable) -> InstantTime | None:
    """The last completed write before which none is pending.

    Clauses: IG-002.
    """
    writes = [one for one in opened.timeline.instants if one.action in WRITE_ACTIONS]
    pending = min((one.requested for one in writes if one.state < State.COMPLETED), default=None)
    done = (one.requested for one in writes if one.state is State.COMPLETED)
    return max((one for one in done if pending is None or one < pending), default=None)


def unbuilt(_table: Table, _plan: IndexPlan) -> Table:
    """The metadata table with the plan's partitions.

    Raises: unsupported `indexing`.
    """
    raise Unsupported("indexing")


def execute(table: Table, requested: InstantTime, completed: InstantTime, build: Build = unbuilt) -> Effects:
    """Writers log to the partitions from now on; they are built; then readers may use them.

    Raises: INSTANT_NOT_FOUND; unsupported `indexing`.

    Clauses: IG-003, IG-004, IG-005.
    """
    if plans.is_completed(table, requested):
        return ()
    plan, properties = plans.plan_of(table, requested, IndexPlan), open_table(table).configuration.properties
    built, building = ({*property_names(properties, key)} for key in (BUILT, BUILDING))
    started = {**properties, BUILDING: ",".join(sorted(building.union(plan.partitions)))}
    left = ",".join(sorted(building.difference(plan.partitions)))
    ended = {**properties, BUILDING: left, BUILT: ",".join(sorted(built.union(plan.partitions)))}
    caught_up = IndexPlan(plan.partitions, last_without_gap(open_table(table)) or plan.upto)
    return (
        plans.entry(table, requested, Action.INDEXING, State.INFLIGHT, None, None),
        PutProperties(started),
        CommitMetadataTable(build(table, caught_up)),
        PutProperties(ended),
        plans.entry(table, requested, Action.INDEXING, State.COMPLETED, caught_up, completed),
    )
