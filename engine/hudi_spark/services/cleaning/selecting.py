"""The files of superseded slices, of replaced file groups, and of attempts that lost.

Clauses: CN-001, CN-005, CN-007, CN-008, CN-010.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hudi_format.storage import Storage

from hudi_spark.services.cleaning.needed import Needed
from hudi_spark.services.cleaning.policies import Policy, beyond_versions, superseded
from hudi_spark.state.commits import Commit, GroupId
from hudi_spark.state.history import whole_timeline
from hudi_spark.state.listing import FileListing
from hudi_spark.state.pending_plans import pending_compactions
from hudi_spark.state.slicing import FileGroup, FileSlice, SlicingRules, all_slices, completion_times, list_file_groups
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant


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
        return completion_times(whole_timeline(cleaning.storage, snapshot.configuration, snapshot.timeline))
    return completion_times(snapshot.timeline)


def _may_move(snapshot: Snapshot, group: FileGroup) -> bool:
    newest = max((base.name.instant for base in group.base_files), default="")
    logs = (log.name.instant for log in group.log_files if log.name.instant not in snapshot.visibility.listed)
    return any(instant < newest for instant in logs)
