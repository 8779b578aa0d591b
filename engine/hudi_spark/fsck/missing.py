"""What the timeline names and storage lacks, and files in storage that break a rule by being there."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hudi_format.names import LogFileName, is_partition_metafile, parse_data_file_name
from hudi_format.table.partition_metafile import metafile_form, parse_partition_metafile
from hudi_format.timeline.plans import CleanerPlan

from hudi_spark.concurrency import joined
from hudi_spark.fsck.plans import planned_files, saved_files
from hudi_spark.fsck.stored import DataFile, TableState, files_of
from hudi_spark.fsck.violations import Violations
from hudi_spark.readings import RELEASED
from hudi_spark.schema import table_schema
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Commit,
    FileGroup,
    FileSlice,
    GroupId,
    Instant,
    LogFile,
    SlicingRules,
    Timeline,
    cleaned_paths,
    commit_of,
    completion_times,
    latest_base_slice,
    latest_slice,
    newest_base_files,
    pending_compactions,
    replaced_groups,
    retried,
    undone_instants,
    undone_paths,
)
from hudi_spark.write import folders_of_actions, misplaced_heartbeats

_NAMED = "the timeline names it, storage lacks it"


def check_stored(state: TableState, violations: Violations) -> None:
    """Files that are named and missing, and files that may not be there.

    Clauses: AR-007, AR-009, CD-003, CN-001, CN-005, CN-008, DM-003, MK-005, OW-002, RD-011, RD-018, SL-002, SL-022,
    TL-022, TT-001.
    """
    _check_folders(state, violations)
    if not state.contents.timeline.instants:
        for group in state.groups.values():
            for one in files_of(group):
                violations.error("TL-022", one.path, "there are data files and no timeline")
        return
    _check_schema(state, violations)
    _check_metafiles(state, violations)
    _check_missing(state, violations)
    _check_names(state, violations)
    _check_built_upon(state, violations)
    _check_pending_cleans(state, violations)
    with violations.noting():
        _check_archived(state, violations)


def _check_folders(state: TableState, violations: Violations) -> None:
    """What actions write to can hold files: they are refused otherwise.

    Clauses: MK-005, SL-022.
    """
    for path in state.storage.list_no_folders(folders_of_actions(state.configuration)):
        violations.error("SL-022", path, "a file is in the place of a folder")
    for path in misplaced_heartbeats(state.storage):
        violations.error("MK-005", path, "a folder is in the place of a write's heartbeat")


def _check_schema(state: TableState, violations: Violations) -> None:
    """The schema that the newest commit states can be read: without it no file can.

    Clauses: DM-003.
    """
    found = Violations()
    with found.noting():
        table_schema(state.commits, state.configuration)
    for one in found.found:
        violations.error("DM-003", one.where, one.message)


def _check_metafiles(state: TableState, violations: Violations) -> None:
    """Each folder with files that commits name is marked as a partition, and the mark can be read.

    Clauses: SL-002.
    """
    marked = state.stored.partitions()
    for path in state.stored.files:
        folder, _, name = path.rpartition("/")
        if is_partition_metafile(name):
            form = metafile_form(name)
            if form is None:
                continue
            with violations.noting():
                found = parse_partition_metafile(state.storage.read(path), form, path)
                depth = folder.count("/") + 1 if folder else 0
                if found.depth != depth:
                    violations.error("SL-002", path, f"the partition is said to lie {found.depth} folders deep")
    named = {path for commit in state.commits for _, path, _ in commit.data_files()}
    for folder in sorted({path.rpartition("/")[0] for path in named if path in state.stored.files} - marked):
        violations.error("SL-002", folder, "the folder has data files of the table, and no partition metafile")


def _check_missing(state: TableState, violations: Violations) -> None:
    """Clauses: CD-003, RD-011, RD-018."""
    needed = dict(_missing(state, violations))
    deleted: frozenset[str] = frozenset()
    if needed:
        with violations.noting():
            deleted = cleaned_paths(state.storage, state.whole) | undone_paths(state.storage, state.whole)
    for path in sorted(needed.keys() - deleted):
        violations.error(needed[path], path, _of_link(Path(state.storage.base, path)) or _NAMED)


def _of_link(place: Path) -> str:
    """What to say where a symbolic link stands in a file's place."""
    if not place.is_symlink():
        return ""
    return f"the timeline names it, storage has a symbolic link to {place.readlink()}, no file of the table"


