"""Plans that wait: which file groups table services are going to rewrite, and what rollbacks undo.

Who carries a plan out deletes and replaces what it names. So a name is checked before the first effect, whoever made
the plan.

Clauses: SL-007, CL-002, CP-003, LC-002, OW-011.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from hudi_format.errors import FormatError, Reason
from hudi_format.names import is_partition_metafile, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import ClusteringPlan, CompactionPlan, RequestedReplace
from hudi_format.timeline.plans import (
    CleanerPlan,
    RollbackPlan,
    parse_compaction_plan,
    parse_requested_replace,
    parse_rollback_plan,
)

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.table_state.commits import GroupId, refuse_escape
from hudi_spark.table_state.listing import PlanGoneError, read_plan
from hudi_spark.table_state.timeline import Instant, Timeline

_METADATA_FOLDER: Final = ".hoodie"
_INSTANT: Final = re.compile("[0-9]+")


def is_partition_path(partition: str) -> bool:
    """Whether a path can be that of a partition: below the base path, or itself, and not below `.hoodie`.

    Clauses: SL-007.
    """
    folders = partition.split("/") if partition else []
    return not ({"", ".", ".."} & set(folders) or folders[:1] == [_METADATA_FOLDER] or "\0" in partition)


def is_data_file(partition: str, name: str) -> bool:
    """Whether a file of this name in a partition of this path is a base or log file of the table.

    Clauses: SL-007.
    """
    return is_partition_path(partition) and parse_data_file_name(name) is not None


def refuse_foreign(partition: str, paths: Iterable[str | None], file: str) -> None:
    """Nothing when a plan, which stands in `file`, names data files of a partition; of paths the last part counts.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    if not is_partition_path(partition):
        raise _foreign(f"the plan names {partition[:200]!r}, which is no partition of the table", file)
    for path in paths:
        name = (path or "").rpartition("/")[2]
        if path and not is_data_file(partition, name):
            raise _foreign(f"the plan names {f'{partition}/{name}'[:200]!r}, which is no data file", file)


def refuse_unknown_partitions(storage: Storage, planned: Mapping[str, Iterable[str]], file: str) -> None:
    """Nothing when files, named by partition, that storage still has lie in folders which are marked as partitions.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-002, SL-007.

    """
    for partition, names in planned.items():
        stored = {one.path.rpartition("/")[2] for one in storage.list_files(partition, recursive=False)}
        if not stored.isdisjoint(names) and not any(map(is_partition_metafile, stored)):
            raise _foreign(f"the plan names files of {partition[:200]!r}, which is no partition of the table", file)


def refuse_no_instant(instant: str | None, file: str) -> None:
    """Nothing when what a plan, which stands in `file`, is to undo is an instant: folders are named after it.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: RB-003, SR-006.

    """
    if instant is None or not _INSTANT.fullmatch(instant):
        message = f"the plan is to undo {(instant or '')[:40]!r}, which is no instant"
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "RB-003", file, None, message)


def _foreign(message: str, file: str) -> FormatError:
    hint = "nothing was changed; remove the plan from the timeline if no Hudi writer made it"
    return FormatError(Reason.PATH_ESCAPES_TABLE, "SL-007", file, None, message, hint)


COMPACTION: Final = "compaction"
LOG_COMPACTION: Final = "logcompaction"
_CLUSTERS: Final = "CLUSTER"
_REQUESTED: Final = "REQUESTED"
_CLUSTERING_ACTIONS: Final = ("clustering", "replacecommit")


def compaction_plan(storage: Storage, instant: Instant) -> CompactionPlan:
    """The plan with which a compaction or log compaction was requested.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse; PATH_ESCAPES_TABLE.

    Clauses: HS-007, RD-008, SL-007, TL-033.

    """
    file = instant.files.get(_REQUESTED, instant.file)
    if instant.archived is not None and isinstance(instant.archived.plan, CompactionPlan):
        plan = instant.archived.plan
    else:
        plan = parse_compaction_plan(
            read_plan(storage, file) if instant.archived is None else instant.archived.plan, file
        )
    for one in plan.operations:
        for path in (one.partition_path, one.data_file_path, *one.delta_file_paths):
            refuse_escape(storage, path or "")
    return plan


def clustering_plan(storage: Storage, instant: Instant) -> ClusteringPlan | None:
    """The plan with which an action was requested; None where it is no clustering, or has no plan.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse.

    Clauses: CL-003, TL-033.

    """
    requested = _requested_clustering(storage, instant)
    return None if requested is None else requested.clustering_plan


def is_clustering(storage: Storage, instant: Instant) -> bool:
    """Whether an action was requested as a clustering; not one whose plan was taken off the timeline since.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when its plan does not parse.

    Clauses: TL-033.

    """
    with suppress(PlanGoneError):
        return _requested_clustering(storage, instant) is not None
    return False


def _requested_clustering(storage: Storage, instant: Instant) -> RequestedReplace | None:
    """Before version 8 the file of a clustering is called as those of overwrites are; what it holds shows."""
    if instant.archived is not None or instant.action not in _CLUSTERING_ACTIONS or _REQUESTED not in instant.files:
        return None
    file = instant.files[_REQUESTED]
    data = read_plan(storage, file)
    requested = parse_requested_replace(data, file) if data else None
    return requested if requested is not None and requested.operation_type == _CLUSTERS else None


