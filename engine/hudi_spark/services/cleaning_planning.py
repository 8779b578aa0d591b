"""What a clean is going to delete: by policy, without what savepoints and pending plans need.

latest commits    the slices from the N-th last write on, and the last one before it
latest hours      the same from the first write on that is not older
latest versions   the newest N slices

Clauses: CN-005, CN-008, CN-015, CN-001, CN-007, CN-010, CN-009, CN-011, CN-016.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Final

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plans import (
    ActionInstant,
    CleanerPlan,
    CleanFileInfo,
    CleanMetadata,
    CompactionOperation,
    parse_clean_metadata,
    parse_savepoint_metadata,
)

from hudi_spark.concurrency import instant_text
from hudi_spark.errors import HudiError, Reason
from hudi_spark.options import Options
from hudi_spark.table_state import (
    COMPACTION,
    DATA_ACTIONS,
    LOG_COMPACTION,
    Commit,
    FileGroup,
    FileListing,
    FileSlice,
    GroupId,
    Instant,
    SlicingRules,
    Snapshot,
    Timeline,
    all_slices,
    clustering_plan,
    compaction_plan,
    completed_bytes,
    completion_times,
    full_timeline,
    list_file_groups,
    pending_compactions,
    stored_files,
)


@dataclass(frozen=True, slots=True)
class Needed:
    """What others need.

    `names`: files of savepoints and of pending plans. `planned`: by file group the base instant of the slice from
    which on a pending compaction or log compaction needs all. `savepoints`: times of the savepoints.

    Clauses: CN-005, CN-008.
    """

    names: frozenset[str] = frozenset()
    planned: Mapping[GroupId, str] = field(default_factory=dict)
    savepoints: tuple[str, ...] = ()

    def holds(self, one: FileSlice) -> bool:
        """Whether a slice has to stay for a savepoint, or for a clustering that waits."""
        paths = (*([one.base_file] if one.base_file else []), *one.log_files)
        return any(path.rpartition("/")[2] in self.names for path in paths)

    def plans(self, one: FileSlice) -> bool:
        """Whether a slice is the one that a pending compaction reads, or a newer one."""
        base = self.planned.get((one.partition, one.file_id))
        return base is not None and one.base_instant >= base


def needed_by_others(storage: Storage, timeline: Timeline) -> Needed:
    """What savepoints and pending plans need of a table.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a savepoint or a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: CN-005, CN-008.

    """
    operations = tuple(_operations(storage, timeline))
    planned: dict[GroupId, str] = {}
    for one in operations:
        group, base = (one.partition_path or "", one.file_id or ""), one.base_instant_time or ""
        planned[group] = min(planned.get(group, base), base)
    read = (name for one in operations for name in (one.data_file_path, *one.delta_file_paths) if name)
    savepoints = tuple(sorted(one.requested for one in timeline.completed("savepoint")))
    names = {*_saved(storage, timeline), *_clustered(storage, timeline), *(name.rpartition("/")[2] for name in read)}
    return Needed(frozenset(names), planned, savepoints)


def _operations(storage: Storage, timeline: Timeline) -> Iterator[CompactionOperation]:
    for one in (*timeline.pending(COMPACTION), *timeline.pending(LOG_COMPACTION)):
        yield from compaction_plan(storage, one).operations


def _saved(storage: Storage, timeline: Timeline) -> Iterator[str]:
    """Clauses: CN-008."""
    for one in timeline.completed("savepoint"):
        kept = parse_savepoint_metadata(completed_bytes(storage, one), one.file)
        for partition in kept.partition_metadata.values():
            yield from (name.rpartition("/")[2] for name in partition.savepoint_data_file)


def _clustered(storage: Storage, timeline: Timeline) -> Iterator[str]:
    """Clauses: CN-005."""
    pending = (one for one in timeline.instants if not one.is_completed)
    plans = (plan for one in pending if (plan := clustering_plan(storage, one)) is not None)
    for one in (one for plan in plans for group in plan.input_groups for one in group.slices):
        yield from (path.rpartition("/")[2] for path in (one.data_file_path, *one.delta_file_paths) if path)


BY_COMMITS: Final = "KEEP_LATEST_COMMITS"
BY_HOURS: Final = "KEEP_LATEST_BY_HOURS"
BY_VERSIONS: Final = "KEEP_LATEST_FILE_VERSIONS"
_PENDING_WRITES: Final = (*DATA_ACTIONS, "compaction", "clustering")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is kept.

    Clauses: CN-002, CN-003, CN-004.
    """

    name: str = BY_COMMITS
    commits: int = 10
    hours: int = 24
    versions: int = 3


