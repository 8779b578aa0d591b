"""Log compaction: the blocks of a file slice's logs become one log file that stands in their place (RFC-48)."""

from dataclasses import replace

from hudi_model.actions import Action, CompactionPlan, State, WriteStat
from hudi_model.blocks import Change, effective_blocks
from hudi_model.effects import FIRST_ATTEMPT, Effects, log_file_name
from hudi_model.files import Block, DataBlock, DeleteBlock, FileSlice, LogFile, Record, Schema
from hudi_model.merge_modes import table_rule
from hudi_model.merging import fold
from hudi_model.reading import block_counts, log_versions
from hudi_model.requests import number
from hudi_model.schemas import table_schema
from hudi_model.services import plans
from hudi_model.slicing import group_of, path_of
from hudi_model.staging import Staged, in_file, native_logs_of, tombstone
from hudi_model.tables import RELEASED, Readings, Table, View
from hudi_model.time import InstantTime


def schedule(table: Table, requested: InstantTime, settings: plans.Settings, readings: Readings = RELEASED) -> Effects:
    """A plan of every slice with enough logs or blocks that nobody else rewrites and nobody may still write between.

    Clauses: LC-001, LC-002, LC-003, LC-008.
    """
    view = plans.view_before(table, requested, readings)
    enough = number(settings, "hoodie.log.compaction.blocks.threshold")
    whole = (one for one in plans.free_slices(view, Action.LOG_COMPACTION) if not may_get_a_gap(view, one))
    found = tuple(plans.operation_on(one) for one in whole if holds_enough(view, one, enough))
    return plans.request(table, requested, Action.LOG_COMPACTION, CompactionPlan(found)) if found else ()


def may_get_a_gap(view: View, found: FileSlice) -> bool:
    """Whether a pending write may put a block before the newest log; [Removed in v8] or take its own back.

    Clauses: LC-003.
    """
    pending = (one for one in view.timeline.instants if one.state < State.COMPLETED)
    writing = {one.requested for one in pending if one.action is Action.DELTA_COMMIT}
    if view.configuration.rules.logs_name_their_slice:
        return bool(effective_blocks(found.log_files, writing.__contains__))
    return bool(writing) and min(writing) < max((log.instant for log in found.log_files), default="")


def holds_enough(view: View, found: FileSlice, enough: int) -> bool:
    """Whether a slice has so many logs or blocks, of which one at least counts.

    Clauses: LC-008.
    """
    counting = len(blocks_of(view, found))
    return counting > 0 and max(len(found.log_files), counting) >= enough


def blocks_of(view: View, found: FileSlice) -> tuple[Change, ...]:
    """The blocks of a slice's logs that count, in merge order."""
    return effective_blocks(found.log_files, lambda instant: block_counts(view, instant))


def execute(table: Table, requested: InstantTime, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
    """The planned blocks as one log file for each slice, and the deltacommit that makes them count.

    Raises: INSTANT_NOT_FOUND, LOG_FILE_MISSING, and every reason of the files read.

    Clauses: LC-001, LC-006, SL-007, NL-010.
    """
    if plans.is_completed(table, requested):
        return ()
    view, plan = plans.view_before(table, requested, readings), plans.plan_of(table, requested, CompactionPlan)
    plans.refuse_foreign(plans.files_of_slices(plan.operations))
    whole = (log_compacted(view, plans.planned_slice(view, one), requested) for one in plan.operations)
    staged = (file for one in whole for file in native_logs_of(view.configuration, one))
    return plans.carry_out(view, Action.LOG_COMPACTION, requested, completed, staged)


def log_compacted(view: View, found: FileSlice, requested: InstantTime) -> Staged:
    """A slice's logs as one: the versions that win among them, deletes included, and the instants it stands for.

    Clauses: LC-003, LC-004, LC-007, LF-019.
    """
    rule, schema = table_rule(view), table_schema(view)
    instants = tuple(reversed(dict.fromkeys(one.instant for one in blocks_of(view, found))))
    winners = fold(rule, log_versions(view, found, schema, rule)).values()
    rows: dict[Schema, list[Record]] = {}
    for one in winners:
        if one.record and not one.is_delete:
            own = Schema(tuple(field for field in schema.fields if field.name in one.record.values))
            rows.setdefault(own if one.partial else schema, []).append(in_file(one.record, found.file_id))
    gone = tuple(tombstone(one, found.partition, rule, schema) for one in winners if one.is_delete)
    data = (DataBlock(requested, tuple(many), own != schema, instants, own) for own, many in rows.items())
    file = new_log(view, found, requested, (*data, *((DeleteBlock(requested, gone, instants),) if gone else ())))
    stat = WriteStat(found.partition, found.file_id, path_of(file), found.base_instant, deletes=len(gone))
    return Staged(file, replace(stat, writes=sum(map(len, rows.values()))), "APPEND")


def new_log(view: View, found: FileSlice, requested: InstantTime, blocks: tuple[Block, ...]) -> LogFile:
    """The log file of a slice's compacted blocks. [Modified in v8] It bears the instant of the log compaction.

    Clauses: LC-005, SL-005.
    """
    by_slice = view.configuration.rules.logs_name_their_slice
    named, group = found.base_instant if by_slice else requested, (found.partition, found.file_id)
    token = f"0-{int(requested[-9:])}-0" if by_slice else FIRST_ATTEMPT
    left = {one.name for one in view.table.state.markers if one.instant == requested}
    logs = (one for one in view.table.state.log_files if group_of(one) == group and one.name not in left)
    version = max((one.version for one in logs if one.instant == named), default=0) + 1
    name = log_file_name(found.file_id, named, version, token)
    return LogFile(*group, named, version, token, cdc=False, name=name, blocks=blocks)