def refuse_foreign_slices(plan: ClusteringPlan | CompactionPlan, file: str) -> None:
    """Nothing when what a plan, which stands in `file`, rewrites are data files of partitions.

    A reader needs no more of a plan than the file groups; who carries it out writes beside the files that it names.

    Raises:
        FormatError: PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    slices = (
        plan.operations if isinstance(plan, CompactionPlan) else [one for g in plan.input_groups for one in g.slices]
    )
    for one in slices:
        refuse_foreign(one.partition_path or "", (one.data_file_path, *one.delta_file_paths), file)


def files_to_clean(storage: Storage, plan: CleanerPlan, file: str) -> Mapping[str, tuple[str, ...]]:
    """By partition the names of the files that a clean's plan, which stands in `file`, asks to delete.

    Raises:
        FormatError: PATH_ESCAPES_TABLE for what is no data file of a partition, or no partition.
        UnsupportedFeature: a plan that deletes files of the table that this one was bootstrapped from.

    Clauses: CN-009, SL-007.

    """
    listed = plan.file_paths_to_be_deleted_per_partition
    if any(one.is_bootstrap_base_file for files in listed.values() for one in files):
        raise UnsupportedFeature("clean-bootstrap-base-file", "the files of a bootstrap's source are left alone")
    # The table may have lain elsewhere when it was planned: of a path the name counts.
    names = {
        partition: tuple((one.file_path or "").rpartition("/")[2] for one in files)
        for partition, files in listed.items()
    }
    planned = {**plan.files_to_be_deleted_per_partition, **{within: each for within, each in names.items() if each}}
    found = {partition: each for partition, each in planned.items() if each}
    for partition in {*found, *plan.partitions_to_be_deleted}:
        refuse_foreign(partition, found.get(partition, ()), file)
    refuse_unknown_partitions(storage, found, file)
    return found


def rollback_plan(storage: Storage, instant: Instant) -> RollbackPlan:
    """The plan with which a rollback was requested.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse, or names no instant; PATH_ESCAPES_TABLE.

    Clauses: RB-003, SL-007, TL-033.

    """
    file = instant.files.get(_REQUESTED, instant.file)
    plan = parse_rollback_plan(read_plan(storage, file), file)
    refuse_foreign_rollback(plan, file)
    return plan


def refuse_foreign_rollback(plan: RollbackPlan, file: str) -> None:
    """Nothing when a plan, which stands in `file`, undoes an instant, and removes data files of partitions.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RB-003, SL-007.

    """
    refuse_no_instant(None if plan.instant_to_rollback is None else plan.instant_to_rollback.commit_time, file)
    for one in plan.rollback_requests:
        refuse_foreign(one.partition_path, (*one.files_to_be_deleted, *(one.log_blocks_to_be_deleted or {})), file)


def groups_of_plan(plan: ClusteringPlan | CompactionPlan) -> frozenset[GroupId]:
    """The file groups that a clustering is going to replace, or that a compaction or log compaction rewrites.

    Clauses: CL-006, CP-005.
    """
    if isinstance(plan, CompactionPlan):
        return frozenset((one.partition_path or "", one.file_id or "") for one in plan.operations)
    slices = (one for group in plan.input_groups for one in group.slices)
    return frozenset((one.partition_path or "", one.file_id or "") for one in slices)


def pending_compactions(
    storage: Storage, timeline: Timeline, completed_by: str | None = None
) -> dict[GroupId, tuple[str, ...]]:
    """Instants of the pending compactions of each file group, now or as they were pending at a completion time.

    Raises:
        PlanGoneError: WRITE_CONFLICT for a plan that was taken off the timeline since that was listed: which slices
            there are depends on what became of it.
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: RD-008, RD-010, SL-007.

    """
    pending: dict[GroupId, tuple[str, ...]] = {}
    for instant in timeline.instants:
        if instant.was_compaction and _is_pending(instant, completed_by):
            for group in groups_of_plan(compaction_plan(storage, instant)):
                pending[group] = (*pending.get(group, ()), instant.requested)
    return pending


def _is_pending(instant: Instant, completed_by: str | None) -> bool:
    """Clauses: RD-010."""
    if completed_by is None:
        return not instant.is_completed
    return instant.requested <= completed_by and not (instant.is_completed and instant.at("completed") <= completed_by)


def pending_log_compactions(storage: Storage, timeline: Timeline) -> frozenset[GroupId]:
    """The file groups whose logs a pending log compaction is going to put together.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: CL-002, LC-002.

    """
    found: set[GroupId] = set()
    for instant in timeline.pending(LOG_COMPACTION):
        with suppress(PlanGoneError):
            found |= groups_of_plan(compaction_plan(storage, instant))
    return frozenset(found)


def pending_clusterings(storage: Storage, timeline: Timeline) -> Mapping[GroupId, Instant]:
    """The pending clustering of each file group that has one.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse.

    Clauses: OW-011, CL-002.

    """
    found: dict[GroupId, Instant] = {}
    for instant in timeline.instants:
        with suppress(PlanGoneError):
            if not instant.is_completed and (plan := clustering_plan(storage, instant)) is not None:
                found.update(dict.fromkeys(groups_of_plan(plan), instant))
    return found


def groups_in_pending_plans(storage: Storage, timeline: Timeline) -> frozenset[GroupId]:
    """The file groups that a pending compaction, log compaction or clustering has planned.

    A plan that was taken off the timeline since that was listed is not pending.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: CL-002, CP-003, LC-002.

    """
    found = {*pending_log_compactions(storage, timeline), *pending_clusterings(storage, timeline)}
    for instant in timeline.instants:
        if instant.was_compaction and not instant.is_completed:
            with suppress(PlanGoneError):
                found |= groups_of_plan(compaction_plan(storage, instant))
    return frozenset(found)
