"""Rules of table services, broken."""

from dataclasses import replace
from typing import Any

from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    CompactionOperation,
    IndexPlan,
    ReplacePlan,
    SavepointMetadata,
    State,
)
from hudi_model.configuration import property_names
from hudi_model.effects import CreateInstant, DeleteDataFile, Effects
from hudi_model.files import DataBlock, FileGroup, FileSlice, GroupId
from hudi_model.metadata import BUILT
from hudi_model.services import plans
from hudi_model.slicing import file_groups, group_of
from hudi_model.staging import Staged
from hudi_model.tables import OpenTable, Table, View, open_table, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata, completed_data, completion, completion_time

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "plans-order-logs",
    "CP-005",
    "The logs of a slice are merged in the order in which a plan names them.",
    "services.plans.planned_slice",
)
def _plans_order_logs(original: Function) -> Function:
    def in_order_of_the_plan(view: View, operation: CompactionOperation) -> FileSlice:
        found: FileSlice = original(view, operation)
        logs = {one.name: one for one in found.log_files}
        return replace(found, log_files=tuple(logs[name] for name in operation.log_files))

    return in_order_of_the_plan


@mutant(
    "compaction-reads-logs-only",
    "CP-004",
    "A compaction writes the rows of the logs and forgets the base file.",
    "services.compaction.compacted",
)
def _compaction_reads_logs_only(original: Function) -> Function:
    def without_base(view: View, found: FileSlice, requested: InstantTime) -> Staged:
        staged: Staged = original(view, replace(found, base_file=None), requested)
        return staged

    return without_base


@mutant(
    "plan-skips-a-log",
    "CP-005 LC-003",
    "A plan leaves out a log in the middle of a slice.",
    "services.plans.operation_on",
)
def _plan_skips_a_log(original: Function) -> Function:
    def skipping(found: FileSlice) -> CompactionOperation:
        operation: CompactionOperation = original(found)
        middle = len(operation.log_files) // 2
        return replace(operation, log_files=operation.log_files[:middle] + operation.log_files[middle + 1 :])

    return skipping


@mutant(
    "v6-compaction-beside-writers",
    "CP-009",
    "A version 6 compaction is planned while an earlier write is inflight.",
    "services.compaction.waits_for_writers",
)
def _v6_compaction_beside_writers(_: Function) -> Function:
    return lambda _view: False


@mutant("any-trigger-is-enough", "CP-008", "A compaction is due by commits or by time.", "services.compaction.is_due")
def _any_trigger_is_enough(original: Function) -> Function:
    def by_either(view: View, requested: InstantTime, settings: plans.Settings) -> bool:
        return any(original(view, requested, given) for given in (without_trigger(settings), settings))

    return by_either


@mutant(
    "time-triggers-count-commits",
    "CP-008",
    "Triggers go by the number of commits.",
    "services.compaction.is_due",
)
def _time_triggers_count_commits(original: Function) -> Function:
    def by_number(view: View, requested: InstantTime, settings: plans.Settings) -> bool:
        return bool(original(view, requested, without_trigger(settings)))

    return by_number


@mutant("compactions-are-always-due", "CP-008", "A compaction is due after every write.", "services.compaction.is_due")
def _compactions_are_always_due(_: Function) -> Function:
    return lambda *_: True


@mutant("clusterings-are-always-due", "CL-008", "A clustering is due after every write.", "services.clustering.is_due")
def _clusterings_are_always_due(_: Function) -> Function:
    return lambda *_: True


@mutant("archival-keeps-one-more", "AR-003", "One write more stays active.", "services.archival.writes_to_keep")
def _archival_keeps_one_more(original: Function) -> Function:
    return lambda *given: tuple(number + 1 for number in original(*given))


def without_trigger(settings: plans.Settings) -> dict[str, str]:
    """Settings by which the number of commits decides."""
    return {key: value for key, value in settings.items() if "trigger" not in key}


@mutant("strategies-leave-nothing-out", "CP-013", "A plan takes every slice with logs.", "services.compaction.chosen")
def _strategies_leave_nothing_out(_: Function) -> Function:
    return lambda _, slices, __: slices


@mutant(
    "every-partition-is-clustered",
    "CL-001",
    "A clustering plan takes the small slices of every partition.",
    "services.clustering.wanted_partitions",
)
def _every_partition_is_clustered(_: Function) -> Function:
    return lambda partitions, _, __: tuple(sorted(partitions))


@mutant(
    "log-compaction-over-a-gap",
    "LC-003",
    "A log compaction is planned though a pending write may still put a block between those planned.",
    "services.log_compaction.may_get_a_gap",
)
def _log_compaction_over_a_gap(_: Function) -> Function:
    return lambda _view, _found: False