def _missing(state: TableState, violations: Violations) -> Iterator[tuple[str, str]]:
    """Paths of files that reading needs and storage lacks, each with its clause.

    Clauses: CD-003, RD-011, RD-018.
    """
    commits = (*_archived_commits(state, violations), *state.commits)
    replaced = replaced_groups(commits)
    groups = {id_: _data_only(group) for id_, group in state.groups.items() if id_ not in replaced}
    lost = _lost_logs(state, groups, replaced)
    for id_, path in newest_base_files(commits).items():
        newer = [base for base in groups.get(id_, FileGroup([], [])).base_files if state.seen.sees(base.name.instant)]
        if id_ in replaced or path in state.stored.files:
            continue
        if not any(base.name.instant > path.rpartition("_")[2].partition(".")[0] for base in newer):
            yield path, "RD-011"
    for one in _slices(state, groups, violations):
        yield from ((path, "RD-018") for path in one.log_files if path in lost)
    for commit in state.commits:
        for id_, stat in commit.stats():
            if id_ not in replaced and stat.path in state.stored.files:
                yield from ((path, "CD-003") for path in stat.cdc_stats or {} if path not in state.stored.files)


def _archived_commits(state: TableState, violations: Violations) -> Iterator[Commit]:
    """What the history keeps of the writes that have left the timeline.

    Clauses: HS-007, RD-011.
    """
    for one in _archived(state).completed_data():
        if _has_content(one):
            with violations.noting():
                yield commit_of(state.storage, one)


def _data_only(group: FileGroup) -> FileGroup:
    return FileGroup(group.base_files, [log for log in group.log_files if not log.name.cdc])


def _lost_logs(state: TableState, groups: dict[GroupId, FileGroup], replaced: frozenset[GroupId]) -> frozenset[str]:
    """Logs that commits name and storage lacks; they join their groups, so that slicing states which of them are read.

    Clauses: RD-018.
    """
    lost: set[str] = set()
    for commit in state.commits:
        for id_, path, name in commit.log_files():
            if id_ not in replaced and path not in state.stored.files and path not in lost:
                lost.add(path)
                groups.setdefault(id_, FileGroup([], [])).log_files.append(LogFile(path, name))
    return frozenset(lost)


def _slices(state: TableState, groups: Mapping[GroupId, FileGroup], violations: Violations) -> Iterator[FileSlice]:
    """The slices that a snapshot would read.

    Clauses: RD-004, RD-005, RD-006, RD-008.
    """
    pending: Mapping[GroupId, tuple[str, ...]] = {}
    with violations.noting():
        pending = pending_compactions(state.storage, state.contents.readable)
    rules = SlicingRules(
        visibility=state.seen,
        limit=None,
        named=state.named_bases(),
        completions=completion_times(state.whole),
        logs_by_completion=state.configuration.has_completion_times,
        text_order=RELEASED.log_order == "text",
    )
    base_only = state.configuration.table_type == "COPY_ON_WRITE"
    for id_, group in groups.items():
        found = (
            latest_base_slice(id_, group, rules) if base_only else latest_slice(id_, group, pending.get(id_, ()), rules)
        )
        if found is not None:
            yield found


def _check_names(state: TableState, violations: Violations) -> None:
    """What the names of files say agrees with the commits that name them; a copy-on-write table logs no rows.

    Clauses: SL-004, SL-005, SL-025, TT-001.
    """
    base_only = state.configuration.table_type == "COPY_ON_WRITE"
    for commit in state.commits:
        for stat in commit.metadata.write_stats:
            if stat.path is None:
                continue
            name = parse_data_file_name(stat.path.rpartition("/")[2])
            if name is None:
                violations.error("SL-004", stat.path, "the name is neither that of a base file nor of a log")
            elif stat.file_id is not None and name.file_id != stat.file_id:
                violations.error("SL-025", stat.path, f"the commit has it in the file group {stat.file_id}")
            elif isinstance(name, LogFileName):
                if base_only and not name.cdc:
                    violations.error("TT-001", stat.path, "a copy-on-write table has no logs of rows")
            elif name.instant != commit.instant.requested:
                violations.error("SL-004", stat.path, f"the action {commit.instant.requested} wrote it")