def policy_of(options: Options) -> Policy:
    """The policy that options request.

    Clauses: CN-001.
    """
    return Policy(
        options.text("hoodie.clean.policy"),
        options.number("hoodie.clean.commits.retained"),
        options.number("hoodie.clean.hours.retained"),
        options.number("hoodie.clean.fileversions.retained"),
    )


def completed_writes(timeline: Timeline) -> tuple[Instant, ...]:
    """Completed commits, deltacommits and replacecommits by requested time."""
    return tuple(sorted(timeline.completed_data(), key=lambda one: one.requested))


def earliest_to_retain(timeline: Timeline, policy: Policy, now: str) -> Instant | None:
    """The write from which on a policy keeps slices; None where it retains all, or counts versions instead.

    `now`: the instant that hours are counted back from.

    Raises:
        HudiError: INSTANT_MALFORMED for a time to count back from that is none.

    Clauses: CN-002, CN-003, CN-004.

    """
    writes = completed_writes(timeline)
    if policy.name == BY_HOURS:
        oldest = hours_before(now, policy.hours)
        return next((one for one in writes if one.requested >= oldest), None)
    if policy.name == BY_COMMITS and len(writes) > policy.commits:
        return _not_past_pending(timeline, writes, writes[len(writes) - policy.commits])
    return None


def _not_past_pending(timeline: Timeline, writes: Sequence[Instant], chosen: Instant) -> Instant | None:
    """Clauses: CN-002."""
    waiting = (one for one in timeline.instants if not one.is_completed and one.action in _PENDING_WRITES)
    first = min((one.requested for one in waiting), default=None)
    if first is None or chosen.requested <= first:
        return chosen
    return max((one for one in writes if one.requested < first), key=lambda one: one.requested, default=None)


def hours_before(instant: str, hours: int) -> str:
    """An instant some hours earlier, in 17 digits.

    Raises:
        HudiError: INSTANT_MALFORMED.

    Clauses: TM-001.

    """
    try:
        moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError as error:
        message = f"{instant} is no time of a day"
        hint = "count commits or file versions instead of hours"
        raise HudiError(Reason.INSTANT_MALFORMED, "TM-001", message, hint=hint) from error
    milliseconds = int((instant + "000")[14:17])
    return instant_text(moment + timedelta(milliseconds=milliseconds) - timedelta(hours=hours))


def superseded(slices: Sequence[FileSlice], earliest: str) -> tuple[FileSlice, ...]:
    """Of a group's slices, oldest first, those that no query from an instant on reads, nor the newest.

    Clauses: CN-001, CN-002, CN-003.
    """
    return tuple([one for one in slices if one.base_instant < earliest][:-1])


def beyond_versions(slices: Sequence[FileSlice], versions: int) -> tuple[FileSlice, ...]:
    """Of a group's slices, oldest first, all but the newest few.

    Clauses: CN-001, CN-004.
    """
    return tuple(slices[: max(len(slices) - versions, 0)])


SAVEPOINTS: Final = "savepointed_timestamps"
"""Where a plan and its clean say which savepoints there were."""


def last_clean(storage: Storage, timeline: Timeline) -> CleanMetadata | None:
    """What the last clean did that completed; None where there is none, or where it says nothing.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse.

    Clauses: CN-009.

    """
    done = timeline.completed("clean")
    data = storage.read(done[-1].file) if done else b""
    return parse_clean_metadata(data, done[-1].file) if data else None


def changed_partitions(
    timeline: Timeline, commits: Iterable[Commit], last: CleanMetadata | None, earliest: Instant, needed: Needed
) -> frozenset[str] | None:
    """The partitions in which a clean can find more than the last one did; None where it has to look at all.

    That is so without a last clean that retained an instant which the timeline still reaches, and where a savepoint is
    gone that it knew of: whatever that one kept may be anywhere.

    Clauses: CN-015.
    """
    since = last.earliest_commit_to_retain if last is not None else ""
    first = timeline.first_write()
    if last is None or not since or first is None or since < first:
        return None
    known = (last.extra_metadata or {}).get(SAVEPOINTS, "")
    if any(one not in needed.savepoints for one in known.split(",") if one):
        return None
    between = (one for one in commits if since <= one.instant.requested < earliest.requested)
    return frozenset(partition for one in between for partition in _touched(one))


