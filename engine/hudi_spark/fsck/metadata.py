"""The metadata table: sound, in step with its table, right about files and rows; indexes that are being built."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from hudi_format.metadata.partitions import Partition, file_group_of_id, is_expression_index, is_secondary_index
from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plans import CompactionPlan, IndexPlan, RollbackMetadata

from hudi_spark.fsck.stored import Stored, TableState
from hudi_spark.fsck.violations import Violations, clause_of_index
from hudi_spark.metadata import BUILDING_KEY, NOT_STORED, Finding, indexes_of, list_differences, validate_metadata_table
from hudi_spark.read import Executor
from hudi_spark.table_state import (
    METADATA_FOLDER,
    NO_TIME,
    PROPERTIES_FILE,
    Commit,
    Instant,
    NoMetadata,
    Snapshot,
    Timeline,
    commit_of,
    load_table,
    open_metadata_table,
    subfolder,
)

_DATA: Final = ("commit", "deltacommit", "replacecommit")


def check_building(state: TableState, violations: Violations) -> None:
    """Each write that completed since an index is open to be logged to has logged to it, where it changed it.

    Before version 8 nothing states what completed before the index was opened.

    Clauses: IG-003.
    """
    names = tuple(_being_built(state)) if state.configuration.has_completion_times else ()
    if not names:
        return
    inside = subfolder(state.storage, METADATA_FOLDER)
    refused = Violations()
    with refused.noting():
        _, timeline = load_table(inside)
        logged = {one.requested: _partitions(inside, one) for one in timeline.completed_data()}
        for name in names:
            _check(state, name, _opened(inside, timeline, name), logged, violations)


def _being_built(state: TableState) -> Iterator[str]:
    """What properties and the plan of an indexing that is at work name; a mark alone is that of a failed attempt.

    Clauses: IG-001, IG-003, IG-005.
    """
    properties = state.configuration.properties
    marked = set(indexes_of(properties, BUILDING_KEY)) - set(indexes_of(properties))
    for instant, plan in state.contents.pending(IndexPlan).items():
        if instant.state == "INFLIGHT":
            planned = (info.metadata_partition_path or "" for info in plan.index_partition_infos)
            yield from (name for name in planned if name in marked)


def _opened(inside: Storage, timeline: Timeline, name: str) -> str | None:
    """When the first deltacommit of an index completed; None where it has no file yet, or no time of the clock.

    Clauses: MT-009, MT-021.
    """
    names = (parse_data_file_name(one.path.rpartition("/")[2]) for one in inside.list_files(name))
    first = min((one.instant for one in names if one is not None), default=None)
    completed = next((one.completed for one in timeline.instants if one.requested == first), None)
    return completed if completed and not completed.startswith(NO_TIME) else None


def _partitions(inside: Storage, instant: Instant) -> frozenset[str]:
    return frozenset(stat.partition_path or "" for stat in commit_of(inside, instant).metadata.write_stats)


def _check(
    state: TableState, name: str, opened: str | None, logged: dict[str, frozenset[str]], violations: Violations
) -> None:
    for commit in state.commits if opened is not None else ():
        one = commit.instant
        since = one.action in _DATA and one.completed is not None and opened is not None and one.completed > opened
        changes = any(_changes(name, stat) for stat in commit.metadata.write_stats)
        if since and changes and name not in logged.get(one.requested, frozenset()):
            violations.error("IG-003", one.file, f"the action logged nothing to {name}, which is being built")


def _changes(name: str, stat: WriteStat) -> bool:
    """Whether what a write did to one file surely has entries in an index.

    Clauses: MT-011, MT-013, IX-010, IX-021.
    """
    is_base = not (stat.path or "").rpartition("/")[2].startswith(".")
    if name == Partition.RECORD_INDEX:
        return is_base and stat.prev_commit == "null" and bool(stat.num_inserts)
    if is_secondary_index(name):
        return False
    if name == Partition.BLOOM_FILTERS or is_expression_index(name):
        return is_base
    return (stat.num_writes or 0) > (stat.num_deletes or 0)


_COMMITS_BESIDE: Final = ("commit", "deltacommit", "replacecommit", "clean", "rollback")
# After every time.
_NEVER: Final = ":"
# While one of these is at work the list may name files that are gone already.
_REMOVING: Final = ("clean", "rollback")


def is_kept(state: TableState) -> bool:
    """Whether a table has a metadata table that readers use; what lies in the folder of another says nothing.

    Clauses: MT-007.
    """
    return Partition.FILES in indexes_of(state.configuration.properties)


def check_unkept(state: TableState, violations: Violations) -> None:
    """No index is listed where the list of files is not.

    Clauses: MT-007.
    """
    listed = indexes_of(state.configuration.properties)
    if listed:
        violations.error("MT-007", PROPERTIES_FILE, f"{', '.join(sorted(listed))} without the list of files")


def of_indexes(own: TableState, indexes: frozenset[str]) -> TableState:
    """A metadata table without what is not used: other indexes, and what was written before an index was made anew.

    Clauses: MT-007, MT-009, IX-002.
    """
    files = {path: one for path, one in own.stored.files.items() if path.partition("/")[0] in indexes}
    groups = {id_: group for id_, group in own.groups.items() if id_[0] in indexes}
    started = {index: _started(own, index) for index in indexes}
    commits = tuple(_of_indexes(commit, started) for commit in own.commits)
    plans = {one: _planned_of(plan, indexes) for one, plan in own.contents.plans.items()}
    contents = replace(own.contents, commits=commits, plans=plans)
    return replace(own, stored=Stored(files), groups=groups, contents=contents)


def _started(own: TableState, index: str) -> str:
    """When the deltacommit that made an index completed; an older index of its name may have been there before.

    Only the making of an index brings base files by a deltacommit, or files of its own instant that no clock gave; such
    a deltacommit may name none of them, as that of an index that is filled later does. Its file may have been cleaned
    since, and its action archived. Where no clock states what came after, as before version 8, an index that was made
    twice names no files.
    """
    members = [group for id_, group in own.groups.items() if id_[0] == index]
    instants = {one.name.instant for group in members for one in group.base_files}
    instants |= {one.name.instant for group in members for one in group.log_files}
    opening = {one for one in instants if one.startswith(NO_TIME)}
    made = [
        one.instant
        for one in own.commits
        if one.instant.action == "deltacommit"
        and (one.instant.requested in opening or any(partition == index for partition, _ in one.base_files()))
    ]
    made += [one for one in own.history.instants if one.requested in opening and one.completed is not None]
    untimed = [one for one in made if one.completed is None and one.requested.startswith(NO_TIME)]
    return _NEVER if len(untimed) > 1 else max((one.at("completed") for one in made), default="")


def _planned_of(plan: object, indexes: frozenset[str]) -> object:
    if not isinstance(plan, CompactionPlan):
        return plan
    return replace(plan, operations=tuple(one for one in plan.operations if one.partition_path in indexes))


def _of_indexes(commit: Commit, started: Mapping[str, str]) -> Commit:
    time = commit.instant.at("completed")
    kept = [one for one in commit.metadata.write_stats if started.get(one.partition_path or "", _NEVER) <= time]
    return replace(commit, metadata=replace(commit.metadata, write_stats=tuple(kept)))


def check_groups(own: TableState, violations: Violations) -> None:
    """The groups of an index bear its prefix, and count from 0; of a partitioned one those of each partition.

    Clauses: IX-022, MT-017.
    """
    numbers: dict[tuple[str, str], list[int]] = {}
    for index, file_id in sorted(own.groups):
        try:
            number, prefix = file_group_of_id(file_id)
        except ValueError as error:
            violations.error("MT-017", index, str(error))
            continue
        numbers.setdefault((index, prefix), []).append(number)
    for (index, prefix), found in numbers.items():
        missing = sorted(set(range(max(found))) - set(found))
        if missing:
            violations.error("MT-017", index, f"of the groups {prefix} those of the numbers {missing} are missing")


def check_beside(state: TableState, own: TableState | None, violations: Violations) -> None:
    """The metadata table against the data table; `own`: its state, None where its properties say too little.

    Clauses: MT-001, MT-003, MT-004, MT-005, MT-007, MT-010.
    """
    if own is None:
        violations.error("MT-007", METADATA_FOLDER, "the properties list indexes, and there is no metadata table")
        return
    _check_form(state, own, violations)
    _check_actions(state, own, violations)
    _check_lists(state, violations)


def _check_form(state: TableState, own: TableState, violations: Violations) -> None:
    """Clauses: MT-001."""
    found, wanted = own.configuration, state.configuration
    if found.version != wanted.version:
        message = f"the metadata table has version {found.version}, the table {wanted.version}"
        violations.error("MT-001", METADATA_FOLDER, message)
    if found.table_type != "MERGE_ON_READ":
        violations.error("MT-001", METADATA_FOLDER, f"the metadata table is {found.table_type}")


def _check_actions(state: TableState, own: TableState, violations: Violations) -> None:
    """Each action that completed since the metadata table is kept has committed there before it completed.

    Before version 8 nothing states what completed before the metadata table was made.

    Clauses: MT-003, MT-004.
    """
    if not state.configuration.has_completion_times:
        return
    # A rollback of the table may be a rollback of the metadata table, of the same time.
    expected_actions = ("deltacommit", "rollback")
    beside = {one.requested: one for one in own.whole.instants if one.is_completed and one.action in expected_actions}
    kept_since = min((one.at("completed") for one in beside.values() if _is_of_action(one)), default=None)
    for one in state.contents.timeline.instants:
        if not one.is_completed or one.action not in _COMMITS_BESIDE or kept_since is None:
            continue
        there = beside.get(one.requested)
        if there is None and one.at("completed") > kept_since and not _undoes_nothing(state, one, beside):
            violations.error("MT-003", one.file, "the metadata table has no deltacommit of the action")
        elif there is not None and there.at("completed") > one.at("completed"):
            violations.error("MT-004", one.file, f"{there.file} completed after the action")


def _undoes_nothing(state: TableState, one: Instant, beside: Mapping[str, Instant]) -> bool:
    """Whether an action is the rollback of a write that the metadata table does not have."""
    result = state.contents.results.get(one)
    return isinstance(result, RollbackMetadata) and beside.keys().isdisjoint(result.commits_rollback)


def _is_of_action(one: Instant) -> bool:
    return not one.requested.startswith(NO_TIME)


def _check_lists(state: TableState, violations: Violations) -> None:
    """Clauses: MT-005, MT-007, MT-010."""
    configuration, timeline = state.configuration, state.contents.timeline
    metadata = open_metadata_table(state.storage, configuration, timeline)
    if isinstance(metadata, NoMetadata):
        violations.error("MT-007", METADATA_FOLDER, metadata.why)
        return
    for index in sorted(set(indexes_of(configuration.properties)) - set(metadata.partitions())):
        violations.error("MT-007", f"{METADATA_FOLDER}/{index}", "the properties list the index, and it is not whole")
    snapshot = Snapshot(configuration, timeline, state.commits, state.seen, ())
    removing = any(timeline.pending(action) for action in _REMOVING)
    broken = Violations()
    with broken.noting():
        for finding in list_differences(state.storage, snapshot, metadata):
            if not (removing and finding.message == NOT_STORED):
                _note(finding, violations)
    # What keeps the table itself from being listed has been found already.
    broken.found -= violations.found
    violations.below(METADATA_FOLDER, broken)


def check_indexes(state: TableState, executor: Executor, violations: Violations) -> None:
    """What indexes say of files and rows, which are read for it; nothing where the table cannot be read.

    Clauses: MT-005, MT-011, MT-014, IX-010, IX-020, IX-031, IX-040.
    """
    refused = Violations()
    with refused.noting():
        for finding in _but_lists(validate_metadata_table(state.storage, executor)):
            _note(finding, violations)


def _but_lists(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    """Those about entries; an index that cannot be read at all is informed where its groups are looked at."""
    return (one for one in findings if one.place and one.index not in ("", Partition.FILES))


def _note(finding: Finding, violations: Violations) -> None:
    violations.error(clause_of_index(finding.index), finding.place, f"{finding.index}: {finding.message}")