@mutant(
    "log-compaction-waits-for-writers",
    "LC-003",
    "No log compaction is planned while any write is pending.",
    "services.log_compaction.may_get_a_gap",
)
def _log_compaction_waits_for_writers(_: Function) -> Function:
    return lambda view, _found: any(one.state < State.COMPLETED for one in view.timeline.instants)


@mutant(
    "log-compaction-of-nothing",
    "LC-008",
    "A log compaction takes a slice with enough logs though no block of them counts.",
    "services.log_compaction.holds_enough",
)
def _log_compaction_of_nothing(original: Function) -> Function:
    def by_files(view: View, found: FileSlice, enough: int) -> bool:
        return len(found.log_files) >= enough or bool(original(view, found, enough))

    return by_files


@mutant(
    "plans-share-groups",
    "CP-003 LC-002 CL-002",
    "A plan takes file groups that another plan holds.",
    "services.plans.may_run_beside",
)
def _plans_share_groups(_: Function) -> Function:
    return lambda _service, _group, _pending: True


@mutant(
    "retry-keeps-what-failed",
    "CP-010 LC-005",
    "A new attempt leaves the log file of the one that failed where it is, and writes another.",
    "services.log_compaction.new_log",
)
def _retry_keeps_what_failed(original: Function) -> Function:
    def one_more(view: View, found: FileSlice, requested: InstantTime, blocks: Any) -> Any:
        unmarked = replace(view.table, state=replace(view.table.state, markers=frozenset()))
        return original(replace(view, table=unmarked), found, requested, blocks)

    return one_more


@mutant(
    "retried-service-leaves-its-files",
    "MK-003 CL-006",
    "A new attempt at a service leaves the base files of the one that failed where they are.",
    "staging.unplacing",
)
def _retried_service_leaves_its_files(_: Function) -> Function:
    return lambda _table, _requested: ()


@mutant(
    "log-compaction-drops-deletes",
    "LC-004",
    "A log compaction keeps rows and no tombstones.",
    "services.log_compaction.new_log",
)
def _log_compaction_drops_deletes(original: Function) -> Function:
    def rows_only(view: View, found: FileSlice, requested: InstantTime, blocks: Any) -> Any:
        instants = tuple(one for block in blocks for one in block.compacted_instants)
        rows = tuple(one for one in blocks if isinstance(one, DataBlock))
        return original(view, found, requested, rows or (DataBlock(requested, (), compacted_instants=instants),))

    return rows_only


@mutant(
    "log-compaction-rewrites-commit-time",
    "LC-007",
    "Rows of a log compaction say that it wrote them.",
    "services.log_compaction.new_log",
)
def _log_compaction_rewrites_commit_time(original: Function) -> Function:
    def stamped(view: View, found: FileSlice, requested: InstantTime, blocks: Any) -> Any:
        def block_of(block: Any) -> Any:
            if not isinstance(block, DataBlock) or not isinstance(block.records, tuple):
                return block
            rows = (replace(one, values={**one.values, "_hoodie_commit_time": requested}) for one in block.records)
            return replace(block, records=tuple(rows))

        return original(view, found, requested, tuple(block_of(one) for one in blocks))

    return stamped


@mutant(
    "clustering-reads-base-files-only",
    "CL-004",
    "Clustering forgets what the logs of a slice change.",
    "services.clustering.clustered",
)
def _clustering_reads_base_files_only(original: Function) -> Function:
    def bare(view: View, plan: ReplacePlan, place: int, requested: InstantTime) -> Any:
        groups = tuple(
            replace(group, slices=tuple(replace(one, log_files=()) for one in group.slices)) for group in plan.groups
        )
        return original(view, replace(plan, groups=groups), place, requested)

    return bare


@mutant(
    "clustering-unsorted",
    "CL-009",
    "Clustering leaves rows in the order in which it read them.",
    "services.clustering.clustered",
)
def _clustering_unsorted(original: Function) -> Function:
    def unsorted(view: View, plan: ReplacePlan, place: int, requested: InstantTime) -> Any:
        return original(view, replace(plan, sort_columns=()), place, requested)

    return unsorted


@mutant(
    "clustering-replaces-nothing",
    "CL-006",
    "The groups that clustering read stay in the table.",
    "services.plans.carry_out",
)
def _clustering_replaces_nothing(original: Function) -> Function:
    def added(view: View, action: Any, requested: Any, completed: Any, staged: Any, _replaced: Any = None) -> Any:
        return original(view, action, requested, completed, staged)

    return added