def _touched(commit: Commit) -> set[str]:
    return {partition for partition, _ in (*commit.groups(), *commit.replaced_groups())}


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What decides what goes; `earliest` is None where file versions are counted."""

    storage: Storage
    snapshot: Snapshot
    policy: Policy
    earliest: Instant | None
    needed: Needed


def doomed_files(cleaning: Cleaning, listing: FileListing) -> dict[str, tuple[str, ...]]:
    """By partition the paths of the files that go, of those that a listing names.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan or a file of the history does not parse.

    Clauses: CN-001, CN-005, CN-007, CN-008, CN-010, CN-016.

    """
    snapshot = cleaning.snapshot
    groups = list_file_groups(cleaning.storage, listing, change_logs=True)
    rules = _rules(cleaning, groups)
    pending = pending_compactions(cleaning.storage, snapshot.timeline)
    replaced, named = _replaced(snapshot.commits), _named_bases(snapshot.commits)
    doomed: dict[str, set[str]] = {}
    for id_, group in groups.items():
        slices = all_slices(id_, group, pending.get(id_, ()), rules)
        going = _going(cleaning, slices, replaced.get(id_))
        paths = {*_paths(going), *_lost(cleaning.needed, id_, group, named)}
        if paths:
            doomed.setdefault(id_[0], set()).update(paths)
    return {partition: tuple(sorted(paths)) for partition, paths in sorted(doomed.items())}


def _going(cleaning: Cleaning, slices: tuple[FileSlice, ...], replaced: str | None) -> Iterator[FileSlice]:
    """Clauses: CN-001, CN-005, CN-007, CN-008."""
    earliest, needed = cleaning.earliest, cleaning.needed
    if replaced is not None:
        candidates = slices if earliest is None or replaced < earliest.requested else ()
    elif earliest is not None:
        candidates = superseded(slices, earliest.requested)
    else:
        candidates = _beyond_versions(cleaning, slices)
    return (one for one in candidates if not (needed.holds(one) or needed.plans(one)))


def _beyond_versions(cleaning: Cleaning, slices: tuple[FileSlice, ...]) -> tuple[FileSlice, ...]:
    """What a pending compaction needs stands for one of the versions.

    Clauses: CN-004, CN-005.
    """
    free = [one for one in slices if not cleaning.needed.plans(one)]
    return beyond_versions(free, cleaning.policy.versions - (len(free) < len(slices)))


def _paths(slices: Iterable[FileSlice]) -> Iterator[str]:
    for one in slices:
        yield from (*([one.base_file] if one.base_file else []), *one.log_files)


def _lost(needed: Needed, id_: GroupId, group: FileGroup, named: Mapping[tuple[GroupId, str], str]) -> Iterator[str]:
    """Base files of completed writes whose commit names another attempt's.

    Clauses: CN-010.
    """
    for one in group.base_files:
        winner = named.get((id_, one.name.instant))
        if winner is not None and winner != one.path and str(one.name) not in needed.names:
            yield one.path


def _replaced(commits: Iterable[Commit]) -> dict[GroupId, str]:
    """When each replaced file group was replaced, by the request of the commit.

    Clauses: CN-007.
    """
    found: dict[GroupId, str] = {}
    for one in commits:
        for group in one.replaced_groups():
            found[group] = min(found.get(group, one.instant.requested), one.instant.requested)
    return found


def _named_bases(commits: Iterable[Commit]) -> dict[tuple[GroupId, str], str]:
    return {(group, one.instant.requested): path for one in commits for group, path in one.base_files().items()}


def _rules(cleaning: Cleaning, groups: Mapping[GroupId, FileGroup]) -> SlicingRules:
    """Slices as readers form them.

    Clauses: CN-005, RD-005, RD-006.
    """
    snapshot = cleaning.snapshot
    return SlicingRules(
        visibility=snapshot.visibility,
        limit=None,
        named=frozenset(path for one in snapshot.commits for path in one.base_files().values()),
        completions=_completions(cleaning, groups),
        logs_by_completion=snapshot.configuration.has_completion_times,
        text_order=False,
    )


def _completions(cleaning: Cleaning, groups: Mapping[GroupId, FileGroup]) -> dict[str, str]:
    """When writes completed; those of archived ones where a log of theirs may belong to a later slice.

    Clauses: RD-005, HS-001.
    """
    snapshot = cleaning.snapshot
    if snapshot.configuration.has_completion_times and any(_may_move(snapshot, one) for one in groups.values()):
        return completion_times(full_timeline(cleaning.storage, snapshot.configuration, snapshot.timeline))
    return completion_times(snapshot.timeline)


def _may_move(snapshot: Snapshot, group: FileGroup) -> bool:
    newest = max((base.name.instant for base in group.base_files), default="")
    logs = (log.name.instant for log in group.log_files if log.name.instant not in snapshot.visibility.listed)
    return any(instant < newest for instant in logs)


Doomed = Mapping[str, tuple[str, ...]]
"""By partition the paths of the files to delete."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What there is to plan with: a table, the options, and the time."""

    storage: Storage
    snapshot: Snapshot
    options: Options
    now: str