def _check_built_upon(state: TableState, violations: Violations) -> None:
    """No completed write builds on one that has not completed: the next write would roll that one back.

    Clauses: OW-002, OW-017.
    """
    writes = (one for one in state.contents.timeline.one_of_each_time if one.action in DATA_ACTIONS)
    pending = {one.requested: one for one in writes if not (one.is_completed or one.was_compaction)}
    for commit in state.commits:
        for requested in commit.built_on() & pending.keys():
            message = f"the write {commit.instant.requested} builds on it, and it has not completed"
            violations.error("OW-002", pending[requested].file, message)


def _check_pending_cleans(state: TableState, violations: Violations) -> None:
    """No clean waits that would remove what a snapshot, a plan or a savepoint needs.

    Clauses: CN-001, CN-005, CN-008.
    """
    cleans = state.contents.pending(CleanerPlan)
    needed = dict(_needed(state)) if cleans else {}
    for instant, plan in cleans.items():
        for partition, names in plan.files_to_be_deleted_per_partition.items():
            _check_kept(instant, (joined(partition, name.rpartition("/")[2]) for name in names), needed, violations)
        for partition, files in plan.file_paths_to_be_deleted_per_partition.items():
            names = [(one.file_path or "").rpartition("/")[2] for one in files]
            _check_kept(instant, (joined(partition, name) for name in names), needed, violations)


def _needed(state: TableState) -> Iterator[tuple[str, str]]:
    replaced = replaced_groups(state.commits)
    groups = {id_: _data_only(group) for id_, group in state.groups.items() if id_ not in replaced}
    for one in _slices(state, groups, Violations()):
        yield from ((path, "CN-001") for path in (one.base_file, *one.log_files) if path)
    yield from ((path, "CN-005") for path in planned_files(state.contents))
    yield from ((path, "CN-008") for path in saved_files(state.contents))


def _check_kept(instant: Instant, paths: Iterable[str], needed: Mapping[str, str], violations: Violations) -> None:
    for path in paths:
        if path in needed:
            violations.error(needed[path], instant.file, f"the clean is to remove {path}")


def _check_archived(state: TableState, violations: Violations) -> None:
    """What the history alone shows to be out of the table is out of storage.

    Clauses: AR-007, AR-009.
    """
    archived = _archived(state)
    files = [(id_, one) for id_, group in state.groups.items() for one in files_of(group)]
    for instant in archived.completed("replacecommit"):
        replaced = commit_of(state.storage, instant).replaced_groups() if _has_content(instant) else frozenset()
        for id_, one in files:
            if id_ in replaced and one.name.instant < instant.requested:
                violations.error("AR-007", one.path, f"{instant.requested}, which replaced the file group, is archived")
    again = retried(state.storage, archived, archived.instants)
    active = {one.requested for one in state.contents.timeline.instants}
    undone = undone_instants(state.storage, archived) - active - again
    for _, one in files:
        if one.name.instant in undone and state.seen.sees(one.name.instant) and _names_write(one, state):
            violations.error("AR-009", one.path, "the rollback of its write is archived, and the file counts again")


def _archived(state: TableState) -> Timeline:
    """The actions that the history alone holds."""
    active = {one.requested for one in state.contents.timeline.instants}
    return Timeline(tuple(one for one in state.history.instants if one.requested not in active))


def _has_content(instant: Instant) -> bool:
    return instant.archived is not None and bool(instant.archived.content)


def _names_write(one: DataFile, state: TableState) -> bool:
    """Whether the instant in a file's name is that of its write."""
    return state.configuration.has_completion_times or not isinstance(one, LogFile)