@mutant(
    "clustering-over-updates",
    "CL-005",
    "Clustering replaces groups that were written since it was planned.",
    "services.clustering.refuse_updated",
)
def _clustering_over_updates(_: Function) -> Function:
    return lambda _table, _plan, _readings: None


@mutant(
    "clean-takes-every-old-slice",
    "CN-002 CN-004",
    "The newest slice from before the retained instants goes too.",
    "services.cleaning.old_slices",
)
def _clean_takes_every_old_slice(original: Function) -> Function:
    def every(group: FileGroup, earliest: Any, versions: Any, gone: frozenset[GroupId]) -> tuple[FileSlice, ...]:
        if versions or group_of(group) in gone:
            found: tuple[FileSlice, ...] = original(group, earliest, versions, gone)
            return found
        return tuple(one for one in group.slices[:-1] if one.base_instant < (earliest or ""))

    return every


@mutant(
    "clean-takes-the-newest-slice",
    "CN-001",
    "Old slices go even where nothing newer is there.",
    "services.cleaning.old_slices",
)
def _clean_takes_the_newest_slice(_: Function) -> Function:
    return lambda group, earliest, _versions, _gone: tuple(
        one for one in group.slices if earliest is None or one.base_instant < earliest
    )


@mutant(
    "clean-takes-replaced-groups-at-once",
    "CN-007",
    "The files of replaced groups go whatever instants are retained.",
    "services.cleaning.replaced_before",
)
def _clean_takes_replaced_groups_at_once(_: Function) -> Function:
    def replaced(view: View, _earliest: InstantTime | None) -> frozenset[GroupId]:
        return frozenset(group for one in visible_commits(view) for group in commit_metadata(one).replaced)

    return replaced


@mutant(
    "clean-ignores-savepoints",
    "CN-008",
    "Files that a savepoint keeps are removed.",
    "services.cleaning.needed_files",
)
def _clean_ignores_savepoints(original: Function) -> Function:
    def unsaved(view: View) -> Any:
        contents = (one.content for one in view.timeline.entries if one.state is State.COMPLETED)
        saved = frozenset().union(*(one.files for one in contents if isinstance(one, SavepointMetadata)))
        return original(view) - saved

    return unsaved


@mutant(
    "clean-ignores-pending-plans",
    "CN-005",
    "Files that a pending plan reads are removed.",
    "services.cleaning.needed_files",
)
def _clean_ignores_pending_plans(original: Function) -> Function:
    def unplanned(view: View) -> Any:
        planned = {name for _, one in plans.pending_slices(view.timeline) for name in (one.base_file, *one.log_files)}
        return frozenset(file for file in original(view) if file[1] not in planned)

    return unplanned


@mutant(
    "cleaner-slices-logs-by-name",
    "CN-005 RD-005",
    "The cleaner counts a log to the slice that was open when its write began.",
    "services.cleaning.files_of",
)
def _cleaner_slices_logs_by_name(original: Function) -> Function:
    def by_name(view: View, found: FileSlice) -> Any:
        group = next(one for one in file_groups(view) if group_of(one) == (found.partition, found.file_id))
        logs = [log for one in group.slices for log in one.log_files]
        starts = [one.base_instant for one in group.slices]
        older = (one for one in logs if max(start for start in starts if start <= one.instant) == found.base_instant)
        return original(view, found) | {(found.partition, one.name) for one in older}

    return by_name