def is_due(planning: Planned) -> bool:
    """Whether enough writes have completed since those that the last clean knew of.

    Clauses: CN-009.
    """
    last = last_clean(planning.storage, planning.snapshot.timeline)
    since = "" if last is None else last.last_completed_commit_timestamp
    writes = (one for one in completed_writes(planning.snapshot.timeline) if one.requested > since)
    return sum(1 for _ in writes) >= planning.options.number("hoodie.clean.trigger.max.commits")


def retains_less_than_all(timeline: Timeline, options: Options, now: str) -> bool:
    """Whether a policy lets anything go, by the timeline alone: without that nothing else needs to be read.

    Clauses: CN-002, CN-003, CN-004.
    """
    policy = policy_of(options)
    return policy.name == BY_VERSIONS or earliest_to_retain(timeline, policy, now) is not None


def cleaner_plan(planning: Planned) -> CleanerPlan | None:
    """The plan of a clean; None where nothing is to go.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a file of the timeline does not parse.

    Clauses: CN-001, CN-009, CN-011, CN-015.

    """
    if not retains_less_than_all(planning.snapshot.timeline, planning.options, planning.now):
        return None
    policy = policy_of(planning.options)
    earliest = earliest_to_retain(planning.snapshot.timeline, policy, planning.now)
    needed = needed_by_others(planning.storage, planning.snapshot.timeline)
    cleaning = Cleaning(planning.storage, planning.snapshot, policy, earliest, needed)
    listing = _listing(planning, cleaning)
    doomed = doomed_files(cleaning, listing)
    return _plan(planning, cleaning, doomed, _emptied(listing, doomed)) if doomed else None


def _listing(planning: Planned, cleaning: Cleaning) -> FileListing:
    """The files of the partitions to look at, as storage has them.

    Clauses: CN-015.
    """
    storage, timeline, earliest = planning.storage, planning.snapshot.timeline, cleaning.earliest
    if earliest is None or not planning.options.flag("hoodie.clean.incremental.enabled"):
        return stored_files(storage)
    last = last_clean(storage, timeline)
    chosen = changed_partitions(timeline, planning.snapshot.commits, last, earliest, cleaning.needed)
    if chosen is None or not planning.snapshot.configuration.partition_by:
        return stored_files(storage)
    return FileListing(tuple(pair for partition in sorted(chosen) for pair in _files_in(storage, partition)))


def _files_in(storage: Storage, partition: str) -> Iterator[tuple[str, str]]:
    found = storage.list_files(partition, recursive=False)
    return ((partition, status.path.rpartition("/")[2]) for status in found)


def _emptied(listing: FileListing, doomed: Doomed) -> tuple[str, ...]:
    """Partitions of which the clean leaves no data file; the folder of a table without partitions is none.

    Clauses: CN-011.
    """
    going = {path for paths in doomed.values() for path in paths}
    staying = {
        partition
        for partition, name in listing.files
        if parse_data_file_name(name) is not None and f"{partition}/{name}" not in going
    }
    return tuple(sorted(partition for partition in doomed if partition and partition not in staying))


def _plan(planning: Planned, cleaning: Cleaning, doomed: Doomed, emptied: tuple[str, ...]) -> CleanerPlan:
    """Clauses: CN-009."""
    writes = completed_writes(planning.snapshot.timeline)
    savepoints = cleaning.needed.savepoints if planning.snapshot.configuration.partition_by else ()
    return CleanerPlan(
        earliest_instant_to_retain=_named(cleaning.earliest),
        last_completed_commit_timestamp=writes[-1].requested if writes else "",
        policy=cleaning.policy.name,
        file_paths_to_be_deleted_per_partition={
            partition: tuple(CleanFileInfo(f"{planning.storage.base}/{path}", False) for path in paths)
            for partition, paths in sorted(doomed.items())
        },
        partitions_to_be_deleted=emptied,
        extra_metadata={SAVEPOINTS: ",".join(savepoints)} if savepoints else {},
    )


def _named(instant: Instant | None) -> ActionInstant | None:
    return None if instant is None else ActionInstant(instant.requested, instant.action, instant.state)
