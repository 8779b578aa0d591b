"""The metadata table's own services: compaction, log compaction, cleaning and archival, each where it is due.

It keeps a fifth more than the data table is reported to, and never fewer than 20 commits.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.timeline.plans import (
    ActionInstant,
    CleanerPlan,
    CleanFileInfo,
    CleanMetadata,
    CleanPartition,
    parse_cleaner_plan,
    serialise_clean_metadata,
    serialise_cleaner_plan,
)

from hudi_spark.concurrency import milliseconds_of
from hudi_spark.files import HistorySizes, archive_actions, finish_interrupted
from hudi_spark.metadata.compaction import OwnTable, compact_logs_when_due, compact_when_due, finish_compaction
from hudi_spark.metadata.file_groups import Groups, metadata_groups
from hudi_spark.metadata.rollbacks import Recovery
from hudi_spark.readings import RELEASED
from hudi_spark.table_state import (
    DATA_ACTIONS,
    WRITE_ACTIONS,
    FileSlice,
    Instant,
    SlicingRules,
    all_slices,
    completion_times,
    completions_of,
    files_to_clean,
    visibility,
)

_MOST: Final = "hoodie.keep.max.commits"
_LEAST: Final = "hoodie.keep.min.commits"
_BATCH: Final = "hoodie.timeline.compaction.batch.size"
_RECORDS: Final = "hoodie.commits.archival.batch"
_BEYOND: Final = "hoodie.archive.beyond.savepoint"
_DELTACOMMITS: Final = "hoodie.metadata.compact.max.delta.commits"
_BESIDE: Final = ("clean", "rollback")


def archive_when_due(own: OwnTable) -> bool:
    """Archive where the timeline has grown long; whether it did.

    Clauses: AR-003, AR-004, AR-008, MT-016.
    """
    if len(own.timeline.completed_data()) <= own.options.number(_MOST) + 1:
        return False
    left = finish_interrupted(own.inside, own.configuration, own.timeline)
    own = own.again() if left else own
    gone = _leaving(own)
    if gone:
        sizes = HistorySizes(own.options.number(_BATCH), own.options.number(_RECORDS))
        archive_actions(own.inside, own.configuration, gone, sizes)
    return bool(left or gone)


def _leaving(own: OwnTable) -> tuple[Instant, ...]:
    """The oldest commits, and the cleans and rollbacks requested before the last of them.

    Clauses: AR-003, AR-004, AR-008, AR-012.
    """
    commits = sorted(own.timeline.completed_data(), key=lambda one: one.requested)
    bound = min((*_of_data(own), *_of_compaction(own)), default="9")
    old = [one for one in commits if one.requested < bound]
    gone = old[: max(len(commits) - own.options.number(_LEAST) - 1, 0)]
    if not gone:
        return ()
    last = gone[-1].requested
    beside = [
        one for one in own.timeline.instants if one.action in _BESIDE and one.is_completed and one.requested < last
    ]
    return tuple(sorted((*gone, *beside), key=lambda one: one.requested))


def _of_data(own: OwnTable) -> tuple[str, ...]:
    """From where on the data table's timeline needs the metadata table's: its first write, its first pending action.

    Clauses: AR-008, MT-016.
    """
    timeline = own.data.timeline
    saved = {one.requested for one in timeline.instants if one.is_savepoint} if own.options.flag(_BEYOND) else set()
    writes = [one.requested for one in timeline.instants if one.action in (*DATA_ACTIONS, *WRITE_ACTIONS)]
    pending = [one.requested for one in own.data.pending()]
    return tuple(min(each) for each in ([one for one in writes if one not in saved], pending) if each)


def _of_compaction(own: OwnTable) -> tuple[str, ...]:
    """From where on deltacommits stay, so that a compaction is still due: the last so many, or the last compaction.

    Clauses: AR-012.
    """
    last = own.last("compaction")
    number = own.options.number(_DELTACOMMITS)
    after = sorted(one.requested for one in own.timeline.completed("deltacommit") if one.requested > last)
    if len(after) >= number > 0:
        return (after[-number],)
    return (last,) if last else tuple(after[:1])


_POLICY: Final = "hoodie.clean.policy"
_COMMITS: Final = "hoodie.clean.commits.retained"
_VERSIONS: Final = "hoodie.clean.fileversions.retained"
_HOURS: Final = "hoodie.clean.hours.retained"
_BY_VERSIONS: Final = "KEEP_LATEST_FILE_VERSIONS"
_BY_HOURS: Final = "KEEP_LATEST_BY_HOURS"
_MORE: Final = 1.2
_LEAST_COMMITS: Final = 20
# A reader may still be about to open logs that a compaction has just replaced.
_AFTER_COMPACTION: Final = 3
_SUFFIX: Final = "002"
"""Three digits behind an instant of version 6: a clean."""


def clean_when_due(own: OwnTable) -> bool:
    """Clean where there are old slices, and the last compaction is not too fresh; whether it did.

    Clauses: MT-015, CN-001, CN-002, CN-003.
    """
    last = own.last("compaction")
    after = [one for one in own.timeline.instants if one.is_completed and one.requested > last]
    if last and len(after) < _AFTER_COMPACTION:
        return False
    policy = own.options.text(_POLICY)
    earliest = _earliest(own, policy)
    if earliest is None and policy != _BY_VERSIONS:
        return False
    files = _old_files(own, policy, earliest)
    if not files:
        return False
    plan = _plan(own, policy, earliest, files)
    newest = max((one.requested for one in own.timeline.completed("deltacommit")), default="")
    instant = own.now() if own.layout.has_completion_times else f"{newest}{_SUFFIX}"
    if any(one.requested == instant for one in own.timeline.instants):
        return False
    content = serialise_cleaner_plan(plan)
    own.begin(instant, "clean", content, b"" if own.layout.has_completion_times else content)
    _carry_out(own.again(), instant, plan, files)
    return True


def finish_clean(own: OwnTable, pending: Instant) -> None:
    """A clean that is pending, since whoever began it died, is carried out by its plan.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE for a plan that is none.

    Clauses: CN-001, MT-015, SL-007.

    """
    path = pending.files["REQUESTED"]
    content = own.inside.storage.read(path)
    plan = parse_cleaner_plan(content, path)
    doomed = files_to_clean(own.inside.storage, plan, path)
    if pending.state == "REQUESTED":
        own.put(pending.requested, "clean", "INFLIGHT", b"" if own.layout.has_completion_times else content)
    _carry_out(own, pending.requested, plan, doomed)


def _earliest(own: OwnTable, policy: str) -> Instant | None:
    """The first commit from which on nothing goes; None where there are too few, or slices are counted instead.

    Clauses: CN-002, CN-003.
    """
    commits = sorted(own.timeline.completed_data(), key=lambda one: one.requested)
    if policy == _BY_HOURS:
        kept = timedelta(hours=math.ceil(own.options.number(_HOURS) * _MORE)) // timedelta(milliseconds=1)
        since = milliseconds_of(own.now()) - kept
        moments = [one for one in commits if one.requested[:1] != "0"]
        return next((one for one in moments if milliseconds_of(one.requested) >= since), None)
    retained = max(_LEAST_COMMITS, int(own.options.number(_COMMITS) * _MORE))
    if policy == _BY_VERSIONS or len(commits) <= retained:
        return None
    return commits[len(commits) - retained]


def _old_files(own: OwnTable, policy: str, earliest: Instant | None) -> dict[str, tuple[str, ...]]:
    """By index the names of the files of slices that nobody reads any more.

    Clauses: CN-002, CN-003.
    """
    groups = metadata_groups(own.inside.storage)
    rules = _rules(own, completion_times(own.timeline))
    found = _old_of(own, policy, earliest, groups, rules)
    logs = [parse_data_file_name(name) for names in found.values() for name in names]
    archived = [one.instant for one in logs if isinstance(one, LogFileName) and one.instant not in rules.completions]
    if not (archived and own.layout.has_completion_times):
        return found
    # A log that an archived action wrote may be of the slice after the one that its name alone would put it into.
    known = completions_of(own.inside.storage, own.configuration, own.timeline, archived)
    return _old_of(own, policy, earliest, groups, _rules(own, known))


def _rules(own: OwnTable, completions: Mapping[str, str]) -> SlicingRules:
    return SlicingRules(
        visibility=visibility(own.timeline, None, "requested"),
        limit=None,
        named=frozenset(),
        completions=completions,
        logs_by_completion=own.layout.has_completion_times,
        text_order=RELEASED.log_order == "text",
    )


def _old_of(
    own: OwnTable, policy: str, earliest: Instant | None, groups: Groups, rules: SlicingRules
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for id_, group in groups.items():
        slices = all_slices(id_, group, (), rules)
        old = _beyond(slices, own) if policy == _BY_VERSIONS else _before(slices, earliest)
        names = [path.rpartition("/")[2] for one in old for path in (one.base_file, *one.log_files) if path]
        if names:
            found[id_[0]] = (*found.get(id_[0], ()), *names)
    return found


def _beyond(slices: Sequence[FileSlice], own: OwnTable) -> Sequence[FileSlice]:
    kept = math.ceil(own.options.number(_VERSIONS) * _MORE)
    return slices[: max(len(slices) - kept, 0)]


def _before(slices: Sequence[FileSlice], earliest: Instant | None) -> Sequence[FileSlice]:
    """Those before the last one that a reader of the first retained commit may need; never the newest."""
    if earliest is None:
        return ()
    older = [one for one in slices[:-1] if one.base_instant < earliest.requested]
    whole = [one for one in slices if one.base_instant < earliest.requested]
    return [one for one in older if one is not whole[-1]]


def _plan(own: OwnTable, policy: str, earliest: Instant | None, files: Mapping[str, tuple[str, ...]]) -> CleanerPlan:
    storage = own.inside.storage
    infos = {
        partition: tuple(
            CleanFileInfo(storage.uri(f"{partition}/{name}"), is_bootstrap_base_file=False) for name in names
        )
        for partition, names in files.items()
    }
    kept = None if earliest is None else ActionInstant(earliest.requested, earliest.action, "COMPLETED")
    last = max(one.requested for one in own.timeline.completed_data())
    extra: dict[str, str] | None = {} if own.layout.has_completion_times else None
    return CleanerPlan(kept, last, policy, file_paths_to_be_deleted_per_partition=infos, extra_metadata=extra)


def _carry_out(own: OwnTable, instant: str, plan: CleanerPlan, doomed: Mapping[str, tuple[str, ...]]) -> None:
    """Clauses: CN-001."""
    done: dict[str, CleanPartition] = {}
    for partition, names in doomed.items():
        for name in names:
            own.inside.delete_data_file(instant, partition, name)
        done[partition] = CleanPartition(partition, plan.policy, names, names)
    earliest = plan.earliest_instant_to_retain
    metadata = CleanMetadata(
        start_clean_time=instant,
        total_files_deleted=sum(len(one.success_delete_files) for one in done.values()),
        earliest_commit_to_retain="" if earliest is None else earliest.timestamp,
        last_completed_commit_timestamp=plan.last_completed_commit_timestamp,
        partition_metadata=done,
        bootstrap_partition_metadata={},
        extra_metadata={} if own.layout.has_completion_times else None,
    )
    own.complete(instant, "clean", serialise_clean_metadata(metadata))


def keep_up(own: OwnTable, action: str) -> bool:
    """What failed writers left of services is finished, then each service runs that is due; whether anything changed.

    Called under the table's lock, on behalf of an action that is about to commit to the metadata table.

    Raises:
        HudiError: LIMIT_EXCEEDED before version 8, when an action has been pending for too many deltacommits.
        FormatError: a file of the metadata table that is broken.

    Clauses: MT-015, MT-016.

    """
    changed = _finish(own, action)
    for service in (clean_when_due, compact_when_due, compact_logs_when_due, archive_when_due):
        own = own.again() if changed else own
        changed = service(own) or changed
    return changed


def _finish(own: OwnTable, action: str) -> bool:
    """Pending plans: compactions, cleans, rollbacks are carried out, log compactions are taken back and planned anew.

    Clauses: CP-002, MT-006.
    """
    pending = [one for one in own.timeline.instants if not one.is_completed]
    # What a rollback undoes may be a log compaction that is pending too.
    pending.sort(key=lambda one: one.action != "rollback")
    for one in pending:
        if one.action == "compaction":
            finish_compaction(own.again(), one)
        elif one.action == "clean":
            finish_clean(own.again(), one)
        elif one.action == "logcompaction":
            _recovery(own.again()).roll_back(one, action, own.clock)
        elif one.action == "rollback":
            _recovery(own.again()).finish(one, action, own.clock)
    return bool(pending)


def _recovery(own: OwnTable) -> Recovery:
    return Recovery(own.inside, own.configuration, own.timeline, own.layout)