@mutant(
    "retried-clean-forgets-the-first-try",
    "CN-012",
    "A clean that is tried again reports only the files it still found.",
    "services.cleaning.execute",
)
def _retried_clean_forgets_the_first_try(original: Function) -> Function:
    def clean(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        here = {(one.partition, one.name) for one in table.base_files} | {
            (one.partition, one.name) for one in table.log_files
        }

        def effect_of(effect: Any) -> Any:
            if isinstance(effect, CreateInstant) and isinstance(effect.entry.content, CleanMetadata):
                content = effect.entry.content
                left = replace(content, deleted_files=content.deleted_files & here)
                return CreateInstant(replace(effect.entry, content=left))
            return effect

        return tuple(effect_of(one) for one in original(table, requested, completed))

    return clean


@mutant(
    "partition-goes-with-what-came-since",
    "CN-011",
    "A partition that held nothing when the clean was planned goes with all that is in it.",
    "services.cleaning.execute",
)
def _partition_goes_with_what_came_since(original: Function) -> Function:
    def whole(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        effects: Effects = original(table, requested, completed)
        partitions = plans.plan_of(table, requested, CleanPlan).partitions
        files = [(one.partition, one.name) for one in table.base_files]
        files += [(one.partition, one.name) for one in table.log_files]
        return (*effects[:1], *(DeleteDataFile(*one) for one in files if one[0] in partitions), *effects[1:])

    return whole


@mutant(
    "empty-partitions-are-cleaned-alone",
    "CN-011",
    "A clean is planned where no file is to go and a partition has none.",
    "services.cleaning.schedule",
)
def _empty_partitions_are_cleaned_alone(original: Function) -> Function:
    def eager(table: Table, requested: InstantTime, settings: plans.Settings) -> Effects:
        found: Effects = original(table, requested, settings)
        used = {one.partition for one in table.base_files} | {one.partition for one in table.log_files}
        empty = frozenset(table.partitions - used - {""})
        plan = CleanPlan(None, frozenset(), "KEEP_LATEST_COMMITS", empty)
        return found or (plans.request(table, requested, Action.CLEAN, plan) if empty else ())

    return eager


@mutant(
    "live-partitions-expire",
    "CN-013 CN-014",
    "A partition expires however young its slices are.",
    "services.time_to_live.expired_partitions",
)
def _live_partitions_expire(_: Function) -> Function:
    def every(table: Table, _now: InstantTime, _settings: Any) -> tuple[str, ...]:
        return tuple(sorted({one.partition for one in open_table(table).state.base_files}))

    return every


@mutant(
    "plan-takes-one-slice",
    "CP-001",
    "A plan takes the first slice that is free and no other.",
    "services.plans.free_slices",
)
def _plan_takes_one_slice(original: Function) -> Function:
    def first(view: View, service: Any) -> tuple[FileSlice, ...]:
        found: tuple[FileSlice, ...] = original(view, service)
        return found[:1]

    return first


@mutant(
    "index-used-before-it-is-whole",
    "IG-005",
    "A partition counts as built while it is being built.",
    "services.indexing.execute",
)
def _index_used_before_it_is_whole(original: Function) -> Function:
    def early(*given: Any) -> Effects:
        effects: Effects = original(*given)
        return effects[:2] + effects[3:4] + effects[2:3] + effects[4:]

    return early


@mutant(
    "completed-indexings-wait",
    "IG-005",
    "Where readers may use the indexes of an indexing already, nobody completes it.",
    "services.indexing.execute",
)
def _completed_indexings_wait(original: Function) -> Function:
    def unless_whole(table: Table, requested: InstantTime, completed: InstantTime, build: Any = None) -> Effects:
        properties = open_table(table).configuration.properties
        planned = plans.plan_of(table, requested, IndexPlan)
        if {*planned.partitions} <= {*property_names(properties, BUILT)}:
            return ()
        effects: Effects = original(table, requested, completed, build)
        return effects

    return unless_whole


@mutant(
    "index-stops-at-its-plan",
    "IG-004",
    "What completes after the plan is not taken in.",
    "services.indexing.last_without_gap",
)
def _index_stops_at_its_plan(original: Function) -> Function:
    def as_planned(opened: OpenTable) -> Any:
        planned = [one.content.upto for one in opened.state.timeline if isinstance(one.content, IndexPlan)]
        return planned[0] if planned else original(opened)

    return as_planned


@mutant(
    "index-plan-skips-a-gap",
    "IG-002",
    "An index is planned up to the last completed write, whatever is pending before it.",
    "services.indexing.last_without_gap",
)
def _index_plan_skips_a_gap(_: Function) -> Function:
    def last(opened: OpenTable) -> Any:
        done = (one.requested for one in completed_data(opened.timeline))
        return max(done, default=None)

    return last


@mutant(
    "log-compaction-fills-partial-rows",
    "LC-004",
    "Rows that hold only what they change are written as if they held every column.",
    "services.log_compaction.new_log",
)
def _log_compaction_fills_partial_rows(original: Function) -> Function:
    def filled(view: View, found: FileSlice, requested: InstantTime, blocks: Any) -> Any:
        whole = (replace(one, partial=False) if isinstance(one, DataBlock) else one for one in blocks)
        return original(view, found, requested, tuple(whole))

    return filled


@mutant(
    "new-slice-revives-a-replaced-group",
    "CP-014 RD-003",
    "A replaced file group is read again once a later action has written a base file of it.",
    "tables.replaced_groups",
)
def _new_slice_revives_a_replaced_group(original: Function) -> Function:
    def but_revived(view: View) -> frozenset[GroupId]:
        found: frozenset[GroupId] = original(view)
        replacing = [one for one in visible_commits(view) if commit_metadata(one).replaced]
        last = max((completion(one) for one in replacing), default="")
        bases = view.table.state.base_files
        return found - {group_of(one) for one in bases if completion_time(view.timeline, one.instant) > last}

    return but_revived
