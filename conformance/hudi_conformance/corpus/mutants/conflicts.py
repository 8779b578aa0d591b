"""Rules of writers beside each other, broken."""

from hudi_model.actions import CommitMetadata, Content, Instant
from hudi_model.conflicts import OVERWRITE, concurrent_set, conflict
from hudi_model.files import LogFile
from hudi_model.rejection import Rejection
from hudi_model.requests import Write
from hudi_model.tables import RELEASED, Readings, Table, View, open_table
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import Timeline, commit_metadata, completed_data
from hudi_model_tools.locks import Lease

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("overlap-not-checked", "OW-005", "Writers do not compare file groups.", "conflicts.units")
def _overlap_not_checked(_: Function) -> Function:
    return lambda _write, _groups: frozenset()


@mutant(
    "concurrent-set-by-begin-time",
    "OW-002 OW-004",
    "The concurrent set is what began after the write.",
    "conflicts.concurrent_set",
)
def _concurrent_set_by_begin_time(_: Function) -> Function:
    def started_after(timeline: Timeline, write: Write) -> tuple[Instant, ...]:
        return tuple(one for one in completed_data(timeline) if one.requested > write.requested)

    return started_after


@mutant("plans-never-conflict", "OW-006", "Plans conflict with nothing.", "conflicts.concurrent_set")
def _plans_never_conflict(_: Function) -> Function:
    def writes_only(timeline: Timeline, write: Write) -> tuple[Instant, ...]:
        done = (one for one in completed_data(timeline) if one.requested not in write.seen)
        return tuple(one for one in done if commit_metadata(one).operation != "COMPACT")

    return writes_only


@mutant("every-plan-conflicts", "OW-006", "A compaction planned before the write is in its way.", "conflicts.follows")
def _every_plan_conflicts(_: Function) -> Function:
    return lambda _other, _write: True


@mutant("key-check-not-made", "OW-007", "The key check compares nothing.", "conflicts.refuse_common_keys")
def _key_check_not_made(_: Function) -> Function:
    return lambda _table, _write: None


@mutant("rolled-back-writer-commits", "OW-008", "A writer does not look after itself.", "conflicts.refuse_conflicts")
def _rolled_back_writer_commits(original: Function) -> Function:
    def unaware(table: Table, write: Write, readings: Readings = RELEASED) -> None:
        try:
            original(table, write, readings)
        except Rejection as rejection:
            if rejection.clause != "OW-008":
                raise

    return unaware


@mutant(
    "pending-clustering-not-seen",
    "OW-011",
    "Writers change what a clustering is about to replace.",
    "conflicts.refuse_pending_clustering",
)
def _pending_clustering_not_seen(_: Function) -> Function:
    return lambda _table, _write: None


@mutant("buckets-conflict-by-file-id", "OW-023", "Buckets are compared by whole file ids.", "conflicts.units")
def _buckets_conflict_by_file_id(_: Function) -> Function:
    return lambda _write, groups: groups


@mutant("markers-name-no-group", "OW-029 MK-006", "Nothing is known before commit.", "conflicts.marker_conflicts")
def _markers_name_no_group(_: Function) -> Function:
    return lambda _table, _write: frozenset()


@mutant(
    "non-blocking-writers-check",
    "SW-003",
    "Non-blocking writers compare themselves with others.",
    "conflicts.checks_conflicts",
)
def _non_blocking_writers_check(_: Function) -> Function:
    return lambda _request: True


@mutant(
    "log-slice-by-requested-time",
    "SW-006 RD-006",
    "A log belongs to the youngest slice that was requested before the log was.",
    "slicing.slice_of_log",
)
def _log_slice_by_requested_time(_: Function) -> Function:
    def by_request(_view: View, log: LogFile, boundaries: set[InstantTime]) -> InstantTime:
        return max((one for one in set(boundaries) if at_or_before(one, log.instant)), default=log.instant)

    return by_request


@mutant(
    "locks-are-shared", "LK-001", "A lock is given to every process that requests it.", "hudi_model_tools.locks.acquire"
)
def _locks_are_shared(_: Function) -> Function:
    return lambda _lease, holder, _now, until: Lease(holder, until)


@mutant(
    "lost-lease-still-counts", "LK-002", "A process that once had a lock has it.", "hudi_model_tools.locks.refuse_lost"
)
def _lost_lease_still_counts(_: Function) -> Function:
    return lambda _lease, _holder, _now: None


@mutant(
    "overwrites-conflict-everywhere",
    "OW-035",
    "Two overwrites conflict whatever partitions they write into.",
    "conflicts.refuse_conflicts",
)
def _overwrites_conflict_everywhere(original: Function) -> Function:
    def whatever_partition(table: Table, write: Write, readings: Readings = RELEASED) -> None:
        original(table, write, readings)
        others = concurrent_set(open_table(table).timeline, write)
        if _is_overwrite(write.metadata) and any(_is_overwrite(one.content) for one in others):
            raise conflict("OW-035", write, "another overwrite completed since it began")

    return whatever_partition


def _is_overwrite(content: Content) -> bool:
    return isinstance(content, CommitMetadata) and content.operation == OVERWRITE
