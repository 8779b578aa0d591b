"""Indexing: a partition of the metadata table is built beside running writers, and used once it is whole (RFC-45)."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from hudi_model.actions import Action, IndexDefinition, IndexPlan, State
from hudi_model.configuration import property_names
from hudi_model.effects import CommitMetadataTable, Effects, PutProperties, entry, perform
from hudi_model.metadata import BUILDING, BUILT, FILES, valid, wanted, with_indexes
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import compaction, plans
from hudi_model.tables import OpenTable, Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS

__all__ = ["BUILT", "compact", "execute", "last_without_gap", "schedule", "whole"]
Build: TypeAlias = Callable[[Table, IndexPlan], Table]
"""How partitions come about: from the table, as the plan has them."""


def schedule(
    table: Table, requested: InstantTime, settings: plans.Settings, definitions: tuple[IndexDefinition, ...] = ()
) -> Effects:
    """A plan of the indexes that are wanted and neither built nor being built, up to the last write without a gap.

    Raises: CONFIG_INVALID for a secondary index of a table without a record index.

    Clauses: IG-001, IG-002, IX-001, IX-032.
    """
    opened = open_table(table)
    present = {one for key in (BUILT, BUILDING) for one in property_names(opened.configuration.properties, key)}
    indexes = (*wanted(settings), *definitions)
    missing, upto = tuple(one.name for one in indexes if one.name not in present), last_without_gap(opened)
    if "secondary_index" in {one.kind for one in definitions} and "record_index" not in {*present, *missing}:
        raise Rejection(Reason.CONFIG_INVALID, "IX-032", definitions[0].name, "the table has no record index")
    plan = IndexPlan(missing, upto or InstantTime(""), definitions)
    return plans.request(table, requested, Action.INDEXING, plan) if missing and upto else ()


def last_without_gap(opened: OpenTable) -> InstantTime | None:
    """The last completed write before which none is pending.

    Clauses: IG-002.
    """
    writes = [one for one in opened.timeline.instants if one.action in WRITE_ACTIONS]
    pending = min((one.requested for one in writes if one.state < State.COMPLETED), default=None)
    done = (one.requested for one in writes if one.state is State.COMPLETED)
    return max((one for one in done if pending is None or one < pending), default=None)


def whole(table: Table, plan: IndexPlan) -> Table:
    """The metadata table with the plan's partitions, of all that has completed by now.

    Clauses: IG-004, MT-009.
    """
    defined = {one.name: one for one in plan.definitions}
    files = () if table.metadata else (FILES,)
    return with_indexes(table, (*files, *(defined.get(name, IndexDefinition(name, name)) for name in plan.partitions)))


def execute(table: Table, requested: InstantTime, completed: InstantTime, build: Build | None = None) -> Effects:
    """Writers log to the partitions from now on; they are built; then readers may use them.

    Raises: INSTANT_NOT_FOUND.

    Clauses: IG-003, IG-004, IG-005.
    """
    if plans.is_completed(table, requested):
        return ()
    plan, properties = plans.plan_of(table, requested, IndexPlan), open_table(table).configuration.properties
    built, building = ({*property_names(properties, key)} for key in (BUILT, BUILDING))
    started = {**properties, BUILDING: ",".join(sorted(building.union(plan.partitions)))}
    left = ",".join(sorted(building.difference(plan.partitions)))
    ended = {**properties, BUILDING: left, BUILT: ",".join(sorted(built.union(plan.partitions, [FILES.name])))}
    caught_up = replace(plan, upto=last_without_gap(open_table(table)) or plan.upto)
    return (
        entry(table, requested, Action.INDEXING, State.INFLIGHT, None, None),
        PutProperties(started),
        CommitMetadataTable((build or whole)(table, caught_up)),
        PutProperties(ended),
        entry(table, requested, Action.INDEXING, State.COMPLETED, caught_up, completed),
    )


def compact(table: Table, requested: InstantTime, completed: InstantTime, settings: plans.Settings) -> Effects:
    """The metadata table is compacted as any other is, without what has not completed on the data timeline.

    Clauses: MT-015.
    """
    metadata = valid(table)
    planned = perform(metadata, compaction.schedule(metadata, requested, settings))
    if table.metadata is None or planned == metadata:
        return ()
    return (CommitMetadataTable(perform(planned, compaction.execute(planned, requested, completed))),)
