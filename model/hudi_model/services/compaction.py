"""Compaction: the logs of a file slice become part of a new base file, planned first and executed later."""

from hudi_model.actions import Action, CompactionPlan, State, WriteStat
from hudi_model.effects import FIRST_ATTEMPT, Effects, base_file_name
from hudi_model.files import BaseFile, FileSlice
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import number
from hudi_model.schemas import table_schema
from hudi_model.services import plans
from hudi_model.slicing import path_of
from hudi_model.staging import Staged, base_extension, in_file
from hudi_model.tables import RELEASED, Readings, Table, View, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import DATA_ACTIONS, completion


def schedule(table: Table, requested: InstantTime, settings: plans.Settings, readings: Readings = RELEASED) -> Effects:
    """A plan of every slice with logs that nobody else rewrites; none before enough deltacommits have completed.

    Raises: CONFIG_INVALID for a copy-on-write table.

    Clauses: CP-001, CP-002, CP-003, CP-005, CP-008, CP-009.
    """
    view = plans.view_before(table, requested, readings)
    if not view.configuration.merge_on_read:
        raise Rejection(Reason.CONFIG_INVALID, "CP-001", "hoodie.table.type", "only merge-on-read tables have logs")
    if commits_since_compaction(view) < number(settings, "hoodie.compact.inline.max.delta.commits"):
        return ()
    found = tuple(plans.operation_on(one) for one in plans.free_slices(view, Action.COMPACTION) if one.log_files)
    if not found or waits_for_writers(view):
        return ()
    return plans.request(table, requested, Action.COMPACTION, CompactionPlan(found))


def commits_since_compaction(view: View) -> int:
    """How many deltacommits completed after the last compaction was planned.

    Clauses: CP-008.
    """
    commits = visible_commits(view)
    last = max((one.requested for one in commits if one.action is Action.COMMIT), default="")
    return sum(one.action is Action.DELTA_COMMIT and completion(one) > last for one in commits)


def waits_for_writers(view: View) -> bool:
    """Whether a write that began earlier must end first. [Modified in v8] Its logs find their slice by themselves.

    Clauses: CP-009.
    """
    writing = any(one.state < State.COMPLETED and one.action in DATA_ACTIONS for one in view.timeline.instants)
    return writing and view.configuration.rules.logs_name_their_slice


def execute(table: Table, requested: InstantTime, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
    """The planned slices as base files, and the commit that makes them count.

    Raises: INSTANT_NOT_FOUND, BASE_FILE_MISSING, LOG_FILE_MISSING, and every reason of the files read.

    Clauses: CP-002, CP-005, CP-006, CP-010, SL-007.
    """
    if plans.is_completed(table, requested):
        return ()
    view, plan = plans.view_before(table, requested, readings), plans.plan_of(table, requested, CompactionPlan)
    plans.refuse_foreign(plans.files_of_slices(plan.operations))
    staged = (compacted(view, plans.planned_slice(view, one), requested) for one in plan.operations)
    return plans.carry_out(view, Action.COMPACTION, requested, completed, staged)


def compacted(view: View, found: FileSlice, requested: InstantTime) -> Staged:
    """A slice as one base file: the rows that a snapshot reads, as they are; a file also where no row is left.

    Clauses: CP-004, CP-007, MG-012.
    """
    extension = base_extension(view.configuration)
    name = base_file_name(found.file_id, FIRST_ATTEMPT, requested, extension)
    rows = tuple(in_file(row, name) for row in read_slice(view, found, table_schema(view)))
    file = BaseFile(found.partition, found.file_id, FIRST_ATTEMPT, requested, extension, name, rows)
    stat = WriteStat(found.partition, found.file_id, path_of(file), found.base_instant, len(rows))
    return Staged(file, stat, "MERGE" if found.base_file else "CREATE")
